//! Enumerates GEP-713's order of precedence and compares it with the engine's fold.
//!
//! A is the least specific level, and the promise to users is
//! `A override > B override > C override > C default > B default > A default`: field by field for
//! patch, the whole spec for atomic. The oracle below walks down this ranking and never merges
//! anything, so it shares no idea with the fold.

use std::collections::BTreeMap;
use std::sync::Arc;

use attache::engine::effective::Resolver;
use attache::engine::kinds::profile::Control;
use attache::engine::merge::{EffectivePolicy, TargetFields, fold_levels};
use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::engine::model::level::Level;
use attache::engine::model::object::Object;
use attache::engine::policy::Policy;
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

const GROUP: &str = "policies.example.com";
const GATEWAY_API: &str = "gateway.networking.k8s.io";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Strategy {
    overrides: bool,
    patch: bool,
}

const STRATEGIES: [Strategy; 4] = [
    Strategy::new(false, false),
    Strategy::new(false, true),
    Strategy::new(true, false),
    Strategy::new(true, true),
];

impl Strategy {
    const fn new(overrides: bool, patch: bool) -> Self {
        Self { overrides, patch }
    }

    fn name(self) -> String {
        let op = if self.patch { "Patch" } else { "Atomic" };
        let direction = if self.overrides {
            "Overrides"
        } else {
            "Defaults"
        };
        format!("{op}{direction}")
    }
}

/// A policy of one level: a strategy and fields. The value of a field is the level that set it.
#[derive(Clone, Debug)]
struct Spec {
    strategy: Strategy,
    fields: Fields,
}

type Fields = BTreeMap<String, u64>;

/// The expected fields on a path, by the ranking; the first spec is the least specific.
fn oracle(specs: &[Spec]) -> Fields {
    let levels = 0..specs.len();
    let overrides = levels.clone().filter(|i| specs[*i].strategy.overrides);
    let defaults = levels.rev().filter(|i| !specs[*i].strategy.overrides);
    let ranking: Vec<usize> = overrides.chain(defaults).collect();
    // An atomic policy applies entirely or not at all: overrides exclude everything more specific, defaults yield to
    // anything more specific.
    let shut_out = |i: usize| {
        let mut above = specs[..i].iter();
        above.any(|spec| spec.strategy == Strategy::new(true, false))
    };
    let gives_way =
        |i: usize| specs[i].strategy == Strategy::new(false, false) && i + 1 < specs.len();
    let mut result = Fields::new();
    for i in ranking {
        if !shut_out(i) && !gives_way(i) {
            for (field, value) in &specs[i].fields {
                result.entry(field.clone()).or_insert(*value);
            }
        }
    }
    result
}

/// The proposals' procedure, to the letter: the least specific pair is popped first, merged by the strategy of the
/// established one, and pushed back with the strategy of the other.
fn stack_procedure(specs: &[Spec]) -> Fields {
    let mut stack: Vec<Spec> = specs.iter().rev().cloned().collect();
    while stack.len() > 1 {
        let (a, b) = (stack.pop().unwrap(), stack.pop().unwrap());
        let strategy = b.strategy;
        let (winner, loser) = if a.strategy.overrides {
            (a.fields, b.fields)
        } else {
            (b.fields, a.fields)
        };
        let mut fields = winner;
        if a.strategy.patch {
            for (field, value) in loser {
                fields.entry(field).or_insert(value);
            }
        }
        stack.push(Spec { strategy, fields });
    }
    stack.pop().map(|spec| spec.fields).unwrap_or_default()
}

/// Every combination of strategies on this many levels.
fn combinations(strategies: &[Strategy], levels: usize) -> Vec<Vec<Strategy>> {
    (0..levels).fold(vec![Vec::new()], |shorter, _| {
        let longer = |c: &Vec<Strategy>| {
            let with = |s: &Strategy| c.iter().copied().chain([*s]).collect();
            strategies.iter().map(with).collect::<Vec<_>>()
        };
        shorter.iter().flat_map(longer).collect()
    })
}

/// A field for every set of levels, which covers every way to overlap or be disjoint.
fn every_overlap(strategies: &[Strategy]) -> Vec<Spec> {
    let sets = 1..1_u64 << strategies.len();
    let fields = |level: usize| {
        let sets_at_level = sets.clone().filter(|set| set >> level & 1 == 1);
        sets_at_level
            .map(|set| (format!("f{set:04b}"), level as u64))
            .collect()
    };
    let specs = strategies.iter().enumerate();
    specs
        .map(|(level, strategy)| Spec {
            strategy: *strategy,
            fields: fields(level),
        })
        .collect()
}

