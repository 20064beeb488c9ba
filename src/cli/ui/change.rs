//! The effect of a change, without writing it: what requests lose or gain, the findings on it, and
//! the guardrails before and after.

use std::collections::BTreeSet;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::super::check::{ChangedObjects, ProposedChange, of_change};
use super::super::impact::{changed, deleted};
use super::super::written_guardrails::{among, names, usable};
use super::json::value;
use super::page_state::PageState;
use crate::answer::guardrails::guardrails;
use crate::answer::impact::broken;
use crate::cache::files::STDIN;
use crate::cache::manifest::Manifests;
use crate::engine::routing::RouteVersions;
use crate::today::today;
use crate::ui::Refusal;

/// The effect of applying the objects in a text, or of deleting them.
///
/// # Errors
/// If the text has no objects, or not all of it can be read.
pub(super) fn change(page_state: &PageState, text: &str, delete: bool) -> Result<Value, Refusal> {
    let manifests = Manifests::of_long(STDIN, text);
    if manifests.objects.is_empty() && manifests.problems.is_empty() {
        return Err(Refusal::unusable(
            "there are no objects in the change: paste Kubernetes manifests, as YAML or JSON",
        ));
    }
    let (view, namespace) = (&page_state.view, &*page_state.namespace);
    let effect = if delete { deleted } else { changed };
    let loaded = view.with(manifests.clone(), namespace);
    let result = effect(view, &loaded, BTreeSet::new());
    let (result, after) = result.map_err(|why| unusable(&why.to_string()))?;
    let versions = RouteVersions::of_change(&view.objects, &loaded.objects);
    let stated = usable(&page_state.guardrails, among(&manifests));
    let (before, known) = (&view.snapshot, &page_state.guardrails);
    // A guardrail of the configuration stays if an object of its name is deleted.
    let removed: BTreeSet<String> = if delete {
        names(&manifests).collect()
    } else {
        BTreeSet::new()
    };
    let (known_after, what) = if delete {
        let objects = result.deleted.iter();
        let what = ChangedObjects::Deleted {
            objects: objects.map(|named| named.0.object.clone()).collect(),
            after: Box::new(after.clone()),
        };
        (known, what)
    } else {
        let what = ChangedObjects::Applied {
            manifests,
            text,
            loaded: Box::new(loaded),
        };
        (&stated.usable, what)
    };
    let stored: Vec<Box<RawValue>> = page_state.guardrail_texts().collect();
    let report = of_change(ProposedChange {
        stored: &stored,
        view,
        severities: &page_state.severities,
        refusals: page_state.refusals,
        guardrails: known,
        what,
    });
    let on_guardrails = broken(known, [before, &after], &result, &versions, today());
    let result = result.with_guardrails(&on_guardrails);
    let judged = |snapshot, known| guardrails(snapshot, known, None, today());
    let mut judged_after = judged(&after, known_after);
    if !removed.is_empty() {
        let mut left = judged(&after, &page_state.configured).guardrails;
        left.retain(|guarded| removed.contains(&guarded.name));
        judged_after.replace(&removed, left);
    }
    Ok(json!({
        "impact": value(&result)?,
        "findings": value(&report)?,
        "guardrails": {"before": value(&judged(before, known))?, "after": value(&judged_after)?},
    }))
}

/// The messages of a command are lines that begin with its name.
fn unusable(why: &str) -> Refusal {
    Refusal::unusable(why.replace("\nattache: ", "\n"))
}
