//! Rules that find the parts of a policy that can never take effect as written (docs/reference/findings.md).

use serde_json::Value;

use crate::admission::finding::{Code, Finding};
use crate::kinds::profile::{EmptySpec, OnMissing, Profile, Source};
use crate::model::hint::{nearest, quoted};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::is_gateway_kind;
use crate::policy::{self, PENDING, Policy, StrategyFault};
use crate::state::snapshot::Snapshot;

mod fields;
mod form;
mod list;
mod reach;
mod section;
mod selected;
pub(super) mod suggestion;
mod target;

pub use fields::{of_policy, of_spec, served};
pub use form::form;
pub use section::missing_section;
pub use target::why_misspelt;

/// All findings on a policy.
pub fn validate(snapshot: &Snapshot, policy: &Policy) -> Vec<Finding> {
    validate_read(snapshot, policy, policy::spec(&policy.object), usize::MAX)
}

/// Like [`validate`], with the parsed spec. Selectors that match nothing are found only if at most `limit` objects
/// have to be compared with the policy's selectors.
pub(crate) fn validate_read(
    snapshot: &Snapshot,
    policy: &Policy,
    mut spec: Value,
    limit: usize,
) -> Vec<Finding> {
    let profile = &policy.profile;
    let key = policy.key();
    let dropped = policy.as_stored(&mut spec);
    let mut findings = fields::unknown(policy, &dropped);
    findings.extend(fields::version(policy));
    findings.extend(fields::unmet(policy, &spec));
    let entries = policy::entries(&spec, profile);
    if entries.is_empty() && !needs_none(profile) && !selects_otherwise(profile, &spec) {
        findings.push(no_target(key, profile));
    }
    for entry in &entries {
        findings.extend(target::findings(snapshot, policy, entry, limit));
    }
    findings.extend(list::findings(policy, &spec, &entries));
    findings.extend(list::unread(policy, &spec));
    findings.extend(no_longer_pending(snapshot, policy, &findings));
    match policy::stanzas(&spec, profile) {
        Err(fault) => findings.push(strategy(key, profile, fault)),
        // The API server rejects the policy for another finding (version, missing field or CRD rule), so its settings do not
        // count.
        Ok(_) if policy.strategies.is_none() => {}
        Ok(_) => findings.extend(empty(policy)),
    }
    findings.extend(both_stanzas(key, profile, &spec));
    policy.read_from(spec);
    findings
}

/// The finding on a policy marked as waiting for sections, all of which exist.
fn no_longer_pending(
    snapshot: &Snapshot,
    policy: &Policy,
    findings: &[Finding],
) -> Option<Finding> {
    let waits =
        |finding: &Finding| matches!(finding.code, Code::SectionUnknown | Code::TargetNotFound);
    if !policy.is_pending() || findings.iter().any(waits) {
        return None;
    }
    let own = &policy.key().namespace;
    let mut named = policy.targets.iter().filter(|target| !target.is_whole());
    let there = named.all(|target| {
        let object = target.object(own);
        object.is_some_and(|object| snapshot.get(&object).is_some())
    });
    there.then(|| {
        Finding::new(
            Code::PendingOver,
            policy.key(),
            "the section exists now; remove this annotation",
        )
        .at(format!("metadata.annotations[{PENDING}]"))
        .about(PENDING)
    })
}

/// The finding on a policy without settings. The policies that it replaces are added later.
fn empty(policy: &Policy) -> Option<Finding> {
    let needs_none = *policy.profile.merging.empty_spec == Some(EmptySpec::Acts);
    // A policy that an annotation disables (dry run) is not empty: its settings are only not applied.
    if needs_none || policy.why_not_applied().is_some() {
        return None;
    }
    let message = if policy.adds_nothing() && policy.may_override_without_settings() {
        "it has no settings, but on a rule it takes the place of a policy of the route"
    } else if policy.adds_nothing() {
        "it has no settings, so it has no effect; add settings or delete it"
    } else if policy.replaces_by_nothing() {
        "it has no settings, and replaces the policies on objects above its target with nothing"
    } else {
        return None;
    };
    Some(Finding::new(Code::SpecEmpty, policy.key(), message).at("spec"))
}

