//! attache's answers for a scenario, in the format of the recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use attache::config::Configuration;
use attache::engine::effective::{PathSet, Resolver};
use attache::engine::merge::EffectivePolicy;
use attache::engine::model::ids::{GroupKind, ObjectKey, Place};
use attache::engine::model::object::{Node, Object, Port};
use attache::engine::state::snapshot::{Change, Snapshot};
use attache::engine::status::conditions::{Accepted, State, status};
use serde_json::Value;

use super::recording::Scenario;
use super::settings::{On, Settings, Unrecorded};
use testing::cases::{nothing, object};

/// The answers for one state.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// The outcome on each target, by policy.
    pub(crate) policies: BTreeMap<String, Vec<OnTarget>>,
    /// The settings of each kind in force at `listener`, or at `listener route#rule`.
    pub(crate) in_force: BTreeMap<(String, String), BTreeMap<String, Vec<String>>>,
    /// Those of them that protect.
    pub(crate) protecting: BTreeSet<(String, String, String)>,
}

/// The outcome of a policy on a target.
#[derive(Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "four questions, four answers"
)]
pub(crate) struct OnTarget {
    pub(crate) target: String,
    /// `Accepted`, or why not.
    pub(crate) accepted: &'static str,
    /// Whether the target exists.
    pub(crate) exists: bool,
    /// Whether the policy applies there, or would if another policy did not override it.
    pub(crate) attached: bool,
    /// Whether another policy overrides it somewhere.
    pub(crate) overridden: bool,
    pub(crate) merged: bool,
}

pub(crate) fn answers(common: &[Value], scenario: &Scenario, settings: &Settings) -> Answers {
    let unrecorded = settings.unrecorded.as_ref();
    let unrecorded = unrecorded.map_or_else(Vec::new, |made| made.with_settings(&scenario.state));
    // All objects of a kind that the recorder made are there.
    let made = settings.unrecorded.as_ref().map(Unrecorded::kind);
    let objects = common.iter().chain(&unrecorded).chain(&scenario.state);
    let snapshot = state(made, objects);
    let mut resolver = Resolver::new(&snapshot);
    let mut said = Answers::default();
    for (_, kind, _) in settings.each() {
        for policy in snapshot.policies(&kind) {
            let targets = status(&mut resolver, policy).targets;
            let on = targets.iter().map(|on| OnTarget {
                target: text(&on.target),
                accepted: match (&on.accepted, &on.left_out) {
                    (Accepted::ExpectedRejection(why), _) | (Accepted::Accepted, Some(why)) => {
                        why.reason
                    }
                    (Accepted::Accepted, None) => "Accepted",
                    (Accepted::Invalid, _) => "Invalid",
                    (Accepted::Rejected(_), _) => "Rejected",
                    (Accepted::Conflicted(_), _) => "Conflicted",
                    (Accepted::TargetNotFound, _) => "TargetNotFound",
                },
                exists: snapshot.get(&on.target.object).is_some(),
                attached: matches!(
                    on.state,
                    Some(State::Enforced | State::PartiallyEnforced | State::Overridden)
                ),
                overridden: matches!(on.state, Some(State::Overridden | State::PartiallyEnforced)),
                merged: !on.merged_with.is_empty(),
            });
            let key = policy.key();
            let policy = format!("{}/{}/{}", key.gk.kind, key.namespace, key.name);
            said.policies.insert(policy, on.collect());
        }
    }
    for written in common.iter().chain(&scenario.state) {
        let object = object(written);
        for (name, kind, of_kind) in settings.each() {
            if !of_kind.on.is_at(&object) {
                continue;
            }
            for group in &*resolver.paths_through(&object.key, &kind) {
                let routes = group.paths.routes.iter().filter_map(|step| step.target());
                let mut routes = routes.map(|rule| &rule.object.gk);
                let of_others = of_kind.on == On::Called
                    && !On::has_no_http(&object)
                    && routes.any(On::is_without_http);
                if !group.attached || of_others {
                    continue;
                }
                let object_place = object.key.whole();
                let specs = match (of_kind.on, snapshot.profile(&kind)) {
                    (On::Called, Some(profile)) if !On::has_no_http(&object) => {
                        in_force(&group.effective_above(profile, &object_place))
                    }
                    _ => in_force(&group.effective),
                };
                let settings = of_kind.settings_in(&specs);
                let protecting = of_kind.protecting(&specs, settings.keys());
                let gets_requests =
                    |rule: &Place| !On::has_no_http(&object) || resolver.taken_by(rule).is_none();
                for at in places(of_kind.on, &group.paths, &object, gets_requests) {
                    let names = protecting.iter().map(|setting| (*setting).clone());
                    said.protecting
                        .extend(names.map(|setting| (name.clone(), at.clone(), setting)));
                    said.in_force.insert((name.clone(), at), settings.clone());
                }
            }
        }
    }
    said
}

