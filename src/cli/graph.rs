//! `attache graph`: the topology with its policies, as a picture or as data.

use clap::ValueEnum;
use clap_complete::engine::ArgValueCompleter;

use super::render::graph::Picture;
use super::render::graph::dot::dot;
use super::render::graph::html::html;
use super::render::graph::mermaid::{MOST_EDGES, mermaid};
use super::render::graph::svg::{Drawing, FITTING};
use super::render::graph::tree::tree;
use super::render::style::Style;
use super::state::{Opened, Scope, State};
use super::{Failure, complete, find, names, print};
use crate::answer;
use crate::answer::graph::{Focus, Graph, details};
use crate::cache::lists::ReadScope;
use crate::engine::model::printable::escape;
use crate::engine::routing::Matching;
use crate::engine::state::snapshot::Snapshot;

/// The limit of nodes for a readable picture.
const READABLE: usize = 400;

/// The help of -n.
const NAMESPACE: &str = "The namespace of the object; without an object, show only this namespace, and what \
    is above and below its objects. Also the namespace of manifests that do not set one. \
    Defaults to the namespace of the context; for files, to all namespaces, and \
    `default` for manifests that do not set one";

/// Arguments of `attache graph`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("namespace", |argument| argument.help(NAMESPACE)))]
pub struct Args {
    /// Show only this object and what is above and below it: `gateway/edge`, `httproute/cart#checkout`,
    /// `retrypolicy/slow`.
    #[arg(value_name = "KIND/NAME[#SECTION]", num_args = 0..=2, add = ArgValueCompleter::new(complete::objects))]
    object: Vec<String>,
    #[command(flatten)]
    scope: Scope,
    #[command(flatten)]
    state: State,
    /// The number of levels to show above and below the object.
    #[arg(long, value_name = "STEPS")]
    depth: Option<usize>,
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", default_value = "tree")]
    output: Output,
    /// Draw every object with `-o svg`. Without it, a picture of more than 24 objects that is wider or taller than 1600
    /// pixels shows Gateways, and the other objects as counts by namespace.
    #[arg(long)]
    full: bool,
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A tree for the terminal.
    Tree,
    /// Graphviz DOT.
    Dot,
    /// A Mermaid flowchart for Markdown.
    Mermaid,
    /// An SVG picture.
    Svg,
    /// An interactive HTML page: pan, zoom, search, effective policies.
    Html,
    /// JSON.
    Json,
}

/// Runs the command.
///
/// # Errors
/// If the directory, cluster or object does not exist, or the configuration is wrong.
pub fn run(args: &Args) -> Result<(), Failure> {
    let opened = args.state.open(&args.scope)?;
    let focus = args.focus(&opened)?;
    // The graph shows targets that a policy is not attached to, so every object must be read.
    let view = opened.view(&ReadScope::Everything);
    view.say_what_is_missing();
    view.say_what_is_undefined();
    let matching = Matching::new(&view.snapshot, &view.objects);
    let graph =
        answer::graph::graph(&matching, &focus).ok_or_else(|| nothing(&view.snapshot, &focus))?;
    if let (true, Focus::Namespace(namespace)) = (graph.nodes.is_empty(), &focus) {
        eprintln!(
            "attache: there is nothing to show in namespace {}",
            escape(namespace)
        );
    }
    if args.full && args.output != Output::Svg {
        return Err("--full: only -o svg leaves objects out".into());
    }
    let picture = Picture::new(&graph);
    let text = match args.output {
        Output::Json => answer::json(&graph)?,
        Output::Dot => dot(&picture),
        Output::Mermaid => mermaid(&picture),
        Output::Svg => {
            let drawing = Drawing::new(&picture, args.full);
            if drawing.is_by_namespace {
                eprintln!(
                    "attache: the objects do not fit {FITTING} by {FITTING} pixels and are counted by namespace: --full draws all of \
                     them, attache graph KIND/NAME one object and what is around it"
                );
            }
            drawing.svg()
        }
        Output::Html => html(
            &graph,
            &details(&view.snapshot, &view.objects, &graph),
            &args.state.again(),
        )?,
        Output::Tree => tree(&picture, Style::of_stdout()),
    };
    if let Some(note) = args.note(&graph) {
        eprintln!(
            "attache: {note}: attache graph KIND/NAME shows one object and what is around it"
        );
    }
    print(&text)
}

// === impl Args ===

impl Args {
    /// A note that the picture is too large to be readable.
    fn note(&self, graph: &Graph) -> Option<String> {
        let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
        match self.output {
            Output::Svg if self.full && nodes > READABLE => Some(format!(
                "{nodes} objects, sections and policies in one picture"
            )),
            Output::Mermaid if edges > MOST_EDGES => Some(format!(
                "{edges} edges, and Mermaid draws {MOST_EDGES} unless maxEdges says more"
            )),
            _ => None,
        }
    }

    fn focus(&self, opened: &Opened) -> Result<Focus, Failure> {
        if self.object.is_empty() {
            if self.depth.is_some() {
                return Err("--depth: name an object: attache graph KIND/NAME --depth 1".into());
            }
            let within = opened.within();
            return Ok(within.map_or(Focus::Everything, |name| Focus::Namespace(name.into())));
        }
        let (kind, Some(name)) = names::split(&self.object)? else {
            return Err("a name is missing: write KIND/NAME".into());
        };
        Ok(Focus::Place {
            place: opened.place(kind, name)?,
            depth: self.depth,
        })
    }
}

/// The error message for an empty graph.
fn nothing(snapshot: &Snapshot, focus: &Focus) -> String {
    let Focus::Place { place, .. } = focus else {
        return "there is nothing to show".to_owned();
    };
    let found = find::place(snapshot, place);
    found.map_or_else(|why| why, |place| format!("{place} does not exist"))
}
