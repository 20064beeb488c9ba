//! The questions of cases, and the format of the answers.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use attache::engine::effective::applying::attached_at_or_above;
use attache::engine::effective::impact::impact;
use attache::engine::effective::{PathGroup, Resolver};
use attache::engine::kinds::profile::strategy_text;
use attache::engine::merge::EffectivePolicy;
use attache::engine::model::ids::ObjectKey;
use attache::engine::policy::Policy;
use attache::engine::policy::Setting;
use attache::engine::state::snapshot::{Change, Snapshot};
use attache::engine::status::conditions::{
    Accepted, State, affected, ancestors, selects_unwatched, status,
};
use serde_json::{Value, json};

use super::state::{Start, key};
use testing::cases::{object, reviewed};

/// Answers a question, which is a map with one key: `describe`, `acting`, `affected`, `policies`, `ancestors`, `impact`
/// or `review`.
pub(crate) fn answer(state: &Start, ask: &Value) -> String {
    let snapshot = &state.snapshot;
    let (what, about) = ask.as_object().unwrap().iter().next().unwrap();
    let mut out = String::new();
    match what.as_str() {
        "describe" => describe(snapshot, &key(about.as_str().unwrap()), &mut out),
        "acting" => acting(snapshot, &key(about.as_str().unwrap()), &mut out),
        "affected" => conditions(snapshot, &key(about.as_str().unwrap()), &mut out),
        "ancestors" => ancestor_list(snapshot, &key(about.as_str().unwrap()), &mut out),
        "policies" => policies(snapshot, &mut out),
        "impact" => difference(state, about, &mut out),
        "review" => write_answer(snapshot, about, &mut out),
        other => panic!("no question {other:?}"),
    }
    out
}

/// The effective policies path by path; equal paths together.
fn describe(snapshot: &Snapshot, key: &ObjectKey, out: &mut String) {
    writeln!(out, "- describe: {key}").unwrap();
    let mut resolver = Resolver::new(snapshot);
    for kind in snapshot.policy_kinds() {
        let mut groups = resolver.paths_through(key, kind);
        groups.retain(|group| !group.stack.is_empty());
        groups.sort_by_cached_key(names);
        for group in &groups {
            writeln!(out, "  - kind: {}", kind.kind).unwrap();
            writeln!(out, "    path: {}", names(group)).unwrap();
            if group.path_count() > 1 {
                writeln!(out, "    paths: {}", group.path_count()).unwrap();
            }
            // Paths without a consumer namespace take requests from every namespace.
            let consumers: Option<BTreeSet<&str>> = group
                .paths
                .ancestors
                .iter()
                .map(|upper| upper.consumer.as_deref())
                .collect();
            for consumer in consumers.into_iter().flatten() {
                writeln!(out, "    requests from: {consumer}").unwrap();
            }
            if !group.attached {
                writeln!(out, "    attached: false").unwrap();
            }
            if !group.complete {
                writeln!(out, "    complete: false").unwrap();
            }
            in_force(&group.effective, "    ", out);
        }
    }
}

fn names(group: &PathGroup) -> String {
    let places: Vec<String> = group.path().iter().map(ToString::to_string).collect();
    places.join(" > ")
}

fn in_force(effective: &EffectivePolicy, indent: &str, out: &mut String) {
    let Some((spec, sources)) = effective.spec() else {
        let names: Vec<String> = effective.policies().iter().map(ObjectKey::path).collect();
        writeln!(
            out,
            "{indent}merged by the kind's own rules: {}",
            names.join(", ")
        )
        .unwrap();
        return;
    };
    writeln!(out, "{indent}spec: {spec}").unwrap();
    for (pointer, leaf) in sources {
        writeln!(out, "{indent}{pointer}: {}", source(&leaf)).unwrap();
    }
}

fn source(leaf: &Setting) -> String {
    let removed = if leaf.value.is_null() {
        "removed by "
    } else {
        ""
    };
    match leaf.strategy {
        None => format!("{} itself", leaf.policy),
        Some(strategy) => format!(
            "{removed}{} ({})",
            leaf.policy.path(),
            strategy_text(strategy)
        ),
    }
}