/// The settings in force: per policy if they are in force side by side, else of all policies together.
fn in_force(effective: &EffectivePolicy) -> Vec<(String, Value)> {
    let spec = effective.spec().map(|(spec, _)| spec).unwrap_or_default();
    match spec {
        Value::Object(each) if effective.is_side_by_side() => each.into_iter().collect(),
        spec => {
            let policies = effective.policies();
            let names: Vec<String> = policies.iter().map(ObjectKey::path).collect();
            let some = (!names.is_empty()).then(|| (names.join(", "), spec));
            some.into_iter().collect()
        }
    }
}

/// The places at which the settings on paths through an object are recorded.
fn places(
    on: On,
    ends: &PathSet,
    object: &Object,
    mut gets_requests: impl FnMut(&Place) -> bool,
) -> BTreeSet<String> {
    let listeners = ends.ancestors.iter().filter_map(|upper| upper.last());
    let listeners = listeners.map(text);
    let rules: Vec<String> = ends
        .routes
        .iter()
        .filter_map(|l| l.target())
        .filter(|rule| gets_requests(rule))
        .map(text)
        .collect();
    match on {
        On::Listeners => listeners.collect(),
        On::Called if !On::has_no_http(object) => BTreeSet::from([text(&object.key.whole())]),
        On::Rules | On::Called => listeners
            .flat_map(|listener| rules.iter().map(move |rule| format!("{listener} {rule}")))
            .collect(),
        On::Services => BTreeSet::from([text(&object.key.whole())]),
        On::Ports => ports(ends, object),
    }
}

/// The ports, by number, of a Service to which the policies of paths apply: those of its sections come after those of the whole.
fn ports(ends: &PathSet, object: &Object) -> BTreeSet<String> {
    let Node::Service { ports, .. } = &object.node else {
        return BTreeSet::new();
    };
    let target = ends.routes.first().and_then(|route| route.target());
    let section = target.and_then(|target| target.section.as_ref());
    let is_it = |port: &&Port| section.is_none_or(|name| port.name.as_ref() == Some(name));
    let numbers = ports.iter().filter(is_it).map(|port| port.number);
    let name = text(&object.key.whole());
    numbers.map(|number| format!("{name}#{number}")).collect()
}

fn state<'a>(listed: Option<GroupKind>, objects: impl Iterator<Item = &'a Value>) -> Snapshot {
    let config = Configuration::default();
    let listed = listed.map(|kind| Change::Listed(kind, Vec::new()));
    let mut changes: Vec<Change> = listed.into_iter().collect();
    for written in objects {
        let kind = written["kind"].as_str().unwrap();
        // Secrets and ConfigMaps do not concern attache.
        if kind != "Secret" && kind != "ConfigMap" {
            changes.push(Change::Applied(Arc::new(object(written))));
        }
    }
    let empty = nothing(&config);
    changes
        .into_iter()
        .fold(empty, |state, change| state.apply(change))
}

/// `Kind/namespace/name#section`.
fn text(place: &Place) -> String {
    let key = &place.object;
    let name = format!("{}/{}/{}", key.gk.kind, key.namespace, key.name);
    match &place.section {
        Some(section) => format!("{name}#{section}"),
        None => name,
    }
}
