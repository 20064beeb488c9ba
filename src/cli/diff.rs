//! `attache diff`: what is in force in one state and not in another: directories, git revisions, clusters.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use super::output::{self, Output};
use super::render::difference::{markdown, text};
use super::render::phrases::names_of;
use super::state::Scope;
use super::time::timeout;
use super::{CommandResult, Failure, print};
use crate::answer;
use crate::answer::difference::{Limits, NotCompared, Side, difference};
use crate::answer::named::{KindName, Named};
use crate::cache::directory::Links;
use crate::engine::admission::verdict::escape;
use crate::engine::model::wording::plural;

mod definitions;
mod pair;
mod read;
mod source;

use read::{Read, read};
use source::Source;

/// The help of -n.
const NAMESPACE: &str = "Show only differences at targets in this namespace; also the namespace of manifests \
    that do not set one, `default` by default";

/// Arguments of `attache diff`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("namespace", |argument| argument.help(NAMESPACE)))]
pub struct Args {
    /// The state before: a directory, a file, or - for standard input; a revision of git, REV or REV:PATH; or cluster,
    /// or cluster:CONTEXT. REV..REV and REV...REV are two revisions.
    #[arg(value_name = "A")]
    a: String,
    /// The state after. With two revisions as A, a path in both.
    #[arg(value_name = "B")]
    b: Option<String>,
    /// Compare an object or section of A with another one of B; can be repeated. A Namespace includes the objects in it.
    #[arg(long, value_name = "KIND/[NAMESPACE/]NAME=KIND/[NAMESPACE/]NAME")]
    map: Vec<String>,
    #[command(flatten)]
    scope: Scope,
    /// Exit with code 1 if there is a difference.
    #[arg(long)]
    exit_code: bool,
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = output::OF_CHANGES)]
    output: Output,
    /// Show long values in full.
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    access: Access,
}

/// The options for reading the states.
#[derive(Clone, Debug, clap::Args)]
struct Access {
    /// The kubeconfig file; by default $KUBECONFIG or ~/.kube/config.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Impersonate this user.
    #[arg(long = "as", value_name = "USER")]
    user: Option<String>,
    /// Impersonate this group; can be repeated.
    #[arg(long = "as-group", value_name = "GROUP", requires = "user")]
    groups: Vec<String>,
    /// Timeout of each request to the API server: 10s, 1m, or 0 for none.
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    request_timeout: Option<Duration>,
    /// The configuration file for both states; by default attache.yaml in the directory of each state, or in that of
    /// the other.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Also follow symbolic links that lead out of a directory.
    #[arg(long)]
    follow_links: bool,
}

// === impl Args ===

impl Args {
    /// The symbolic links in directories that are followed.
    fn links(&self) -> Links {
        if self.access.follow_links {
            Links::All
        } else {
            Links::Within
        }
    }
}

/// Runs the command.
///
/// # Errors
/// If a state cannot be read as a whole, or the names of --map do not fit.
pub fn run(args: &Args) -> Result<CommandResult, Failure> {
    let [one, other] = source::sources(&args.a, args.b.as_deref())?;
    if let (Source::Stdin, Source::Stdin) = (&one, &other) {
        return Err("standard input can be read only once: use - once".into());
    }
    let [a, b] = read([one, other], args)?;
    if args.exit_code {
        defined_once([&a, &b])?;
    }
    read::say_what_is_missing([&a, &b]);
    let limits = Limits {
        not_compared: not_compared([&a, &b])?,
        namespace: args.scope.namespace.clone(),
    };
    if let Some(namespace) = &args.scope.namespace
        && [&a, &b].iter().all(|side| !side.has_namespace(namespace))
    {
        let line = format!(
            "neither state has an object in namespace {}",
            escape(namespace)
        );
        if args.exit_code {
            return Err(line.into());
        }
        eprintln!("attache: {line}");
    }
    let pairs = pair::pairs(&args.map, [&a, &b])?;
    let renames = pair::renames(&pairs, [&a, &b])?;
    let matching = [&a, &b].map(Read::matching);
    let [matching_a, matching_b] = &matching;
    let [a, b] = [(&a, matching_a), (&b, matching_b)].map(|(read, matching)| Side {
        name: &read.name,
        matching,
    });
    let answer = difference(a, b, &pairs, &renames, limits);
    let style = args.output.style().full(args.full);
    let shown = match args.output.program(&answer::document(&answer))? {
        Some(text) => text,
        None => match args.output {
            Output::Name => {
                let objects = answer.changes.iter().map(|change| &change.object.0.object);
                let objects = objects.map(Named::from);
                let only = answer.only_in_a.iter().chain(&answer.only_in_b).cloned();
                names_of(&objects.chain(only).collect::<BTreeSet<Named>>())
            }
            Output::Markdown => markdown(&answer),
            _ => text(&answer, style),
        },
    };
    print(&shown)?;
    Ok(if args.exit_code && !answer.is_empty() {
        CommandResult::Findings
    } else {
        CommandResult::Clean
    })
}

/// Checks that no state has an object twice with different content: an exit code would be about one of them only.
///
/// # Errors
/// Names one of them.
fn defined_once(states: [&Read; 2]) -> Result<(), Failure> {
    for read in states {
        let mut duplicates = read.view.duplicates.iter();
        if let Some(double) = duplicates.find(|double| double.differs) {
            return Err(format!(
                "--exit-code: {} defines {} more than once, with different content: name a directory that defines each object once",
                escape(&read.name),
                escape(&double.key.to_string())
            )
            .into());
        }
    }
    Ok(())
}

/// The policy kinds that one of the states does not show.
///
/// # Errors
/// If one state does not show objects of another kind and the other does: then every comparison may be wrong.
fn not_compared([a, b]: [&Read; 2]) -> Result<Vec<NotCompared>, Failure> {
    let mut not_compared = BTreeSet::new();
    let (hidden_in_a, hidden_in_b) = (a.hidden(b), b.hidden(a));
    for (read, own, others) in [
        (a, &hidden_in_a, &hidden_in_b),
        (b, &hidden_in_b, &hidden_in_a),
    ] {
        for (gk, why) in own {
            if a.is_policy(gk) || b.is_policy(gk) {
                not_compared.insert(NotCompared {
                    policy_kind: KindName::from(gk),
                    state: read.name.clone(),
                    reason: why.clone(),
                });
            } else if !others.contains_key(gk) {
                let name = escape(&read.name);
                return Err(format!(
                    "{name}: the {} cannot all be read: {}. Without them, the states cannot be compared",
                    escape(&plural(&gk.to_string())),
                    escape(why)
                )
                .into());
            }
        }
    }
    Ok(not_compared.into_iter().collect())
}