/// One field that all levels set, and one that only each level sets.
fn common_and_own(strategies: &[Strategy]) -> Vec<Spec> {
    let specs = strategies.iter().enumerate();
    specs
        .map(|(level, strategy)| Spec {
            strategy: *strategy,
            fields: [("common".to_owned(), level as u64)]
                .into_iter()
                .chain([(format!("own{level}"), level as u64)])
                .collect(),
        })
        .collect()
}

fn object(value: &Value) -> Object {
    let version = value["apiVersion"].as_str().unwrap();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let gk = GroupKind::new(group, value["kind"].as_str().unwrap());
    Object::from_json(&gk, &to_raw_value(value).unwrap()).unwrap()
}

fn snapshot(objects: &[Value]) -> Snapshot {
    let changes = objects
        .iter()
        .map(|value| Change::Applied(Arc::new(object(value))));
    changes.fold(Snapshot::new(Arc::default()), |s, change| s.apply(change))
}

fn crd(kind: &str, more: &Value) -> Value {
    let mut fields = json!({"targetRefs": {"type": "array", "items": {"properties":
        {"group": {}, "kind": {}, "name": {}, "sectionName": {}}}}});
    let more = more.as_object().unwrap().clone();
    fields.as_object_mut().unwrap().extend(more);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": kind, "labels": {"gateway.networking.k8s.io/policy": "inherited"}},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "names": {"kind": kind, "plural": kind},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"properties": {"spec": {
                    "x-kubernetes-preserve-unknown-fields": true, "properties": fields}}}}}],
        },
    })
}

/// A kind with all four strategies.
fn kind() -> GroupKind {
    GroupKind::new(GROUP, "ColorPolicy")
}

/// A Gateway with one listener, and a route with one rule.
fn state() -> Vec<Value> {
    let names = STRATEGIES.map(Strategy::name);
    let meta = json!({"namespace": "ns", "name": "it"});
    vec![
        crd(
            "ColorPolicy",
            &json!({"mergeStrategy": {"type": "string", "enum": names}}),
        ),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}),
        json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": meta,
            "spec": {"gatewayClassName": "c",
                     "listeners": [{"name": "web", "port": 80, "protocol": "HTTP"}]}}),
        json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": meta,
            "spec": {"parentRefs": [{"name": "it"}], "rules": [{"name": "all"}]}}),
    ]
}

/// The policy of a level on a target; the higher the level, the newer the policy.
fn policy(level: usize, spec: &Spec, target: &str) -> Value {
    let (kind, section) = match target.split_once('#') {
        Some((kind, section)) => (kind, Some(section)),
        None => (target, None),
    };
    let (group, name) = if kind == "Namespace" {
        ("", "ns")
    } else {
        (GATEWAY_API, "it")
    };
    let mut settings: Map<String, Value> = Map::new();
    for (field, value) in &spec.fields {
        settings.insert(field.clone(), json!(value));
    }
    let reference = json!({"group": group, "kind": kind, "name": name, "sectionName": section});
    settings.insert("targetRefs".into(), json!([reference]));
    settings.insert("mergeStrategy".into(), json!(spec.strategy.name()));
    json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "ColorPolicy",
        "metadata": {"namespace": "ns", "name": format!("p{level}"),
                     "creationTimestamp": format!("2026-01-01T00:00:{level:02}Z")},
        "spec": settings,
    })
}

/// The fields of a result; each must come from the policy whose level is its value.
fn fields(effective: &EffectivePolicy) -> Fields {
    let leaves = effective.leaves().into_iter();
    leaves
        .map(|(path, leaf)| {
            let level = leaf.value.value().as_u64().unwrap();
            assert_eq!(*leaf.policy.name, format!("p{level}"), "{path:?}");
            (path.join("."), level)
        })
        .collect()
}

/// The engine's fold of specs, level by level.
fn fold(state: &Snapshot, specs: &[Spec]) -> Fields {
    let profile = state.profile(&kind()).unwrap();
    let read = |(level, spec): (usize, &Spec)| {
        let object = object(&policy(level, spec, "Gateway"));
        vec![Arc::new(Policy::read(Arc::new(object), profile.clone()))]
    };
    let levels: Vec<Vec<Arc<Policy>>> = specs.iter().enumerate().map(read).collect();
    let levels: Vec<(Level, &[Arc<Policy>])> = levels
        .iter()
        .map(|level| (Level::Route, level.as_slice()))
        .collect();
    fields(&fold_levels(profile, &levels, None))
}

