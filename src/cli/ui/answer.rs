//! Answers to the questions of the page, by the code behind the commands.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::super::describe::describe;
use super::super::explain::Described;
use super::super::render::graph::html::shown;
use super::super::render::graph::states::{StateAppearance, looks};
use super::about::About;
use super::change::change;
use super::json::{document, value, written};
use super::page_state::{Numbered, PageState};
use super::teams::with_teams;
use super::text;
use crate::answer::graph::{Graph, details};
use crate::answer::guardrails::guardrails;
use crate::answer::kinds::kinds;
use crate::answer::policies::{PolicyQuery, Sort, policies};
use crate::engine::effective::Resolver;
use crate::engine::model::ids::GroupKind;
use crate::engine::model::object::Crd;
use crate::engine::model::selector::Selector;
use crate::engine::routing::Matching;
use crate::today::today;
use crate::ui::{ExplainQuery, Question, Refusal};

/// The answer to `state`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StateAnswer<'a> {
    mode: &'static str,
    source: &'a str,
    user: Option<&'a str>,
    version: &'static str,
    generation: u64,
    problems: Vec<String>,
    command_arguments: &'a [String],
    /// The style in which states are drawn.
    looks: Vec<StateAppearance>,
}

/// The answer as JSON text. `text` is that of the object in question.
///
/// # Errors
/// If the question names something that does not exist, or a change cannot be read.
pub(super) fn answer(
    about: &About,
    newest: &Numbered,
    question: &Question,
    text: Option<Result<String, String>>,
) -> Result<String, Refusal> {
    let page_state = &*newest.page_state;
    let snapshot = &page_state.view.snapshot;
    match question {
        Question::State { user } => written(&StateAnswer::new(about, newest, user.as_deref())),
        Question::Graph => written(&shown(page_state.graph(), &about.arguments)),
        Question::Details(id) => written(&about_node(page_state, id)?),
        Question::Policies => {
            let asked = PolicyQuery {
                kind: None,
                namespace: None,
                selector: Selector::default(),
                acting_on: None,
                states: BTreeSet::new(),
                sort: Sort::Name,
                undated: &page_state.view.undated,
            };
            document(&policies(snapshot, &asked))
        }
        Question::Object(name) => written(&object(page_state, name, text)?),
        Question::Explain(asked) => explain(page_state, asked),
        Question::Change { text, delete } => written(&change(page_state, text, *delete)?),
        Question::Guardrails => {
            let report = guardrails(snapshot, &page_state.guardrails, None, today());
            written(&with_teams(snapshot, &report)?)
        }
        Question::Kinds => {
            let crds: Vec<Arc<Crd>> = snapshot.definitions().cloned().collect();
            let used: Vec<GroupKind> = snapshot.used_kinds().cloned().collect();
            document(&kinds(&page_state.view.rules, &crds, &used, false))
        }
        Question::History => Err(Refusal::fault("the history is not part of a state")),
    }
}

/// The details of a node.
fn about_node(page_state: &PageState, id: &str) -> Result<impl Serialize + use<>, Refusal> {
    let view = &page_state.view;
    let mut nodes = page_state.graph().nodes.iter();
    let node = nodes.find(|node| *node.id == *id);
    let node = node.ok_or_else(|| Refusal::absent(format!("the graph has no {id}")))?;
    let alone = Graph {
        nodes: vec![node.clone()],
        edges: Vec::new(),
    };
    let node_details = details(&view.snapshot, &view.objects, &alone);
    Ok(node_details.nodes.into_iter().next().unwrap_or_default())
}

/// One object, with its text.
fn object(
    page_state: &PageState,
    name: &str,
    text: Option<Result<String, String>>,
) -> Result<Value, Refusal> {
    let place = page_state.place(name).map_err(Refusal::absent)?;
    let mut resolver = Resolver::new(&page_state.view.snapshot);
    let description = describe(&mut resolver, &page_state.view, &place);
    let description = description.map_err(|why| Refusal::absent(why.to_string()))?;
    let mut value = value(&description)?;
    let (yaml, trouble) = match text {
        Some(Ok(json)) => (text::of_json(&json).ok(), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    if let Some(object) = value.as_object_mut() {
        object.insert("yaml".to_owned(), json!(yaml));
        if let Some(why) = trouble {
            object.insert("yamlProblem".to_owned(), json!(why));
        }
    }
    Ok(value)
}

fn explain(page_state: &PageState, asked: &ExplainQuery) -> Result<String, Refusal> {
    let (method, headers) = (asked.method.clone(), asked.headers.clone());
    let described = Described::of_url(asked.url.clone(), method, headers);
    let wrong = |why: super::Failure| Refusal::wrong(why.to_string());
    let request = described.read().map_err(wrong)?;
    let matching = Matching::new(&page_state.view.snapshot, &page_state.view.objects);
    let explanation = described.explain(&matching, &request, &page_state.namespace, None);
    document(&explanation.map_err(wrong)?)
}

// === impl StateAnswer ===

impl<'a> StateAnswer<'a> {
    fn new(about: &'a About, newest: &Numbered, user: Option<&'a str>) -> Self {
        let mut problems = newest.page_state.missing_lines();
        problems.extend(newest.trouble.clone());
        Self {
            mode: about.mode,
            source: &about.source,
            user: user.or(about.user.as_deref()),
            version: env!("CARGO_PKG_VERSION"),
            generation: newest.generation,
            problems,
            command_arguments: &about.arguments,
            looks: looks(),
        }
    }
}
