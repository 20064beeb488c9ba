//! Compares the answers of attache and of a controller for a scenario.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::agreement::Counts;
use super::answers::{Answers, OnTarget};
use super::recording::{Scenario, condition};
use super::settings::{Condition, On, Settings, Status};

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Disagreement {
    pub(crate) about: About,
    /// The scenario and the place.
    pub(crate) at: String,
    /// Both answers.
    pub(crate) said: String,
}

/// The subject of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum About {
    /// attache claims that a protecting setting is in force, and it is not.
    FalseProtection,
    /// Whether a policy is accepted.
    Accepted,
    /// Whether other policies override it.
    Overridden,
    /// Whether it is merged with another.
    Merged,
    /// The settings that are in force.
    InForce,
    /// Whether a route has a rule on a listener.
    Attached,
}

// === impl About ===

impl About {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::FalseProtection => "protection that is not there",
            Self::Accepted => "accepted",
            Self::Overridden => "overridden",
            Self::Merged => "merged",
            Self::InForce => "in force",
            Self::Attached => "attached",
        }
    }
}

/// The form of a controller's reports on the policies of a kind.
#[derive(Clone, Copy)]
struct Reports<'a> {
    status: &'a Status,
    /// Only on backends that routes use, for the parents of these routes, and only whether it is accepted.
    of_used: bool,
}

// === impl Reports ===

impl Reports<'_> {
    /// Whether only what it reports is compared.
    fn of_some(self) -> bool {
        self.status.of_some || self.of_used
    }
}

pub(crate) fn compare(
    scenario: &Scenario,
    said: &Answers,
    settings: &Settings,
    counts: &mut Counts,
) -> Vec<Disagreement> {
    counts.scenarios += 1;
    let mut found = Vec::new();
    let empty = BTreeMap::new();
    for (policy, targets) in &said.policies {
        let recorded = scenario.policies.as_ref().and_then(|all| all.get(policy));
        let recorded = recorded.unwrap_or(&empty);
        let before = found.len();
        let kind = policy.split('/').next().unwrap_or_default();
        let reports = Reports {
            status: &settings.status,
            of_used: settings.kinds[kind].of_used,
        };
        compare_policy(scenario, reports, policy, targets, recorded, &mut found);
        if reports.of_some() && recorded.is_empty() {
            continue;
        }
        counts.policies += 1;
        counts.policies_agreed += usize::from(found.len() == before);
        let new = found.iter().skip(before);
        let accepted = new.filter(|one| one.about == About::Accepted).count();
        counts.accepted_agreed += usize::from(accepted == 0);
    }
    in_force(scenario, said, settings, counts, &mut found);
    found
}

/// The ancestors for which the controller reports on a target.
fn ancestors(scenario: &Scenario, reports: Reports<'_>, target: &str) -> BTreeSet<String> {
    let mut found = parents(scenario, reports, target);
    if reports.status.on_sets_of_gateways && !target.contains('#') {
        let sets = scenario.state.iter();
        let sets = sets.filter(|o| object_name(&o["spec"]["parentRef"], o) == target);
        found.extend(sets.map(|set| {
            let kind = set["kind"].as_str().unwrap_or_default();
            format!("{kind}/{}", path(&set["metadata"], set))
        }));
    }
    found
}

/// The target itself, or the parents of its route. A child route counts for the parents of its parent route.
fn parents(scenario: &Scenario, reports: Reports<'_>, target: &str) -> BTreeSet<String> {
    let object = target.split('#').next().unwrap_or_default();
    if reports.of_used && object.starts_with("Service/") {
        let routes = routes_to(scenario, object);
        return routes
            .flat_map(|route| parents(scenario, reports, &route))
            .collect();
    }
    match scenario.routes.as_ref().and_then(|all| all.get(object)) {
        Some(of_route) => {
            let above = of_route.keys();
            above
                .flat_map(|parent| {
                    let is_route = scenario
                        .routes
                        .as_ref()
                        .is_some_and(|all| all.contains_key(parent));
                    if reports.status.of_parent_refs && !is_route {
                        BTreeSet::from([parent.clone()])
                    } else {
                        parents(scenario, reports, parent)
                    }
                })
                .collect()
        }
        None if reports.status.of_objects => BTreeSet::from([object.to_owned()]),
        None => BTreeSet::from([target.to_owned()]),
    }
}