#[test]
fn the_fold_keeps_the_order_of_precedence() {
    let state = snapshot(&state());
    for levels in 2..=4 {
        for strategies in combinations(&STRATEGIES, levels) {
            let specs = every_overlap(&strategies);
            assert_eq!(fold(&state, &specs), oracle(&specs), "{strategies:?}");
        }
    }
}

#[test]
fn paths_of_a_snapshot_keep_the_order_of_precedence() {
    let placements: [&[&str]; 8] = [
        &["Gateway", "HTTPRoute"],
        &["Gateway#web", "HTTPRoute#all"],
        &["Gateway", "Gateway#web", "HTTPRoute"],
        &["Namespace", "Gateway", "HTTPRoute"],
        // Two policies on one target merge like levels, with the older as the established one.
        &["Gateway", "Gateway", "HTTPRoute"],
        &["Gateway", "HTTPRoute", "HTTPRoute"],
        &["Gateway", "Gateway#web", "HTTPRoute", "HTTPRoute#all"],
        &["Namespace", "Gateway#web", "HTTPRoute", "HTTPRoute#all"],
    ];
    let state = snapshot(&state());
    let route = ObjectKey::new(GroupKind::gateway_api("HTTPRoute"), "ns", "it");
    for targets in placements {
        for strategies in combinations(&STRATEGIES, targets.len()) {
            let specs = every_overlap(&strategies);
            let mut now = state.clone();
            for (level, (spec, target)) in specs.iter().zip(targets).enumerate() {
                let policy = object(&policy(level, spec, target));
                now = now.apply(Change::Applied(Arc::new(policy)));
            }
            let groups = Resolver::new(&now).paths_through(&route, &kind());
            let paths: usize = groups
                .iter()
                .map(attache::engine::effective::PathGroup::path_count)
                .sum();
            assert_eq!(paths, 1);
            let found = fields(&groups[0].effective);
            assert_eq!(found, oracle(&specs), "{targets:?} {strategies:?}");
        }
    }
}

/// The number of combinations for which the proposals' procedure differs from the fold, and the number of all.
fn differences(levels: usize, contents: impl Fn(&[Strategy]) -> Vec<Spec>) -> (usize, usize) {
    let state = snapshot(&state());
    let all = combinations(&STRATEGIES, levels);
    let differs = |strategies: &&Vec<Strategy>| {
        let specs = contents(strategies);
        stack_procedure(&specs) != fold(&state, &specs)
    };
    (all.iter().filter(differs).count(), all.len())
}

/// Compares the result for one effective target at the most specific level, field by field with the level that each
/// field came from. Every level has a policy that sets one field that all others set too, and one field that no other
/// sets. On three levels the strategies of the two higher ones decide; that of the most specific level never matters.
#[test]
fn the_stack_procedure_of_the_proposals_differs_from_the_fold() {
    assert_eq!(differences(2, common_and_own), (0, 16));
    assert_eq!(differences(3, common_and_own), (24, 64));
    assert_eq!(differences(4, common_and_own), (176, 256));
}

/// A field that A and C set and B does not shows one more pair: patch defaults over patch overrides, where the
/// procedure lets A's default win over C's.
#[test]
fn fields_that_only_some_levels_share_show_more_differences() {
    assert_eq!(differences(2, every_overlap), (0, 16));
    assert_eq!(differences(3, every_overlap), (28, 64));
    assert_eq!(differences(4, every_overlap), (192, 256));
}

/// Atomic alone, three levels: the whole result is the first of A override, B override, C override, C default, B
/// default, A default. `A override, B default, C anything` must give A; the procedure gives C.
#[test]
fn atomic_alone_breaks_the_precedence_in_the_stack_procedure_only() {
    let atomic = [STRATEGIES[0], STRATEGIES[2]];
    let state = snapshot(&state());
    let (mut by_stack, mut by_fold) = (Vec::new(), 0);
    for strategies in combinations(&atomic, 3) {
        let specs = common_and_own(&strategies);
        let overrides = specs.iter().position(|spec| spec.strategy.overrides);
        let first = overrides.unwrap_or(specs.len() - 1);
        assert_eq!(oracle(&specs), specs[first].fields);
        if stack_procedure(&specs) != specs[first].fields {
            by_stack.push(strategies.iter().map(|s| s.overrides).collect::<Vec<_>>());
        }
        by_fold += usize::from(fold(&state, &specs) != specs[first].fields);
    }
    assert_eq!(by_stack, [[true, false, false], [true, false, true]]);
    assert_eq!(by_fold, 0);
}

