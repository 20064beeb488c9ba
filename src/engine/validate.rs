//! Rules on a policy: what can never take effect as written (design section 4).

use super::attach::in_reach;
use super::finding::{Code, Finding};
use super::ids::{GATEWAY_API, GroupKind, ObjectKey};
use super::object::{Node, Object, section_noun};
use super::policy::{self, Entry, Fault, Policy, StrategyFault, TargetRef};
use super::profile::{Profile, file::SectionNaming};
use super::snapshot::Snapshot;

/// Everything that is wrong with a policy.
pub fn validate(snapshot: &Snapshot, policy: &Policy) -> Vec<Finding> {
    let spec = policy::spec(&policy.object);
    let profile = &policy.profile;
    let key = policy.key();
    let entries = policy::entries(&spec, profile);
    let mut findings = Vec::new();
    if entries.is_empty() && !selects_otherwise(&spec) {
        findings.push(no_target(key, profile));
    }
    for entry in &entries {
        match &entry.target {
            Err(fault) => findings.push(faulty(key, entry, fault)),
            Ok(target) => findings.extend(target_findings(snapshot, policy, entry, target)),
        }
    }
    if let Err(fault) = policy::stanzas(&spec, profile) {
        findings.push(strategy(key, profile, fault));
    }
    findings
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

fn faulty(key: &ObjectKey, entry: &Entry<'_>, fault: &Fault) -> Finding {
    let path = &entry.path;
    match fault {
        Fault::NotAnObject(found) => {
            let message = format!("a target is an object with group, kind and name, not {found}");
            Finding::new(Code::TargetMissingRef, key, message)
                .at(path)
                .about(*found)
        }
        Fault::Missing(part) => {
            let message = format!("the target has no {part}");
            Finding::new(Code::TargetMissingRef, key, message)
                .at(format!("{path}.{part}"))
                .about(*part)
        }
        Fault::Versioned(group) => {
            let bare = group.split('/').next().unwrap_or_default();
            let message =
                format!("{group:?} has a version in it; a group has none: write {bare:?}");
            Finding::new(Code::TargetGroupVersioned, key, message)
                .at(format!("{path}.group"))
                .about(group.as_str())
        }
    }
}

fn target_findings(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &Entry<'_>,
    target: &TargetRef,
) -> Option<Finding> {
    let section = target.section.as_deref();
    if let Some(section) = section {
        if entry.field.sections == Some(false) {
            let what = format!("{} takes no sectionName", policy.profile.gk.kind);
            return Some(unsupported(policy, entry, section, &what, true));
        }
        if let Some(finding) = sectionless(policy, entry, target, section) {
            return Some(finding);
        }
    }
    let object = target.object(&policy.key().namespace)?;
    if !in_reach(policy, &object) {
        return None;
    }
    let Some(found) = snapshot.get(&object) else {
        return not_found(snapshot, policy, entry, &object);
    };
    unknown_section(policy, entry, found, section?)
}

/// A section of a kind that has none, or of which the policy kind takes none.
fn sectionless(
    policy: &Policy,
    entry: &Entry<'_>,
    target: &TargetRef,
    section: &str,
) -> Option<Finding> {
    let no_sections = ["Namespace", "Pod", "Secret", "ConfigMap"];
    let gk = &target.gk;
    let none = gk.is_gateway_api("GatewayClass")
        || (gk.group.is_empty() && no_sections.contains(&&*gk.kind));
    if none {
        return Some(unsupported(
            policy,
            entry,
            section,
            &format!("{gk} has no sections"),
            true,
        ));
    }
    let allow = policy.profile.allow.as_ref()?;
    let allowed = allow.value.iter().find(|allowed| allowed.gk == *gk)?;
    (!allowed.sections).then(|| {
        let what = format!("{} takes no section of {gk}", policy.profile.gk.kind);
        unsupported(policy, entry, section, &what, allow.is_said())
    })
}

fn unsupported(
    policy: &Policy,
    entry: &Entry<'_>,
    section: &str,
    what: &str,
    sure: bool,
) -> Finding {
    let message = format!("{what}; remove sectionName {section:?}");
    Finding::new(Code::SectionUnsupported, policy.key(), message)
        .at(format!("{}.sectionName", entry.path))
        .about(section)
        .only_if(sure)
}

/// Only where the kind is known and listed: a kind that the API server does not serve is legal.
fn not_found(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &Entry<'_>,
    object: &ObjectKey,
) -> Option<Finding> {
    snapshot.knows(&object.gk).then(|| {
        let message = format!("there is no {object} now");
        Finding::new(Code::TargetNotFound, policy.key(), message)
            .at(&entry.path)
            .about(object.to_string())
            .resting_on(object)
    })
}

fn unknown_section(
    policy: &Policy,
    entry: &Entry<'_>,
    object: &Object,
    section: &str,
) -> Option<Finding> {
    let names = object.sections()?;
    if names.iter().any(|name| &***name == section) || is_index(policy, object, section) {
        return None;
    }
    let noun = section_noun(&object.key.gk)?;
    let names: Vec<&str> = names.iter().map(|name| &***name).collect();
    let remedy = match nearest(section, &names) {
        Some(name) => format!("; did you mean {name:?}?"),
        None if names.is_empty() => format!("; none of its {noun}s has a name"),
        None => format!("; it has {}", quoted(&names)),
    };
    let message = format!("{} has no {noun} {section:?}{remedy}", object.key);
    Some(
        Finding::new(Code::SectionUnknown, policy.key(), message)
            .at(format!("{}.sectionName", entry.path))
            .about(format!("{}#{section}", object.key))
            .resting_on(&object.key),
    )
}

/// `rule-<i+1>` for kinds that count unnamed rules; a port number where the kind does not say how it
/// names ports.
fn is_index(policy: &Policy, object: &Object, section: &str) -> bool {
    match &object.node {
        Node::Route { rules, .. } => {
            policy.profile.section_naming == SectionNaming::ExplicitOrIndex
                && section
                    .strip_prefix("rule-")
                    .and_then(|i| i.parse::<usize>().ok())
                    .is_some_and(|i| (1..=rules.len()).contains(&i))
        }
        Node::Service { .. } => section.parse::<u16>().is_ok(),
        _ => false,
    }
}

fn strategy(key: &ObjectKey, profile: &Profile, fault: StrategyFault) -> Finding {
    let sure = profile.strategies.is_said();
    match fault {
        StrategyFault::Unknown { path, name } => {
            let inside = path.ends_with(".strategy") && profile.strategies.value.stanzas;
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

/// The name that was most likely meant: within two edits, or a third of the length of long names.
fn nearest<'a>(wrong: &str, names: &[&'a str]) -> Option<&'a str> {
    let limit = 2.max(wrong.chars().count() / 3);
    let distance =
        |name: &str| strsim::damerau_levenshtein(&wrong.to_lowercase(), &name.to_lowercase());
    let scored = names.iter().map(|name| (distance(name), *name));
    scored
        .filter(|(d, _)| *d <= limit)
        .min()
        .map(|(_, name)| name)
}

/// Names in quotes, a few of them.
fn quoted(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let mut list: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("{name:?}"))
        .collect();
    if names.len() > SHOWN {
        list.push(format!("{} more", names.len() - SHOWN));
    }
    list.join(", ")
}

/// Whether a kind is one that policies can stand on or reach (design 3.1, the rows of targets).
pub fn is_target_kind(gk: &GroupKind) -> bool {
    let gateway_api = ["GatewayClass", "Gateway", "ListenerSet"].contains(&&*gk.kind)
        || super::object::ROUTES.contains(&&*gk.kind);
    (&*gk.group == GATEWAY_API && gateway_api) || gk.is_core("Service") || gk.is_core("Namespace")
}
