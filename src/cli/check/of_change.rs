//! A change that is not made, as the input of a check.

use std::collections::BTreeSet;

use attache_guardrails::Guardrails;
use serde_json::value::RawValue;

use super::super::state::View;
use super::super::written_guardrails::Applied;
use super::input::Input;
use super::rerouted_requests;
use crate::cache::directory::Loaded;
use crate::cache::manifest::Manifests;
use crate::engine::admission::severities::Severities;
use crate::engine::model::ids::ObjectKey;
use crate::engine::state::snapshot::Snapshot;

/// A change to a state, and the rules by which it is judged.
pub(in super::super) struct ProposedChange<'a> {
    /// The state without the change.
    pub(in super::super) view: &'a View,
    /// The severities of findings.
    pub(in super::super) severities: &'a Severities,
    /// Whether any user may suppress refusals.
    pub(in super::super) refusals: bool,
    /// The guardrails in use.
    pub(in super::super) guardrails: &'a Guardrails,
    /// Those that are written as objects, as far as they are known.
    pub(in super::super) stored: &'a [Box<RawValue>],
    /// The objects of the change.
    pub(in super::super) what: ChangedObjects<'a>,
}

/// The objects of a change.
pub(in super::super) enum ChangedObjects<'a> {
    /// These are applied.
    Applied {
        /// The objects, as they are written.
        manifests: Manifests,
        /// The text that they were read from.
        text: &'a str,
        /// The state with them.
        loaded: Box<Loaded>,
    },
    /// These are deleted.
    Deleted {
        /// The objects.
        objects: BTreeSet<ObjectKey>,
        /// The state without them.
        after: Box<Snapshot>,
    },
}

// === impl Input ===

impl Input {
    /// A change as the input of a check.
    pub(super) fn of_change(change: ProposedChange<'_>) -> Self {
        let ProposedChange {
            view,
            severities,
            refusals,
            guardrails,
            stored,
            what,
        } = change;
        let common = Self {
            severities: severities.clone(),
            refusals,
            missing: view.missing.clone(),
            guardrails: guardrails.clone(),
            ..Self::default()
        };
        match what {
            ChangedObjects::Applied {
                mut manifests,
                text,
                loaded,
            } => {
                let skipped = std::mem::take(&mut manifests.skipped);
                let guarded = common.guarded(&manifests);
                let applied = Applied::from_manifests(guardrails, &manifests);
                Self {
                    skipped,
                    on_applied_guardrails: applied.findings(stored, &loaded.snapshot),
                    stdin: Some(text.to_owned()),
                    ..guarded.of_files(*loaded, Some(view))
                }
            }
            ChangedObjects::Deleted { objects, after } => Self {
                before: Some(view.snapshot.clone()),
                rerouted: rerouted_requests::of_deleted(view, &after, &objects),
                after: *after,
                objects,
                ..common
            },
        }
    }
}