/// The legacy dialect: both stanzas in one policy, and the object's own value between overrides and defaults. One field
/// for every set of the seven places that can set it.
#[test]
fn the_older_dialect_keeps_the_order_of_precedence() {
    let stanza =
        json!({"type": "object", "properties": {}, "x-kubernetes-preserve-unknown-fields": true});
    let mut definition = crd(
        "TimeoutPolicy",
        &json!({"defaults": stanza, "overrides": stanza}),
    );
    // It has a single target.
    let fields = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
        ["spec"]["properties"]
        .as_object_mut()
        .unwrap();
    let list = fields.remove("targetRefs").unwrap();
    fields.insert("targetRef".to_owned(), list["items"].clone());
    let state = snapshot(&[definition]);
    let profile = state
        .profile(&GroupKind::new(GROUP, "TimeoutPolicy"))
        .unwrap();
    assert!(profile.strategies.value.follows_2021);
    // The ranking: three overrides, the object's own value, three defaults.
    let sets = 1..1_u64 << 7;
    let settings = |rank: u64| -> Map<String, Value> {
        let sets_at_rank = sets.clone().filter(|set| set >> rank & 1 == 1);
        sets_at_rank
            .map(|set| (format!("f{set}"), json!(rank)))
            .collect()
    };
    let level = |overrides: u64, defaults: u64| {
        let policy = json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": "TimeoutPolicy",
            "metadata": {"namespace": "ns", "name": format!("p{overrides}")},
            "spec": {"overrides": settings(overrides), "defaults": settings(defaults)},
        });
        vec![Arc::new(Policy::read(
            Arc::new(object(&policy)),
            profile.clone(),
        ))]
    };
    let levels = [level(0, 6), level(1, 5), level(2, 4)];
    let levels: Vec<(Level, &[Arc<Policy>])> = levels
        .iter()
        .map(|level| (Level::Route, level.as_slice()))
        .collect();
    let route = ObjectKey::new(GroupKind::gateway_api("HTTPRoute"), "ns", "it");
    let set_itself = settings(3);
    let control = |(field, _): (&String, &Value)| Control {
        setting: vec![field.clone()],
        target: route.gk.clone(),
        field: field.clone(),
        zero_is_unset: false,
    };
    let controls: Vec<Control> = set_itself.iter().map(control).collect();
    let controls: Vec<&Control> = controls.iter().collect();
    let own = TargetFields::new(&route, &Value::Object(set_itself.clone()), &controls);
    let (spec, _) = fold_levels(profile, &levels, own.as_ref()).spec().unwrap();
    for set in sets {
        let first = u64::from(set.trailing_zeros());
        assert_eq!(spec[format!("f{set}")], json!(first), "{set:07b}");
    }
}

/// Age decides on one level, then `namespace/name`, in any order of arrival (GEP-713, conflict resolution; the times of
/// the proposal).
#[test]
fn the_older_is_established_in_any_order_of_arrival() {
    let spec = |value: u64| Spec {
        strategy: STRATEGIES[2],
        fields: [("common".to_owned(), value)].into(),
    };
    let named = |namespace: &str, name: &str, second: u64, value: u64| {
        let mut policy = policy(0, &spec(value), "Gateway");
        policy["metadata"] = json!({"namespace": namespace, "name": name,
            "creationTimestamp": format!("2021-07-15T01:02:0{second}Z")});
        policy
    };
    let cases = [
        (named("ns", "z", 3, 1), named("ns", "a", 4, 2)),
        (named("ns", "bar", 3, 1), named("ns", "baz", 3, 2)),
    ];
    let gateway = ObjectKey::new(GroupKind::gateway_api("Gateway"), "ns", "it");
    for (first, second) in cases {
        for order in [[&first, &second], [&second, &first]] {
            let mut objects = state();
            objects.extend(order.into_iter().cloned());
            let state = snapshot(&objects);
            let groups = Resolver::new(&state).paths_through(&gateway, &kind());
            let (spec, sources) = groups[0].effective.spec().unwrap();
            assert_eq!(spec, json!({"common": 1}));
            assert_eq!(sources[0].1.policy, object(&first).key);
        }
    }
}
