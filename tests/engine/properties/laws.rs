//! Laws of merging, for any settings.

use std::sync::Arc;

use attache::engine::kinds::profile::Profile;
use attache::engine::merge::{AtomicLevel, EffectivePolicy, fold_levels, winner};
use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::engine::model::level::Level;
use attache::engine::model::setting_path::SettingPath;
use attache::engine::policy::Policy;
use attache::engine::policy::Setting;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::events::{GROUP, empty, object};

type Spec = (&'static str, Value);

const ALL: [&str; 4] = [
    "AtomicDefaults",
    "AtomicOverrides",
    "PatchDefaults",
    "PatchOverrides",
];
const PATCH: [&str; 2] = ["PatchDefaults", "PatchOverrides"];

/// Settings in which each field is a map in all policies or in none.
fn shaped() -> impl Strategy<Value = Value> {
    let value = || {
        select(vec![
            json!(null),
            json!(0),
            json!("t"),
            json!([1, {"a": null}]),
            json!(true),
        ])
    };
    let flat = || btree_map(select(vec!["x", "y", "z"]), value(), 0..4);
    let deep = btree_map(select(vec!["k", "l"]), flat().prop_map(|m| json!(m)), 1..3);
    (flat(), deep).prop_map(|(flat, deep)| {
        let mut spec = json!(flat);
        for (field, map) in deep {
            if map != json!({}) {
                spec[field] = map;
            }
        }
        spec
    })
}

/// Settings in which a field may be a map in one policy and a value or `null` in another.
fn shapeless() -> impl Strategy<Value = Value> {
    let leaf = select(vec![
        json!(null),
        json!(0),
        json!("t"),
        json!([1]),
        json!({}),
    ]);
    let tree = leaf.prop_recursive(3, 12, 3, |inner| {
        btree_map(select(vec!["x", "y", "z"]), inner, 0..3).prop_map(|map| json!(map))
    });
    btree_map(select(vec!["x", "y"]), tree, 0..3).prop_map(|map| json!(map))
}

fn specs(
    strategies: &'static [&'static str],
    settings: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Vec<Spec>> {
    vec((select(strategies), settings), 1..5)
}

fn profile_of(kind: &str) -> Arc<Profile> {
    let kind = GroupKind::new(GROUP, kind);
    empty().profile(&kind).unwrap().clone()
}

fn policy(profile: &Arc<Profile>, name: &str, (strategy, settings): &Spec) -> Arc<Policy> {
    let mut spec = settings.clone();
    spec["mergeStrategy"] = json!(strategy);
    let value = json!({"apiVersion": format!("{GROUP}/v1"), "kind": &*profile.gk.kind,
        "metadata": {"namespace": "a", "name": name}, "spec": spec});
    Arc::new(Policy::read(Arc::new(object(&value)), profile.clone()))
}

/// The effective policy with one policy per level, the least specific first.
fn fold(specs: &[Spec]) -> EffectivePolicy {
    let profile = profile_of("Newest");
    let policy = |(i, spec): (usize, &Spec)| vec![policy(&profile, &format!("p{i}"), spec)];
    let levels: Vec<Vec<Arc<Policy>>> = specs.iter().enumerate().map(policy).collect();
    fold_levels(&profile, &on_routes(&levels), None)
}

fn on_routes(levels: &[Vec<Arc<Policy>>]) -> Vec<(Level, &[Arc<Policy>])> {
    let levels = levels.iter();
    levels
        .map(|level| (Level::Route, level.as_slice()))
        .collect()
}

fn spec(specs: &[Spec]) -> Value {
    fold(specs).spec().unwrap().0
}

/// RFC 7386 patches in order of precedence, the lowest first.
fn patched(specs: &[Spec]) -> Value {
    let with_strategy = |wanted: &'static str| specs.iter().filter(move |(s, _)| *s == wanted);
    let mut result = json!({});
    for (_, patch) in with_strategy("PatchDefaults").chain(with_strategy("PatchOverrides").rev()) {
        json_patch::merge(&mut result, patch);
    }
    result
}

fn leaves(effective: &EffectivePolicy) -> Vec<(SettingPath, Setting)> {
    let leaves = effective.leaves().into_iter();
    leaves.map(|(path, leaf)| (path, leaf.clone())).collect()
}

fn leaves_from(effective: &EffectivePolicy, policy: &str) -> Vec<(SettingPath, Setting)> {
    let key = ObjectKey::new(GroupKind::new(GROUP, "Newest"), "a", policy);
    let mut leaves = leaves(effective);
    leaves.retain(|(_, leaf)| leaf.policy == key);
    leaves
}

proptest! {
    #[test]
    fn patches_are_those_of_the_rfc(specs in specs(&PATCH, shaped())) {
        prop_assert_eq!(spec(&specs), patched(&specs));
    }

    #[test]
    fn patches_are_those_of_the_rfc_whatever_their_shape(specs in specs(&PATCH, shapeless())) {
        prop_assert_eq!(spec(&specs), patched(&specs));
    }

    /// For atomic strategies, finding the winner level by level gives the same result as merging all policies.
    #[test]
    fn an_atomic_winner_equals_the_merge_of_all(
        kind in select(vec!["Newest", "Deep"]),
        levels in vec(specs(&ALL[..2], shaped()), 1..5),
    ) {
        let profile = profile_of(kind);
        let read = |(i, level): (usize, &Vec<Spec>)| -> Vec<Arc<Policy>> {
            let each = level.iter().enumerate();
            each.map(|(j, spec)| policy(&profile, &format!("p{i}{j}"), spec)).collect()
        };
        let levels: Vec<Vec<Arc<Policy>>> = levels.iter().enumerate().map(read).collect();
        let levels = on_routes(&levels);
        let won = winner(levels.iter().map(|(_, level)| (*level, AtomicLevel::summarize(level)))).unwrap();
        prop_assert_eq!(won.effective(), fold_levels(&profile, &levels, None));
    }

    #[test]
    fn a_policy_attached_twice_acts_once(specs in specs(&ALL, shapeless())) {
        let twice: Vec<Spec> = specs.iter().flat_map(|s| [s.clone(), s.clone()]).collect();
        prop_assert_eq!(spec(&twice), spec(&specs));
    }

    #[test]
    fn an_override_at_the_top_survives_anything_below(
        over in select(vec!["AtomicOverrides", "PatchOverrides"]),
        settings in shaped(),
        below in specs(&ALL, shapeless()),
    ) {
        let top = (over, settings);
        let alone = leaves(&fold(std::slice::from_ref(&top)));
        let all: Vec<Spec> = std::iter::once(top).chain(below).collect();
        prop_assert_eq!(leaves_from(&fold(&all), "p0"), alone);
    }

    #[test]
    fn a_default_never_beats_what_is_more_specific(
        default in select(vec!["AtomicDefaults", "PatchDefaults"]),
        settings in shapeless(),
        below in specs(&ALL, shaped()),
    ) {
        // The policies below keep their names.
        let nothing = ("PatchDefaults", json!({}));
        let without: Vec<Spec> = std::iter::once(nothing).chain(below.clone()).collect();
        let with: Vec<Spec> = std::iter::once((default, settings)).chain(below).collect();
        let with = leaves(&fold(&with));
        // A policy without settings is visible only if nothing else is set; it has no setting to keep.
        let has_settings = |(path, _): &(SettingPath, Setting)| !path.is_empty();
        for leaf in leaves(&fold(&without)).into_iter().filter(has_settings) {
            prop_assert!(with.contains(&leaf), "{leaf:?} of {with:?}");
        }
    }
}
