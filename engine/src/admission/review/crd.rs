//! Findings on the CRD of a policy kind: where it departs from the pattern (GEP-713).
//!
//! [`findings`] skips kinds with a built-in profile: their facts are known, and the people who install them cannot change
//! them.

use std::sync::Arc;

use super::fuel::too_much;
use super::one_change::effective_changes_of;
use crate::admission::finding::{Code, Finding};
use crate::effective::Resolver;
use crate::kinds::profile::{Class, Departure, MOST_TARGETS, StanzaNames};
use crate::model::ids::ObjectKey;
use crate::model::object::{Crd, Node, Object, POLICY_LABEL};
use crate::state::deleted_with::MOST_DELETED;
use crate::state::snapshot::{Change, Snapshot};

/// Findings on a CRD; empty if it does not define a policy kind.
pub(super) fn findings(snapshot: &Snapshot, key: &ObjectKey, crd: &Crd) -> Vec<Finding> {
    if !snapshot.is_new_policy_kind(crd) {
        return Vec::new();
    }
    let mut findings: Vec<Finding> = label(key, crd).into_iter().collect();
    if !crd.gk.kind.ends_with("Policy") {
        let message = "the name of a policy kind should end in Policy";
        let name = Finding::new(Code::CrdName, key, message).at("spec.names.kind");
        findings.push(name.about("name"));
    }
    let departures = crd.facts.departures.iter();
    findings.extend(departures.map(|departure| departs(key, crd, departure)));
    findings
}

/// The effects of a changed CRD on policies of its kind: the API server drops the settings that the schema no longer has.
pub(super) fn effects(snapshot: &Snapshot, new: &Object, old: Option<Object>) -> Vec<Finding> {
    let (Node::Crd(crd), Some(old)) = (&new.node, old) else {
        return Vec::new();
    };
    if old.node == new.node {
        return Vec::new();
    }
    let policies = snapshot.objects(&crd.gk).map(|policy| policy.key.clone());
    let mut changed: Vec<ObjectKey> = policies.take(MOST_DELETED + 1).collect();
    if changed.is_empty() {
        return Vec::new();
    }
    if changed.len() > MOST_DELETED {
        return vec![too_much(&new.key, "the effect of this change")];
    }
    changed.sort();
    changed.insert(0, new.key.clone());
    let before = snapshot.with_change(Change::Applied(Arc::new(old)));
    let after = before.with_change(Change::Applied(Arc::new(new.clone())));
    let mut resolver_after = Resolver::bounded(&after);
    effective_changes_of(&before, &mut resolver_after, &new.key, &changed, |_| true)
}

/// The finding on the label: it is missing, or says direct although the schema has strategies or targets at several
/// levels.
fn label(key: &ObjectKey, crd: &Crd) -> Option<Finding> {
    let at = format!("metadata.labels[{POLICY_LABEL}]");
    let Some(label) = crd.policy_label.as_deref() else {
        let message = "the CRD has no label gateway.networking.k8s.io/policy; add it with the value Direct or Inherited";
        return Some(
            Finding::new(Code::CrdLabel, key, message)
                .at(at)
                .about("label"),
        );
    };
    if crd.class() != Some(Class::Direct) {
        return None;
    }
    let strategies = &crd.facts.strategies;
    let field = match (strategies.stanzas, &strategies.path) {
        (Some(stanzas), _) => Some(stanzas.overrides),
        (None, path) => path.as_deref(),
    };
    let message = if let Some(field) = field {
        format!(
            "the label says {label:?}, but direct policies do not merge and spec.{field} is a merge strategy; write Inherited"
        )
    } else {
        let (one, other) = crd.facts.levels()?;
        format!(
            "the label says {label:?}, but targets are {one} and {other}, and a policy on one of them also applies to objects below it; write Inherited"
        )
    };
    let finding = Finding::new(Code::CrdLabelMismatch, key, message);
    Some(finding.at(at).about("label"))
}

fn departs(key: &ObjectKey, crd: &Crd, departure: &Departure) -> Finding {
    let (code, message) = code_and_message(departure);
    Finding::new(code, key, message)
        .at(format!("spec.versions[{}]", crd.stored))
        .about(format!("{departure:?}"))
}

/// The code and message of a departure: the pattern, and the remedy.
fn code_and_message(departure: &Departure) -> (Code, String) {
    match departure {
        Departure::NoStatus => (
            Code::CrdStatus,
            "the status does not say whether a policy was accepted; write status.ancestors, as PolicyStatus of Gateway API".to_owned(),
        ),
        Departure::NoSubresource => (
            Code::CrdStatus,
            "status is not a subresource, so users who may write the spec may write the status too; write subresources: {status: {}}".to_owned(),
        ),
        Departure::Conditions(path) => (
            Code::CrdConditions,
            format!("{path} is not a list keyed by type; write x-kubernetes-list-type: map with x-kubernetes-list-map-keys: [type]"),
        ),
        Departure::NoTargets => (
            Code::CrdTargetRefs,
            "spec names no targets; write targetRefs, a list with group, kind and name".to_owned(),
        ),
        Departure::EntryLacks(field, part) => (
            Code::CrdTargetRefs,
            format!("spec.{field} has no {part}; a target is group, kind and name"),
        ),
        Departure::Limit(field, None) => (
            Code::CrdTargetLimits,
            format!("spec.{field} has no limit; write maxItems: {MOST_TARGETS}"),
        ),
        Departure::Limit(field, Some(most)) => (
            Code::CrdTargetLimits,
            format!("spec.{field} takes {most}; the pattern takes {MOST_TARGETS} at most"),
        ),
        Departure::BothForms => (
            Code::CrdBothForms,
            "a policy can set both spec.targetRef and spec.targetRefs; add the rule !(has(self.targetRef) && has(self.targetRefs))".to_owned(),
        ),
        Departure::NoNames(path) => (
            Code::CrdStrategy,
            format!("spec.{path} takes any name; write its strategies as an enum"),
        ),
        Departure::NoneBesideOthers(path) => (
            Code::CrdStrategy,
            format!("spec.{path} has None together with others; a kind with None has no other strategy, so remove None or the others"),
        ),
        Departure::BothStanzas(StanzaNames { defaults, overrides }) => (
            Code::CrdStrategy,
            format!("a policy may have spec.{defaults} and spec.{overrides}, but it has one strategy; write the rule !(has(self.{defaults}) && has(self.{overrides}))"),
        ),
        Departure::NoDefault(path) => (
            Code::CrdStrategyDefault,
            format!("spec.{path} has no default, so a policy does not show its strategy; write one"),
        ),
        Departure::NoSettings => (
            Code::CrdSpecEmpty,
            "spec has target fields and no settings; add a field that policies can set".to_owned(),
        ),
    }
}