/// The policies that apply to an object, and those at it or above it that do not.
fn acting(snapshot: &Snapshot, key: &ObjectKey, out: &mut String) {
    writeln!(out, "- acting: {key}").unwrap();
    for acting in attached_at_or_above(&mut Resolver::new(snapshot), key) {
        let verb = if acting.applies() { "acts" } else { "beaten" };
        writeln!(out, "  - {verb}: {}", acting.policy.key()).unwrap();
    }
}

fn conditions(snapshot: &Snapshot, key: &ObjectKey, out: &mut String) {
    writeln!(out, "- affected: {key}").unwrap();
    for condition in affected(&mut Resolver::new(snapshot), key) {
        write!(out, "  - {}: {}", condition.condition, condition.message()).unwrap();
        if let Some(generation) = condition.observed_generation {
            write!(out, ", generation {generation}").unwrap();
        }
        match condition.section {
            Some(section) => writeln!(out, " (listener {section})").unwrap(),
            None => writeln!(out).unwrap(),
        }
    }
}

fn ancestor_list(snapshot: &Snapshot, key: &ObjectKey, out: &mut String) {
    writeln!(out, "- ancestors: {key}").unwrap();
    let policy = snapshot.policy(key).unwrap();
    let mut resolver = Resolver::new(snapshot);
    let status = status(&mut resolver, policy);
    let (found, cut) = ancestors(&mut resolver, policy, &status);
    for ancestor in found {
        let controller = ancestor.controller.as_deref().unwrap_or("unknown");
        writeln!(out, "  - {} ({controller})", ancestor.object).unwrap();
    }
    if cut > 0 {
        writeln!(out, "  - and {cut} more").unwrap();
    }
}

/// The status of every policy.
fn policies(snapshot: &Snapshot, out: &mut String) {
    writeln!(out, "- policies:").unwrap();
    for kind in snapshot.policy_kinds() {
        let mut policies: Vec<_> = snapshot.policies(kind).collect();
        policies.sort_by_key(|policy| policy.key().clone());
        for policy in policies {
            one_policy(snapshot, policy, out);
        }
    }
}

fn one_policy(snapshot: &Snapshot, policy: &Policy, out: &mut String) {
    let status = status(&mut Resolver::new(snapshot), policy);
    let is_known = !(status.targets.is_empty() && selects_unwatched(snapshot, policy));
    let state = match &status.state {
        Some(known) => state(known),
        None if status.accepted == Accepted::Accepted && !is_known => "Unknown".to_owned(),
        None => accepted(&status.accepted),
    };
    writeln!(out, "  - {}: {state}", policy.key()).unwrap();
    for caveat in policy.caveats(snapshot) {
        writeln!(out, "    caveat: {caveat}").unwrap();
    }
    for target in &status.targets {
        let state = target
            .state
            .as_ref()
            .map_or_else(|| accepted(&target.accepted), self::state);
        if status.targets.len() > 1 {
            writeln!(out, "    on {}: {state}", target.target).unwrap();
        }
        let mut list = |what: &str, names: Vec<String>| {
            if !names.is_empty() {
                writeln!(out, "    {what}: {}", names.join(", ")).unwrap();
            }
        };
        list("left out of", target.left_out().into_iter().collect());
        list(
            "by",
            target.overridden_by.keys().map(ObjectKey::path).collect(),
        );
        list(
            "overridden on",
            target
                .overridden_on()
                .iter()
                .map(ToString::to_string)
                .collect(),
        );
        list(
            "merged with",
            target.merged_with.iter().map(ObjectKey::path).collect(),
        );
        list(
            "acts on",
            target
                .effective_targets
                .places()
                .into_iter()
                .map(ToString::to_string)
                .collect(),
        );
    }
}

