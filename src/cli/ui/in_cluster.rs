//! The sessions of the page that `attache serve --ui` serves: the same as those of `attache ui`.

use std::collections::BTreeMap;
use std::sync::Arc;

use attache_guardrails::Guardrails;

use super::super::state::View;
use super::about::About;
use super::page_state::{PageState, Parts};
use super::session::{Session, Work};
use crate::serve::{Page, Readable, StartSession};

/// The namespace of objects of a change that do not name one.
const NAMESPACE: &str = "default";

/// Makes sessions; together they compute no more than one does.
pub(in super::super) fn in_cluster() -> StartSession {
    let work = Arc::new(Work::default());
    Arc::new(move |state, texts| {
        let about = About {
            mode: "cluster",
            source: "the cluster of this page".to_owned(),
            user: None,
            arguments: Vec::new(),
        };
        let page_state = Arc::new(PageState::from_readable(state));
        Arc::new(Session::new(
            about,
            page_state,
            Some(texts),
            Arc::clone(&work),
        ))
    })
}

impl Page for Session {
    fn show(&self, state: Readable) {
        Session::show(self, &Arc::new(PageState::from_readable(state)));
    }
}

// === impl PageState ===

impl PageState {
    /// The part of the state that a reader may see.
    fn from_readable(state: Readable) -> Self {
        Self {
            view: View::listed(state.listed, &state.rules),
            guardrails: state.guardrails,
            configured: Guardrails::default(),
            severities: state.settings.severities.clone(),
            refusals: state.settings.suppressors.is_anybody(),
            namespace: NAMESPACE.to_owned(),
            texts: BTreeMap::new(),
            is_of_files: false,
            problems: Vec::new(),
            parts: Parts::default(),
        }
    }
}
