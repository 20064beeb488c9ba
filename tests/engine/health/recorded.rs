//! The statuses that real controllers wrote, and their health. The engine reads the same statuses: a policy that it takes for
//! rejected is degraded, and no other is.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use attache::config::Configuration;
use attache::engine::attachment::reports::{CombinedAcceptance, ControllerStatus};
use attache::engine::model::ids::GroupKind;
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::{Value, json};
use testing::cases::root;

use super::{Checks, Health, object, real};
use crate::controllers::recording::{Scenario, read_all};

/// The status of a policy, from the conditions by ancestor and the name of the controller.
type Shape = fn(&BTreeMap<String, String>, &str) -> Value;

/// The recorded projects, and how their statuses are shaped.
const PROJECTS: [(&str, Shape); 3] = [
    ("envoy-gateway", ancestors),
    ("istio", conditions),
    ("kgateway", ancestors),
];

#[test]
fn the_statuses_of_real_controllers_have_this_health() {
    let checks = Checks::read();
    let mut objects = Vec::new();
    let mut seen: BTreeMap<(String, String), (Health, usize)> = BTreeMap::new();
    for (project, status_shape) in PROJECTS {
        for recording in read_all(&root("controllers").join(project)) {
            let controller = controller(&recording.common);
            for scenario in &recording.scenarios {
                for (policy, by_ancestor) in scenario.policies.iter().flatten() {
                    let kind = kind(scenario, policy);
                    let mut words: Vec<&str> = by_ancestor.values().map(String::as_str).collect();
                    words.sort_unstable();
                    words.dedup();
                    let key = (kind.clone(), words.join(" | "));
                    if let Some((_, times)) = seen.get_mut(&key) {
                        *times += 1;
                        continue;
                    }
                    let object = object(&kind, &status_shape(by_ancestor, &controller));
                    let (health, _) = checks.health_of(&kind, &object).unwrap_or_else(|why| {
                        panic!(
                            "{project} {} {policy} {by_ancestor:?}: {why}",
                            scenario.name
                        )
                    });
                    let degraded = health == Health::Degraded;
                    assert_eq!(degraded, is_rejected(&object), "{} {policy}", scenario.name);
                    objects.push((kind, object));
                    seen.insert(key, (health, 1));
                }
            }
        }
    }
    compare(&seen);
    real::compare(&checks, &objects);
}

/// Writes or compares the list of statuses.
fn compare(seen: &BTreeMap<(String, String), (Health, usize)>) {
    let mut text = String::from(
        "# The statuses of policies in the recordings of tests/controllers, the different ones of all ancestors, and the health\n\
         # of such a policy. Made by ATTACHE_BLESS=1 cargo test --test engine health::recorded.\n",
    );
    let mut last = "";
    for ((kind, status), (health, times)) in seen {
        if kind != last {
            writeln!(text, "{kind}:").unwrap();
            last = kind;
        }
        writeln!(
            text,
            "- {{health: {health:?}, times: {times}, status: \"{status}\"}}"
        )
        .unwrap();
    }
    let path = root("health").join("recorded.yaml");
    if std::env::var_os("ATTACHE_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(known, text, "{}: ATTACHE_BLESS=1 writes it", path.display());
}

/// Whether the engine takes the policy for rejected, or accepted and not in force.
fn is_rejected(object: &Value) -> bool {
    let config = Configuration::from_text(None).unwrap();
    let mut object = object.clone();
    object["spec"] = json!({"targetRefs": [{"group": "", "kind": "Service", "name": "none"}],
                            "targetRef": {"group": "", "kind": "Service", "name": "none"}});
    let read = testing::cases::object(&object);
    let key = read.key.clone();
    // No kind is listed, so the ancestors may exist.
    let snapshot = Snapshot::new(config.rules(testing::builtin()));
    let snapshot = snapshot.apply(Change::Applied(read.into()));
    let gk: &GroupKind = &key.gk;
    let policy = snapshot.policies(gk).next().unwrap();
    let status = ControllerStatus::collect(&snapshot, policy);
    matches!(
        status.opinion,
        CombinedAcceptance::Rejected | CombinedAcceptance::Divided
    ) || status.not_enforced.is_some()
}

/// The name of the controller of the first class.
fn controller(common: &[Value]) -> String {
    let mut classes = common
        .iter()
        .filter(|object| object["kind"] == "GatewayClass");
    let name = classes
        .next()
        .map(|class| class["spec"]["controllerName"].as_str().unwrap());
    name.unwrap_or_default().to_owned()
}

/// `Kind.group` of a policy, which is named as `Kind/namespace/name`.
fn kind(scenario: &Scenario, policy: &str) -> String {
    let (kind, _) = policy.split_once('/').unwrap();
    let mut objects = scenario
        .state
        .iter()
        .filter(|object| object["kind"] == kind);
    let api_version = objects.next().unwrap()["apiVersion"].as_str().unwrap();
    format!("{kind}.{}", api_version.split_once('/').unwrap().0)
}

fn ancestors(by_ancestor: &BTreeMap<String, String>, controller: &str) -> Value {
    let entries = by_ancestor.iter().map(|(ancestor, words)| {
        let (kind, name) = ancestor.split_once('/').unwrap();
        let (namespace, name) = name.split_once('/').unwrap();
        json!({
            "ancestorRef": {"kind": kind, "namespace": namespace, "name": name},
            "controllerName": controller,
            "conditions": list(words),
        })
    });
    json!({"ancestors": entries.collect::<Vec<_>>()})
}

/// Istio writes one condition per policy, of its targets the worst or the last; here all of them are there.
fn conditions(by_ancestor: &BTreeMap<String, String>, _: &str) -> Value {
    let all = by_ancestor.values().flat_map(|words| list(words));
    json!({"conditions": all.collect::<Vec<_>>()})
}

/// The conditions in `Accepted Overridden Ready=False/Pending`.
fn list(words: &str) -> Vec<Value> {
    let condition = |word: &str| {
        let (name, rest) = word.split_once('=').unwrap_or((word, "True"));
        let (status, reason) = rest.split_once('/').unwrap_or((rest, name));
        json!({"type": name, "status": status, "reason": reason, "observedGeneration": 2})
    };
    words.split_whitespace().map(condition).collect()
}