/// The routes that send requests to a Service.
fn routes_to(scenario: &Scenario, service: &str) -> impl Iterator<Item = String> {
    let uses = move |object: &&Value| {
        let rules = object["spec"]["rules"].as_array().into_iter().flatten();
        let mut backends = rules
            .filter_map(|rule| rule["backendRefs"].as_array())
            .flatten();
        backends.any(|backend| format!("Service/{}", path(backend, object)) == service)
    };
    let routes = scenario.state.iter().filter(uses);
    routes.map(|route| {
        let kind = route["kind"].as_str().unwrap_or_default();
        format!("{kind}/{}", path(&route["metadata"], route))
    })
}

/// `Kind/namespace/name` of a reference in an object.
fn object_name(reference: &Value, object: &Value) -> String {
    let kind = reference["kind"].as_str().unwrap_or("Gateway");
    format!("{kind}/{}", path(reference, object))
}

fn path(named: &Value, object: &Value) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let namespace = text(&named["namespace"]).or_else(|| text(&object["metadata"]["namespace"]));
    format!(
        "{}/{}",
        namespace.unwrap_or_default(),
        text(&named["name"]).unwrap_or_default()
    )
}

fn is_met(wanted: Option<&Condition>, all: &str) -> bool {
    wanted.is_some_and(|wanted| wanted.is_met(all))
}

fn compare_policy(
    scenario: &Scenario,
    reports: Reports<'_>,
    policy: &str,
    targets: &[OnTarget],
    recorded: &BTreeMap<String, String>,
    found: &mut Vec<Disagreement>,
) {
    let conditions_of = reports.status;
    let mut expected: BTreeMap<String, Vec<&OnTarget>> = BTreeMap::new();
    for on in targets {
        for ancestor in ancestors(scenario, reports, &on.target) {
            expected.entry(ancestor).or_default().push(on);
        }
    }
    let mut differ = |about, ancestor: &str, controller: String, attache: String| {
        found.push(Disagreement {
            about,
            at: format!("{} {policy} on {ancestor}", scenario.name),
            said: format!("controller {controller}, attache {attache}"),
        });
    };
    let names: BTreeSet<&String> = recorded.keys().chain(expected.keys()).collect();
    for ancestor in names {
        // A policy in conflict is reported for the parents of the other one.
        let all: Vec<&OnTarget> = targets.iter().collect();
        let otherwise = if reports.of_used { &all[..] } else { &[] };
        let on = expected.get(ancestor).map_or(otherwise, Vec::as_slice);
        let Some(conditions) = recorded.get(ancestor) else {
            if reports.of_some() {
                continue;
            }
            // The controller ignores missing targets and those of other controllers.
            for on in on.iter().filter(|on| on.exists && on.attached) {
                let attache = if on.overridden {
                    "overridden"
                } else {
                    on.accepted
                };
                differ(
                    About::Accepted,
                    ancestor,
                    "nothing".to_owned(),
                    attache.to_owned(),
                );
            }
            continue;
        };
        let mut types = conditions_of.accepted.iter();
        let accepted = types.find_map(|name| condition(conditions, name));
        let (status, reason) = accepted.unwrap_or(("", "nothing"));
        let controller = if status == "True" { "Accepted" } else { reason };
        // A fault of one target is reported for all targets with this ancestor.
        let bad = on.iter().find(|on| on.accepted != "Accepted");
        let attache = match (&conditions_of.no_effect, bad.or(on.first())) {
            (_, None) => "nothing",
            (Some(word), Some(on)) if on.accepted == "Accepted" && !on.attached => word,
            (_, Some(on)) => on.accepted,
        };
        if controller != attache {
            differ(
                About::Accepted,
                ancestor,
                controller.to_owned(),
                attache.to_owned(),
            );
            continue;
        }
        if controller != "Accepted" || reports.of_used {
            continue;
        }
        // attache reports merges per target, the controller per listener of the target's parents.
        let of_targets = |name: &str| {
            let mut own = on
                .iter()
                .flat_map(|on| ancestors(scenario, reports, &on.target));
            own.any(|own| name == own || name.starts_with(&format!("{own}#")))
        };
        let of_them = recorded.iter().filter(|(name, _)| of_targets(name));
        let says_merged = of_them
            .into_iter()
            .any(|(_, all)| is_met(conditions_of.merged.as_ref(), all));
        let says_overridden = is_met(conditions_of.overridden.as_ref(), conditions);
        let word = |yes| if yes { "yes" } else { "no" }.to_owned();
        let merged = on.iter().any(|on| on.merged);
        let overridden = on.iter().any(|on| on.overridden);
        // For controllers, settings lost in a merge do not count as overridden.
        let in_merge = merged && says_merged;
        if conditions_of.overridden.is_some()
            && says_overridden != overridden
            && (says_overridden || !in_merge)
        {
            let attache = if on.iter().any(|on| on.attached) {
                word(overridden)
            } else {
                "no effect".to_owned()
            };
            differ(About::Overridden, ancestor, word(says_overridden), attache);
        }
        if conditions_of.merged.is_some() && says_merged != merged {
            differ(About::Merged, ancestor, word(says_merged), word(merged));
        }
    }
}

