//! Rules on a policy: what can never take effect as written (design section 4).

use super::finding::{Code, Finding};
use super::ids::{GATEWAY_API, GroupKind, ObjectKey};
use super::policy::{self, Policy, StrategyFault};
use super::profile::{Profile, Without};
use super::snapshot::Snapshot;

mod hint;
mod list;
mod target;

use hint::{nearest, quoted};

/// Everything that is wrong with a policy.
pub fn validate(snapshot: &Snapshot, policy: &Policy) -> Vec<Finding> {
    let spec = policy::spec(&policy.object);
    let profile = &policy.profile;
    let key = policy.key();
    let entries = policy::entries(&spec, profile);
    let mut findings = Vec::new();
    if entries.is_empty() && !needs_none(profile) && !selects_otherwise(&spec) {
        findings.push(no_target(key, profile));
    }
    for entry in &entries {
        findings.extend(target::findings(snapshot, policy, entry));
    }
    findings.extend(list::findings(policy, &entries));
    match policy::stanzas(&spec, profile) {
        Err(fault) => findings.push(strategy(key, profile, fault)),
        Ok(_) if policy.sets_nothing() => findings.push(
            Finding::new(
                Code::SpecEmpty,
                key,
                "it has no settings, so it has no effect",
            )
            .at("spec"),
        ),
        Ok(_) => {}
    }
    findings
}

/// Whether a policy may go without a target: it acts on its namespace, its targets name it, or the
/// kind says that it may.
fn needs_none(profile: &Profile) -> bool {
    let otherwise = profile.annotation.is_some() || *profile.without != Without::Nothing;
    otherwise || (profile.required.is_said() && !*profile.required)
}

/// Kinds that are attached by labels alone name no target.
fn selects_otherwise(spec: &serde_json::Value) -> bool {
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
        .only_if(profile.required.is_said() && profile.required.value)
}

fn strategy(key: &ObjectKey, profile: &Profile, fault: StrategyFault) -> Finding {
    let sure = profile.strategies.is_said();
    match fault {
        StrategyFault::Unknown { path, name } => {
            let inside = path.ends_with(".strategy") && profile.strategies.value.stanzas.is_some();
            let known: Vec<&str> = if inside && !profile.strategies.value.complete {
                vec!["atomic", "merge", "patch"]
            } else {
                profile
                    .strategies
                    .value
                    .values
                    .keys()
                    .map(String::as_str)
                    .collect()
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
                .only_if(sure)
        }
        StrategyFault::Multiple { first, second } => {
            let message = format!(
                "{second} stands beside {first}; a {} has one strategy, so keep one of them",
                profile.gk.kind
            );
            Finding::new(Code::StrategyMultiple, key, message)
                .at(&second)
                .about(format!("{first} {second}"))
                .only_if(sure)
        }
    }
}

/// Whether a kind is one that policies can stand on or reach (design 3.1, the rows of targets).
pub fn is_target_kind(gk: &GroupKind) -> bool {
    let known = ["GatewayClass", "Gateway", "ListenerSet", "ReferenceGrant"];
    let gateway_api = known.contains(&&*gk.kind) || super::object::ROUTES.contains(&&*gk.kind);
    (&*gk.group == GATEWAY_API && gateway_api) || gk.is_core("Service") || gk.is_core("Namespace")
}
