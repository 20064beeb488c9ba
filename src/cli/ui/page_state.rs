//! A state as the page shows it, read as the commands read it.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use attache_guardrails::{Guardrails, is_guardrail};
use serde_json::value::RawValue;

use super::super::missing_parts;
use super::super::names::Names;
use super::super::state::View;
use crate::answer::graph::{Focus, Graph, graph};
use crate::engine::admission::severities::Severities;
use crate::engine::model::ids::{ObjectKey, Place};
use crate::engine::routing::Matching;

/// A state, with the guardrails and settings of the webhook for it.
pub(super) struct PageState {
    /// The objects, with their specs.
    pub(super) view: View,
    /// The guardrails in use.
    pub(super) guardrails: Guardrails,
    /// The guardrails of the configuration, as far as they are known. An object of the same name
    /// replaces one.
    pub(super) configured: Guardrails,
    /// The severities of findings.
    pub(super) severities: Severities,
    /// Whether any user may suppress refusals.
    pub(super) refusals: bool,
    /// The namespace of objects that do not name one.
    pub(super) namespace: String,
    /// The text of each object of files.
    pub(super) texts: BTreeMap<ObjectKey, Box<RawValue>>,
    /// Whether the objects come from files.
    pub(super) is_of_files: bool,
    /// Problems besides those of the view, one line each.
    pub(super) problems: Vec<String>,
    pub(super) parts: Parts,
}

/// A state with its number.
pub(super) struct Numbered {
    pub(super) generation: u64,
    pub(super) page_state: Arc<PageState>,
    /// Why the state is not newer, if it cannot be read now.
    pub(super) trouble: Option<String>,
}

/// Values that are computed when they are first needed.
#[derive(Default)]
pub(super) struct Parts {
    names: OnceLock<Names>,
    graph: OnceLock<Graph>,
}

// === impl PageState ===

impl PageState {
    /// The names of its kinds.
    pub(super) fn names(&self) -> &Names {
        self.parts.names.get_or_init(|| {
            let snapshot = &self.view.snapshot;
            let crds = snapshot.definitions().map(AsRef::as_ref);
            Names::new(crds, snapshot.known_kinds(), snapshot.rules())
                .with_policies(snapshot.used_kinds())
        })
    }

    /// Its graph.
    pub(super) fn graph(&self) -> &Graph {
        self.parts.graph.get_or_init(|| {
            let matching = Matching::new(&self.view.snapshot, &self.view.objects);
            graph(&matching, &Focus::Everything).unwrap_or_default()
        })
    }

    /// The object or section that a word names: `KIND[.group]/[NAMESPACE/]NAME[#SECTION]`. Without a namespace it is the
    /// only object of files with this name, else the one in the usual namespace.
    ///
    /// # Errors
    /// If no kind has this name, or the name is missing.
    pub(super) fn place(&self, word: &str) -> Result<Place, String> {
        let (kind, path) = word
            .split_once('/')
            .ok_or_else(|| format!("{word:?}: write KIND/NAMESPACE/NAME, or KIND/NAME"))?;
        let (path, section) = match path.split_once('#') {
            Some((path, section)) => (path, Some(section)),
            None => (path, None),
        };
        let (namespace, name) = match path.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, path),
        };
        let name = match section {
            Some(section) => format!("{name}#{section}"),
            None => name.to_owned(),
        };
        let usual = namespace.unwrap_or(&self.namespace);
        let mut place = self.names().place(kind, &name, usual)?;
        let wanted = &place.object;
        if namespace.is_some() && wanted.namespace.is_empty() {
            return Err(format!(
                "{kind} is cluster-scoped: write {kind}/{}",
                wanted.name
            ));
        }
        if namespace.is_none() && self.is_of_files {
            let all = self.view.objects.iter().map(|object| &object.key);
            let mut named = all.filter(|key| key.gk == wanted.gk && key.name == wanted.name);
            if let (Some(one), None) = (named.next(), named.next()) {
                place.object = one.clone();
            }
        }
        Ok(place)
    }

    /// The text of each Guardrail object of files.
    pub(super) fn guardrail_texts(&self) -> impl Iterator<Item = Box<RawValue>> {
        let texts = self.texts.iter();
        let guardrails = texts.filter(|(key, _)| is_guardrail(&key.gk));
        guardrails.map(|(_, text)| text.clone())
    }

    /// Everything that the page cannot know, one line each.
    pub(super) fn missing_lines(&self) -> Vec<String> {
        let view = &self.view;
        let mut lines = view.missing_lines();
        if self.is_of_files {
            lines.extend(missing_parts::undefined(
                &view.snapshot,
                view.origins.keys(),
            ));
        }
        lines.extend(self.problems.iter().cloned());
        lines
    }
}