/// Whether a policy may have no target: it applies to its namespace, objects name it, or its kind allows it.
fn needs_none(profile: &Profile) -> bool {
    let otherwise = profile.annotation.is_some() || *profile.on_missing != OnMissing::Nothing;
    otherwise || (profile.required.is_stated() && !*profile.required)
}

/// Whether the policy may be attached by labels alone, so it names no target. A profile names the fields that its kind has.
fn selects_otherwise(profile: &Profile, spec: &Value) -> bool {
    if matches!(profile.refs.from, Source::Config | Source::Builtin) {
        return false;
    }
    let fields = ["targetSelectors", "selector", "workloadSelector"];
    fields.iter().any(|field| spec.get(field).is_some())
}

fn no_target(key: &ObjectKey, profile: &Profile) -> Finding {
    let fields: Vec<String> = profile
        .refs
        .value
        .iter()
        .map(|field| format!("spec.{}", field.path))
        .collect();
    let field = fields.first().cloned().unwrap_or_default();
    let message = format!(
        "{} names no target; set {}",
        profile.gk.kind,
        fields.join(" or ")
    );
    Finding::new(Code::TargetMissingRef, key, message)
        .at(field)
        .only_if(profile.required.is_stated())
}

/// The finding on a policy with both stanzas, for kinds whose CRD allows them together without
/// defining the result.
fn both_stanzas(key: &ObjectKey, profile: &Profile, spec: &Value) -> Option<Finding> {
    let strategies = &profile.strategies;
    let names = strategies.stanzas?;
    policy::carries_both(spec, strategies).then(|| {
        let (first, second) = (names.overrides, names.defaults);
        let message = format!(
            "spec.{second} is set together with spec.{first}; a policy has one strategy (GEP-713), so the controller decides which one applies"
        );
        let mut finding = Finding::new(Code::StrategyMultiple, key, message);
        // GEP-713 of 2026 leaves it to the controller.
        finding.notice = true;
        finding
            .at(format!("spec.{second}"))
            .about(format!("{first} {second}"))
            .only_if(false)
    })
}

fn strategy(key: &ObjectKey, profile: &Profile, fault: StrategyFault) -> Finding {
    let sure = profile.strategies.is_stated();
    match fault {
        StrategyFault::Unknown {
            path,
            name,
            sure: all_known,
        } => {
            let inside = path.ends_with(".strategy") && profile.strategies.value.stanzas.is_some();
            let strategies = &profile.strategies.value;
            let known: Vec<&str> = if inside && !strategies.nested.is_empty() {
                strategies.nested.keys().map(String::as_str).collect()
            } else if inside && !strategies.complete {
                vec!["atomic", "merge", "patch"]
            } else {
                strategies.values.keys().map(String::as_str).collect()
            };
            let hint = nearest(&name, &known)
                .map(|near| format!("; did you mean {near:?}?"))
                .unwrap_or_default();
            let kind = &profile.gk.kind;
            let message = format!(
                "{name:?} is not a strategy of {kind}; it has {}{hint}",
                quoted(&known)
            );
            Finding::new(Code::StrategyUnsupported, key, message)
                .at(path)
                .about(name)
                .only_if(sure && all_known)
        }
        StrategyFault::Multiple { first, second } => {
            let message = format!(
                "{second} and {first} exclude each other: {} has one strategy, so keep one of them",
                profile.gk.kind
            );
            Finding::new(Code::StrategyMultiple, key, message)
                .at(&second)
                .about(format!("{first} {second}"))
                .only_if(sure)
        }
    }
}

/// Whether policies may be attached to objects of a kind, or reach them.
pub fn is_target_kind(gk: &GroupKind) -> bool {
    is_gateway_kind(gk) || gk.is_core("Service") || gk.is_core("Namespace")
}
