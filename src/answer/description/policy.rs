//! `attache describe` for a policy: its outcome on each target.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{PolicyDescription, PolicyOnTarget, conditions};
use crate::answer::controller_status::FromStatus;
use crate::answer::impact::{Change, ChangedObjects, impact};
use crate::answer::named::{Named, named};
use crate::answer::policies::reason::{of_target, reason};
use crate::answer::state::{AttachmentState, PolicyState};
use crate::answer::strategy::{as_written, strategy};
use crate::engine::effective::Resolver;
use crate::engine::model::wording::field;
use crate::engine::policy::{Policy, StanzaPlace};
use crate::engine::state::snapshot::{self as engine, Snapshot};
use crate::engine::status::conditions::{Accepted, TargetStatus, status};

/// Describes a policy.
pub fn policy(resolver: &mut Resolver<'_>, policy: &Policy) -> PolicyDescription {
    let status = status(resolver, policy);
    let reason = reason(resolver.snapshot(), policy, &status);
    let (conditions, ancestors) =
        conditions::of_policy(resolver, policy, &status, reason.as_deref());
    PolicyDescription {
        object: Named::from(policy.key()),
        class: policy.profile.class.value,
        strategy: strategy(policy),
        written_strategy: as_written(policy),
        state: PolicyState::over_targets(resolver.snapshot(), policy, &status),
        reason,
        by: named(&status.by()),
        caveats: policy
            .caveats(resolver.snapshot())
            .map(str::to_owned)
            .collect(),
        conditions,
        ancestors,
        settings: settings(policy),
        status: FromStatus::with(&status.controllers, status.disagreement()),
        targets: status
            .targets
            .iter()
            .map(|on| on_target(resolver.snapshot(), policy, on))
            .collect(),
        changes: changes(resolver.snapshot(), policy, &status.accepted),
    }
}

/// The changes that the policy makes: the state without it against the state with it.
fn changes(snapshot: &Snapshot, policy: &Policy, accepted: &Accepted) -> Vec<Change> {
    let without = snapshot.with_change(engine::Change::Deleted(policy.key().clone()));
    let objects = ChangedObjects {
        applied: [policy.key().clone()].into(),
        ..ChangedObjects::default()
    };
    let mut changes = impact(&without, snapshot, &objects).changes;
    if *accepted != Accepted::Accepted {
        // A policy that is not accepted can still keep others out. Changes without any settings are left out.
        let sets_something = |side: &Option<Value>| {
            let settings = side.as_ref().and_then(Value::as_object);
            settings.is_some_and(|settings| !settings.is_empty())
        };
        changes.retain(|change| sets_something(&change.before) || sets_something(&change.after));
    }
    changes
}

/// The policy's settings, by the stanza that holds them.
fn settings(policy: &Policy) -> BTreeMap<String, Value> {
    let names = policy.profile.strategies.value.stanzas;
    let stanzas = policy.strategies.iter().flatten();
    let by_stanza = stanzas.map(|stanza| {
        let name = match (stanza.place, names) {
            (StanzaPlace::Defaults, Some(names)) => names.defaults,
            (StanzaPlace::Overrides, Some(names)) => names.overrides,
            _ => "spec",
        };
        (name.to_owned(), policy.settings(*stanza))
    });
    by_stanza.collect()
}

fn on_target(snapshot: &Snapshot, policy: &Policy, status: &TargetStatus) -> PolicyOnTarget {
    let mut by = named(status.overridden_by.keys());
    if let Accepted::Conflicted(with) = &status.accepted {
        by.push(Named::from(with));
    }
    let lost = status.overridden_settings.by_setting().into_iter();
    PolicyOnTarget {
        target: Named::from(&status.target),
        accepted: AttachmentState::from(&status.accepted),
        state: PolicyState::from_acceptance(&status.accepted, status.state.as_ref())
            .unwrap_or(PolicyState::NoEffect),
        reason: of_target(snapshot, policy, status),
        by,
        lost: lost.map(|(path, by)| (field(path), named(by))).collect(),
        overridden_on: status.overridden_on().iter().map(Named::from).collect(),
        merged_with: named(&status.merged_with),
        acts_on: status
            .effective_targets
            .places()
            .into_iter()
            .map(Named::from)
            .collect(),
    }
}