fn in_force(
    scenario: &Scenario,
    said: &Answers,
    settings: &Settings,
    counts: &mut Counts,
    found: &mut Vec<Disagreement>,
) {
    let nothing = BTreeMap::new();
    let recorded = scenario.in_force.as_ref().unwrap_or(&nothing);
    for (kind, of_kind) in &settings.kinds {
        let answered = said
            .in_force
            .keys()
            .filter(|(kind_of_policy, _)| kind_of_policy == kind);
        let answered = answered.map(|(_, place)| place);
        let on_level = |place: &&String| of_kind.on.takes(place);
        let places: BTreeSet<&String> = answered.chain(recorded.keys().filter(on_level)).collect();
        for place in places {
            let mut differ = |about, said: String| {
                let at = format!("{} {kind} at {place}", scenario.name);
                found.push(Disagreement { about, at, said });
            };
            let attache = said.in_force.get(&(kind.clone(), place.clone()));
            let controller = recorded.get(place);
            if controller.is_none() && of_kind.of_used {
                continue;
            }
            if controller.is_none() && !(of_kind.on != On::Rules) {
                // The controller has no such rule on a listener that it serves, so other rules take its requests: a
                // protection claimed there is none.
                let (listener, route) = place.split_once(' ').unwrap_or((place, ""));
                let is_http = ["HTTPRoute/", "GRPCRoute/"]
                    .iter()
                    .any(|kind| route.starts_with(kind));
                let on_listener =
                    |other: &String| other.split_once(' ').is_some_and(|(at, _)| at == listener);
                let served = is_http && recorded.keys().any(on_listener);
                let mut names = attache
                    .into_iter()
                    .filter(|_| served)
                    .flat_map(BTreeMap::keys);
                let protects = names.any(|name| {
                    let claim = (kind.clone(), place.clone(), name.clone());
                    said.protecting.contains(&claim)
                });
                let about = if protects {
                    About::FalseProtection
                } else {
                    About::Attached
                };
                differ(about, "controller no, attache yes".to_owned());
                continue;
            }
            let Some(attache) = attache
                .or((of_kind.on != On::Rules).then_some(&BTreeMap::new()))
                .cloned()
            else {
                differ(About::Attached, "controller yes, attache no".to_owned());
                continue;
            };
            let empty = BTreeMap::new();
            let controller = controller.unwrap_or(&empty);
            // The controller answers every request with this status, so nothing gets through.
            let refuses = controller.get("response") == Some(&Value::from(500));
            let controller = of_kind.among(controller);
            let names: BTreeSet<&String> = controller.keys().chain(attache.keys()).collect();
            for name in names {
                counts.settings += 1;
                let (theirs, ours) = (controller.get(name), attache.get(name));
                if theirs == ours {
                    counts.settings_agreed += 1;
                    continue;
                }
                let claim = (kind.clone(), place.clone(), name.clone());
                let protects = said.protecting.contains(&claim);
                let about = if protects && ours.is_some() && theirs.is_none() && !refuses {
                    About::FalseProtection
                } else {
                    About::InForce
                };
                let text = |values: Option<&Vec<String>>| {
                    values.map_or_else(|| "nothing".to_owned(), |values| values.join(" "))
                };
                let (theirs, ours) = (text(theirs), text(ours));
                differ(
                    about,
                    format!("{name}: controller {theirs}, attache {ours}"),
                );
            }
        }
    }
}
