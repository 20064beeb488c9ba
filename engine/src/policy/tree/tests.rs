//! Tests of patching and comparing trees.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{ByEntry, Lists, MergeUnit, Setting, Tree};
use crate::model::ids::{GroupKind, ObjectKey};

const EVERY: ByEntry<'static> = ByEntry::All;

fn read(value: Value, policy: &str) -> Tree {
    let policy = ObjectKey::new(GroupKind::new("x.io", "Policy"), "a", policy);
    let keys = BTreeMap::from([("items".to_owned(), "name".to_owned())]);
    let lists = Lists {
        keys: &keys,
        combined: &BTreeMap::new(),
        adding_up: &[],
        by_policy: &[],
        policy: &policy,
    };
    Tree::read(value, Some(&lists), &|value| Setting {
        value: value.into(),
        policy: policy.clone(),
        strategy: None,
        is_controller_default: false,
    })
}

fn values() -> [Value; 12] {
    [
        json!({}),
        json!({"a": {}}),
        json!({"a": {"b": null}}),
        json!({"a": {"b": 1}, "c": null}),
        json!({"a": {"b": 1, "c": {"d": null}}}),
        json!({"a": null}),
        json!({"a": []}),
        json!({"items": [{"name": "x", "v": 1}, {"name": "y"}]}),
        json!({"items": [{"name": "y"}, {"name": "x", "v": 1}]}),
        json!({"items": [{"name": "x", "v": null}]}),
        json!({"items": [{"name": "x"}]}),
        json!({"items": {"name": "x"}}),
    ]
}

/// All sample trees, and each patched onto each.
fn trees() -> Vec<Tree> {
    let mut trees: Vec<Tree> = Vec::new();
    for value in &values() {
        trees.push(read(value.clone(), "one"));
        trees.push(read(value.clone(), "other"));
        let patched = values().into_iter().map(|over| {
            let mut tree = read(value.clone(), "under");
            tree.patch(&read(over, "over"), MergeUnit::Fields, EVERY);
            tree
        });
        trees.extend(patched);
    }
    trees
}

/// The subtree at a path, or the nearest one above it.
fn nearest<'a>(tree: &'a Tree, path: &[Arc<str>]) -> &'a Tree {
    let (Some((key, below_key)), tree) = (path.split_first(), without(tree)) else {
        return without(tree);
    };
    let below = match tree {
        Tree::Map(map) => map.get(key),
        Tree::List(list) => list.iter().find(|(k, _)| k == key).map(|(_, tree)| tree),
        _ => None,
    };
    below.map_or(tree, |below| nearest(below, below_key))
}

fn without(tree: &Tree) -> &Tree {
    match tree {
        Tree::Replacement(tree) => without(tree),
        tree => tree,
    }
}

#[test]
fn leaves_are_held_against_what_is_nearest() {
    let trees = trees();
    for (one, other) in trees
        .iter()
        .flat_map(|one| trees.iter().map(move |o| (one, o)))
    {
        let (mut held, mut leaves) = (Vec::new(), Vec::new());
        one.visit(&mut Vec::new(), &mut |path, _| leaves.push(path.clone()));
        one.visit_in(other, &mut Vec::new(), &mut |path,
                                                   _,
                                                   there: &super::Counterpart<
            '_,
        >| {
            let there = there.tree;
            held.push(path.clone());
            assert_eq!(there, nearest(other, path), "{one:?} {other:?}");
        });
        assert_eq!(held, leaves);
    }
}

#[test]
fn trees_are_the_same_where_their_json_is() {
    let trees = trees();
    let json = |tree: &Tree| tree.json("", &mut |_, _| {});
    for (one, other) in trees
        .iter()
        .flat_map(|one| trees.iter().map(move |o| (one, o)))
    {
        assert_eq!(
            one.is_same(other),
            json(one) == json(other),
            "{one:?} {other:?}"
        );
    }
}

#[test]
fn a_setting_is_taken_over_whatever_stands_at_its_path() {
    let lasting = || read(json!({"disable": {}}), "above");
    let path = ["auth".to_owned(), "ext".to_owned()];
    let (of_above, of_below) = (
        read(json!({"auth": {"ext": {"disable": {}}}}), "above"),
        "below",
    );
    for below in [
        json!({}),
        json!({"auth": {}}),
        json!({"auth": null}),
        json!({"auth": 1}),
        json!({"auth": {"ext": {"url": "x"}}}),
    ] {
        let mut tree = read(below, of_below);
        tree.copy_from(&lasting(), &path);
        assert_eq!(tree, of_above);
    }
    // The fields beside it stay.
    let mut tree = read(json!({"auth": {"jwt": 1}, "cors": 1}), "below");
    tree.copy_from(&lasting(), &path);
    assert_eq!(tree.at(&path), Some(&lasting()));
    let kept = |key: &str| [key.to_owned()];
    assert!(tree.at(&kept("cors")).is_some());
    assert!(tree.at(&["auth".to_owned(), "jwt".to_owned()]).is_some());
}