fn accepted(accepted: &Accepted) -> String {
    match accepted {
        Accepted::Accepted => "Accepted".to_owned(),
        Accepted::Invalid => "Invalid".to_owned(),
        Accepted::TargetNotFound => "TargetNotFound".to_owned(),
        Accepted::Rejected(report) => format!("Rejected, its controller reports {report}"),
        Accepted::ExpectedRejection(why) => format!("Rejected, {why}"),
        Accepted::Conflicted(with) => format!("Conflicted with {}", with.path()),
    }
}

fn state(state: &State) -> String {
    match state {
        State::Enforced => "Enforced".to_owned(),
        State::PartiallyEnforced => "PartiallyEnforced".to_owned(),
        State::Overridden => "Overridden".to_owned(),
        State::NoEffect(none) => format!("NoEffect, {}", none.why),
        State::Unknown(why) => format!("Unknown, {why}"),
    }
}

/// `impact: {apply: <object>}` or `impact: {delete: <name>}`, or a list of these.
fn difference(state: &Start, about: &Value, out: &mut String) {
    let before = &state.snapshot;
    let mut after = before.clone();
    let mut touched = Vec::new();
    let steps = match about {
        Value::Array(steps) => steps.clone(),
        step => vec![step.clone()],
    };
    let mut title = Vec::new();
    let mut requests = Vec::new();
    for step in steps {
        if let Some(gone) = step.get("delete") {
            let key = key(gone.as_str().unwrap());
            title.push(format!("delete {key}"));
            touched.push(key.clone());
            requests.push(json!({"operation": "DELETE", "old": state.stored[&key]}));
            after = after.apply(Change::Deleted(key.clone()));
            after = after.changed_from(before, [key]);
        } else {
            let mut new = step["apply"].clone();
            let key = object(&new).key;
            if let Some(old) = state.stored.get(&key) {
                new["metadata"]["creationTimestamp"] = old["metadata"]["creationTimestamp"].clone();
                requests.push(json!({"operation": "UPDATE", "object": new, "old": old}));
            } else {
                requests.push(json!({"operation": "CREATE", "object": new}));
            }
            title.push(format!("apply {key}"));
            touched.push(key);
            let mut new = object(&new);
            after.replace_reported(&mut new);
            let changed = after.is_changed_by(&new).then(|| new.key.clone());
            after = after.apply(Change::Applied(Arc::new(new)));
            after = after.changed_from(before, changed);
        }
    }
    writeln!(out, "- impact: {}", title.join(", ")).unwrap();
    for changed in impact(before, &after, &touched) {
        let path: Vec<String> = changed.path.iter().map(ToString::to_string).collect();
        let spec = |effective: &EffectivePolicy| match effective.spec() {
            Some((spec, sources)) if sources.is_empty() => {
                let _ = spec;
                "nothing".to_owned()
            }
            Some((spec, _)) => spec.to_string(),
            None => "the kind's own rules".to_owned(),
        };
        writeln!(
            out,
            "  - {}: {}",
            changed.change.kind.kind,
            path.join(" > ")
        )
        .unwrap();
        writeln!(
            out,
            "    {} -> {}",
            spec(&changed.change.before),
            spec(&changed.change.after)
        )
        .unwrap();
    }
    // The webhook's answer to the change.
    if let [request] = requests.as_slice() {
        write_answer(before, request, out);
    }
}

/// `review: {operation, object, old}`: the webhook's verdict.
fn write_answer(snapshot: &Snapshot, about: &Value, out: &mut String) {
    let verdict = reviewed(snapshot, about);
    let subject = about.get("object").or_else(|| about.get("old")).unwrap();
    let name = object(subject).key;
    let answer = if verdict.allowed() {
        "allowed"
    } else {
        "refused"
    };
    let operation = about["operation"].as_str().unwrap();
    writeln!(out, "- {operation} {name}: {answer}").unwrap();
    for cause in verdict.causes() {
        writeln!(out, "  - refused: {} at {}", cause.message, cause.field).unwrap();
    }
    for line in verdict.warnings() {
        writeln!(out, "  - warning: {line}").unwrap();
    }
}
