//! What attache says of a scenario, in the words of the recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use attache::config::Configuration;
use attache::engine::conditions::{Accepted, State, status};
use attache::engine::effective::Survey;
use attache::engine::ids::{GroupKind, Place};
use attache::engine::object::{Node, Object};
use attache::engine::snapshot::{Change, Snapshot};
use serde_json::Value;

use crate::cases::{nothing, object};
use crate::recording::Scenario;
use crate::settings::Settings;

/// What was said of one state.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Target by target, by policy.
    pub(crate) policies: BTreeMap<String, Vec<OnTarget>>,
    /// The settings of each kind in force at `listener`, or at `listener route#rule`.
    pub(crate) in_force: BTreeMap<(String, String), BTreeMap<String, Vec<String>>>,
    /// Those of them that keep somebody out.
    pub(crate) protecting: BTreeSet<(String, String, String)>,
}

/// What became of a policy on a target.
#[derive(Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "four questions, four answers"
)]
pub(crate) struct OnTarget {
    pub(crate) target: String,
    /// `Accepted`, or why not.
    pub(crate) accepted: &'static str,
    /// Whether there is such an object.
    pub(crate) exists: bool,
    /// Whether it does something, or another policy keeps it from that.
    pub(crate) attached: bool,
    /// Whether another policy has its place somewhere.
    pub(crate) overridden: bool,
    pub(crate) merged: bool,
}

pub(crate) fn answers(common: &[Value], scenario: &Scenario, settings: &Settings) -> Answers {
    let snapshot = state(common.iter().chain(&scenario.state));
    let mut survey = Survey::new(&snapshot);
    let mut said = Answers::default();
    for name in settings.keys() {
        let kind = GroupKind::new("gateway.envoyproxy.io", name.as_str());
        for policy in snapshot.policies(&kind) {
            let targets = status(&mut survey, policy).targets;
            let on = targets.iter().map(|on| OnTarget {
                target: text(&on.target),
                accepted: match &on.accepted {
                    Accepted::Clashing(why) => why.reason,
                    Accepted::Accepted => "Accepted",
                    Accepted::Invalid => "Invalid",
                    Accepted::Rejected(_) => "Rejected",
                    Accepted::Conflicted(_) => "Conflicted",
                    Accepted::TargetNotFound => "TargetNotFound",
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
    for written in &scenario.state {
        let object = object(written);
        for (name, of_kind) in settings {
            let kind = GroupKind::new("gateway.envoyproxy.io", name.as_str());
            let wanted = if of_kind.listeners {
                matches!(object.node, Node::Gateway { .. } | Node::ListenerSet { .. })
            } else {
                matches!(object.node, Node::Route { .. })
            };
            if !wanted {
                continue;
            }
            for group in &*survey.through(&object.key, &kind) {
                if !group.attached {
                    continue;
                }
                let spec = group.effective.spec().map(|(spec, _)| spec);
                let spec = spec.unwrap_or_default();
                let settings = of_kind.of(&spec);
                let protecting = settings.keys().filter(|name| of_kind.protects(name, &spec));
                let at = places(group.ends.uppers.iter().map(|u| u.last()), &object, || {
                    group
                        .ends
                        .lowers
                        .iter()
                        .filter_map(|l| l.target())
                        .collect()
                });
                for at in at {
                    let names = protecting.clone();
                    said.protecting
                        .extend(names.map(|setting| (name.clone(), at.clone(), setting.clone())));
                    said.in_force.insert((name.clone(), at), settings.clone());
                }
            }
        }
    }
    said
}

/// `listener` for what stands above routes, `listener route#rule` for routes.
fn places<'a>(
    listeners: impl Iterator<Item = Option<&'a Place>>,
    object: &Object,
    rules: impl Fn() -> Vec<&'a Place>,
) -> BTreeSet<String> {
    let is_route = matches!(object.node, Node::Route { .. });
    let listeners = listeners.flatten();
    let each = listeners.flat_map(|listener| {
        let listener = text(listener);
        if is_route {
            let rules = rules().into_iter();
            rules
                .map(|rule| format!("{listener} {}", text(rule)))
                .collect()
        } else {
            vec![listener]
        }
    });
    each.collect()
}

fn state<'a>(objects: impl Iterator<Item = &'a Value>) -> Snapshot {
    let config = Configuration::default();
    let mut changes = Vec::new();
    for written in objects {
        let kind = written["kind"].as_str().unwrap();
        // Neither is of any concern to attache.
        if kind != "Secret" {
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
