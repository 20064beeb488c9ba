//! Settings as a tree whose leaves know their source.

use std::cell::OnceCell;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::fuel;
use crate::kinds::profile::Strategy;
use crate::model::ids::ObjectKey;
use crate::model::json_text::JsonText;
use crate::model::maps::HashMap;
use crate::model::projected::token;
use crate::model::setting_path::SettingPath;

mod fields;
mod implied;
mod lists;
mod side_by_side;
mod subtree;

use fields::Fields;
use lists::FieldPlace;
pub(crate) use lists::{ByEntry, Lists, leaves_in};

/// A value and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// A scalar, a list, an empty object, or the `null` that removes what others set.
    pub value: JsonText,
    /// The policy, or the target itself for a value of its own.
    pub policy: ObjectKey,
    /// The strategy that applies to it; `None` for the target's own value.
    pub strategy: Option<Strategy>,
    /// Whether the policy does not write it: its controller takes this value when it merges the policy.
    pub is_controller_default: bool,
}

/// A tree of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    Leaf(Setting),
    Map(Fields),
    /// A list whose entries are identified by the value of a key, in order. An entry without a name is not in paths.
    List(Vec<(Arc<str>, Tree)>),
    /// A container that replaced something that was not one, and that replaces whatever it is patched onto: a later
    /// patch must not bring back what a policy removed or replaced.
    Replacement(Box<Tree>),
    /// Several settings at one place, each in force, from the least to the most specific.
    SideBySide(Vec<Tree>),
}

/// The part of another tree at the same path as a leaf, or the nearest one above it.
pub(crate) struct Counterpart<'a, K = ()> {
    pub(crate) tree: &'a Tree,
    /// The facts about that part, for all leaves with the same counterpart.
    pub(crate) known: OnceCell<K>,
}

/// The children of a container, by key.
enum Children<'a> {
    Nothing,
    Map(&'a Fields),
    /// For entries with the same name, the first one.
    List(HashMap<Arc<str>, usize>, &'a [(Arc<str>, Tree)]),
}

/// The units in which trees are merged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MergeUnit<'a> {
    /// Every field (RFC 7386).
    Fields,
    /// The subtrees at these paths are replaced as a whole; `*` matches any key that is not named by a longer path.
    Paths(&'a [Vec<String>]),
    /// Every entry of a map at the second level: the default for by-key.
    Entries,
    /// Every top-level field.
    TopFields,
}

// === impl Tree ===

impl Tree {
    /// Reads settings.
    pub(crate) fn read(
        value: Value,
        lists: Option<&Lists<'_>>,
        setting: &impl Fn(&Value) -> Setting,
    ) -> Self {
        Self::node(value, None, lists, setting)
    }

    fn node(
        value: Value,
        place: Option<FieldPlace<'_>>,
        lists: Option<&Lists<'_>>,
        setting: &impl Fn(&Value) -> Setting,
    ) -> Self {
        match value {
            // An empty object at the root is an empty map; below the root it is a value.
            Value::Object(map) if !map.is_empty() || place.is_none() => {
                let below = map.into_iter().map(|(key, value)| {
                    let tree =
                        Self::node(value, Some(FieldPlace::below(place, &key)), lists, setting);
                    (Arc::from(key), tree)
                });
                Self::Map(Fields::from_entries(below))
            }
            Value::Array(items) => {
                let name = |(i, item): (usize, &Value)| lists?.name(place?, i, item);
                let names: Option<Vec<String>> = items.iter().enumerate().map(name).collect();
                let Some(names) = names.filter(|names| !names.is_empty()) else {
                    return Self::Leaf(setting(&Value::Array(items)));
                };
                let entries = names.into_iter().zip(items);
                let read = |item| Self::node(item, Some(FieldPlace::NONE), lists, setting);
                Self::List(
                    entries
                        .map(|(name, item)| (name.into(), read(item)))
                        .collect(),
                )
            }
            value => Self::Leaf(setting(&value)),
        }
    }

    /// Settings that set nothing.
    pub(crate) fn empty() -> Self {
        Self::Map(Fields::default())
    }

    /// Whether it is a single value.
    pub(crate) fn is_leaf(&self) -> bool {
        match self {
            Self::Leaf(_) => true,
            Self::Replacement(tree) => tree.is_leaf(),
            Self::Map(_) | Self::List(_) | Self::SideBySide(_) => false,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Map(map) if map.is_empty())
    }

    /// Patches `over` onto this tree (RFC 7386, except that a `null` is kept). Lists are replaced as a whole, except
    /// those that are merged entry by entry.
    pub(crate) fn patch(&mut self, over: &Self, units: MergeUnit<'_>, by_entry: ByEntry<'_>) {
        self.patch_at(over, units, by_entry, &mut Vec::new());
    }

    fn patch_at<'a>(
        &mut self,
        over: &'a Self,
        units: MergeUnit<'_>,
        by_entry: ByEntry<'_>,
        path: &mut Vec<&'a str>,
    ) {
        if units.end_at(path) {
            *self = over.clone();
            return;
        }
        match (&mut *self, over) {
            (Self::Map(under), Self::Map(over)) => {
                under.join(over, |key, under, over| {
                    path.push(key);
                    under.patch_at(over, units, by_entry, path);
                    path.pop();
                });
            }
            (Self::List(under), Self::List(over)) if by_entry.applies_to(path) => {
                let mut places = places(under);
                for (key, over) in over {
                    path.push(key);
                    let place = *places.entry(key.clone()).or_insert(under.len());
                    match under.get_mut(place) {
                        Some((_, under)) => under.patch_at(over, units, by_entry, path),
                        None => under.push((key.clone(), over.clone())),
                    }
                    path.pop();
                }
            }
            (Self::Replacement(under), over) if !matches!(over, Self::Replacement(_)) => {
                under.patch_at(over, units, by_entry, path);
            }
            // A value that no policy writes replaces only a value that differs.
            (Self::Leaf(under), Self::Leaf(over))
                if over.is_controller_default && under.value == over.value => {}
            // An empty object does not change an existing object.
            (Self::Map(_), Self::Leaf(setting)) if setting.value.is_empty_object() => {}
            (under, over) if under.gives_way_to(over) => {
                *under = Self::Replacement(Box::new(over.clone()));
            }
            (under, over) => *under = over.clone(),
        }
    }

    /// Whether a container would replace something that is not one.
    fn gives_way_to(&self, over: &Self) -> bool {
        match over {
            Self::List(_) => true,
            Self::Map(_) => !self.is_object(),
            over => over.is_object() && !self.is_object(),
        }
    }

    fn is_object(&self) -> bool {
        match self {
            Self::Map(_) => true,
            Self::Leaf(setting) => setting.value.is_empty_object(),
            Self::List(_) | Self::Replacement(_) | Self::SideBySide(_) => false,
        }
    }

    /// The number of leaves; a leaf with a long path counts several times.
    pub(crate) fn leaves(&self) -> usize {
        let mut leaves = 0;
        self.visit(&mut Vec::new(), &mut |path, _| {
            leaves += leaf_at(path.iter().map(|key| bytes_of(key)).sum());
        });
        leaves
    }

    /// Visits the leaves in the order of their paths.
    pub(crate) fn visit<'a>(
        &'a self,
        path: &mut SettingPath,
        visit_leaf: &mut impl FnMut(&SettingPath, &'a Setting),
    ) {
        let mut below = |key: &Arc<str>, tree: &'a Self, is_named: bool| {
            path.extend(is_named.then(|| key.clone()));
            tree.visit(path, visit_leaf);
            path.truncate(path.len() - usize::from(is_named));
        };
        match self {
            Self::Leaf(setting) => visit_leaf(path, setting),
            Self::Map(map) => map.iter().for_each(|(key, tree)| below(key, tree, true)),
            Self::List(list) => list
                .iter()
                .for_each(|(key, tree)| below(key, tree, !key.is_empty())),
            Self::Replacement(tree) => tree.visit(path, visit_leaf),
            Self::SideBySide(each) => each.iter().for_each(|tree| tree.visit(path, visit_leaf)),
        }
    }

    /// Visits the leaves in the order of their paths, without the paths.
    pub(crate) fn each<'a>(&'a self, visit_setting: &mut impl FnMut(&'a Setting)) {
        match self {
            Self::Leaf(setting) => visit_setting(setting),
            Self::Map(map) => map.iter().for_each(|(_, tree)| tree.each(visit_setting)),
            Self::List(list) => list.iter().for_each(|(_, tree)| tree.each(visit_setting)),
            Self::Replacement(tree) => tree.each(visit_setting),
            Self::SideBySide(each) => each.iter().for_each(|tree| tree.each(visit_setting)),
        }
    }

    /// The source of all leaves; `None` if there are several.
    pub(crate) fn sole(&self) -> Option<&ObjectKey> {
        fn one<'a>(trees: impl Iterator<Item = &'a Tree>) -> Option<&'a ObjectKey> {
            let mut each = trees.map(Tree::sole);
            let first = each.next()??;
            each.all(|other| other == Some(first)).then_some(first)
        }
        match self {
            Self::Leaf(setting) => Some(&setting.policy),
            Self::Map(map) => one(map.iter().map(|(_, tree)| tree)),
            Self::List(list) => one(list.iter().map(|(_, tree)| tree)),
            Self::Replacement(tree) => tree.sole(),
            Self::SideBySide(each) => one(each.iter()),
        }
    }

    /// Visits the leaves in the order of their paths, each with its counterpart in another tree.
    pub(crate) fn visit_in<'a, K>(
        &'a self,
        other: &'a Self,
        path: &mut SettingPath,
        visit_leaf: &mut impl FnMut(&SettingPath, &'a Setting, &Counterpart<'a, K>),
    ) {
        if let Self::Replacement(other) = other {
            return self.visit_in(other, path, visit_leaf);
        }
        if let Self::SideBySide(each) = other {
            let other = self.counterpart(each).unwrap_or(other);
            return self.visit_in(other, path, visit_leaf);
        }
        let there = Children::from_tree(other);
        let this_counterpart = Counterpart {
            tree: other,
            known: OnceCell::new(),
        };
        let mut below = |key: &Arc<str>, tree: &'a Self, is_named: bool| {
            path.extend(is_named.then(|| key.clone()));
            match there.get(key) {
                Some(other) => tree.visit_in(other, path, visit_leaf),
                None => tree.visit(path, &mut |path, setting| {
                    visit_leaf(path, setting, &this_counterpart);
                }),
            }
            path.truncate(path.len() - usize::from(is_named));
        };
        match self {
            Self::Leaf(setting) => visit_leaf(path, setting, &this_counterpart),
            Self::Map(map) => map.iter().for_each(|(key, tree)| below(key, tree, true)),
            Self::List(list) => list
                .iter()
                .for_each(|(key, tree)| below(key, tree, !key.is_empty())),
            Self::Replacement(tree) => tree.visit_in(other, path, visit_leaf),
            Self::SideBySide(each) => each
                .iter()
                .for_each(|tree| tree.visit_in(other, path, visit_leaf)),
        }
    }

    /// Whether both are the same JSON, regardless of sources and removals.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Replacement(one), other) => one.is_same(other),
            (one, Self::Replacement(other)) => one.is_same(other),
            (Self::Leaf(one), Self::Leaf(other)) => one.value == other.value,
            (Self::Map(one), Self::Map(other)) => {
                let one = one.iter().filter(|(_, tree)| tree.is_there());
                let other = other.iter().filter(|(_, tree)| tree.is_there());
                same(one, other, |one, other| {
                    one.0 == other.0 && one.1.is_same(&other.1)
                })
            }
            (Self::List(one), Self::List(other)) => {
                let one = one.iter().filter(|(_, tree)| tree.is_there());
                let other = other.iter().filter(|(_, tree)| tree.is_there());
                same(one, other, |one, other| one.1.is_same(&other.1))
            }
            (Self::SideBySide(one), Self::SideBySide(other)) => {
                same(one.iter(), other.iter(), |one, other| one.is_same(other))
            }
            (one, other) => one.json("", &mut |_, _| {}) == other.json("", &mut |_, _| {}),
        }
    }

    /// Whether it is anything but a removal.
    fn is_there(&self) -> bool {
        match self {
            Self::Leaf(setting) => !setting.value.is_null(),
            Self::Replacement(tree) => tree.is_there(),
            Self::Map(_) | Self::List(_) | Self::SideBySide(_) => true,
        }
    }

    /// Converts to JSON, without removed settings; `add_pointer` gets the JSON pointer of each leaf.
    pub(crate) fn json(
        &self,
        pointer: &str,
        add_pointer: &mut impl FnMut(&str, &Setting),
    ) -> Option<Value> {
        match self {
            Self::Leaf(setting) => {
                add_pointer(pointer, setting);
                (!setting.value.is_null()).then(|| setting.value.value())
            }
            Self::Map(map) => {
                let mut object = Map::new();
                for (key, tree) in map.iter() {
                    let token = token(key);
                    let value = tree.json(&format!("{pointer}/{token}"), add_pointer);
                    object.extend(value.map(|value| (key.to_string(), value)));
                }
                Some(Value::Object(object))
            }
            Self::List(list) => {
                let mut items = Vec::new();
                for (_, tree) in list {
                    items.extend(tree.json(&format!("{pointer}/{}", items.len()), add_pointer));
                }
                Some(Value::Array(items))
            }
            Self::Replacement(tree) => tree.json(pointer, add_pointer),
            Self::SideBySide(each) => {
                let each = each.iter().enumerate();
                let values =
                    each.filter_map(|(i, tree)| tree.json(&format!("{pointer}/{i}"), add_pointer));
                Some(Value::Array(values.collect()))
            }
        }
    }
}

// === impl Children ===

impl<'a> Children<'a> {
    fn from_tree(tree: &'a Tree) -> Self {
        match tree {
            Tree::Leaf(_) | Tree::SideBySide(_) => Self::Nothing,
            Tree::Map(map) => Self::Map(map),
            Tree::List(list) => Self::List(places(list), list),
            Tree::Replacement(tree) => Self::from_tree(tree),
        }
    }

    fn get(&self, key: &str) -> Option<&'a Tree> {
        match self {
            Self::Nothing => None,
            Self::Map(map) => map.get(key),
            Self::List(places, list) => list.get(*places.get(key)?).map(|(_, tree)| tree),
        }
    }
}

// === impl MergeUnit ===

impl MergeUnit<'_> {
    fn end_at(self, path: &[&str]) -> bool {
        match self {
            MergeUnit::Fields => false,
            MergeUnit::Entries => path.len() == 2,
            MergeUnit::TopFields => path.len() == 1,
            MergeUnit::Paths(units) => {
                let same = |(pattern, key): (&String, &&str)| pattern == "*" || pattern == key;
                let is_it = |unit: &Vec<String>| {
                    unit.len() == path.len() && unit.iter().zip(path).all(same)
                };
                // A pattern that names the field and something in it is more specific than `*`.
                let is_below = |unit: &Vec<String>| {
                    let mut keys = unit.iter().zip(path);
                    unit.len() > path.len() && keys.all(|(pattern, key)| pattern == key)
                };
                units.iter().any(is_it) && !units.iter().any(is_below)
            }
        }
    }
}

/// The number of leaves that a leaf with a path of this length counts as.
fn leaf_at(path: usize) -> usize {
    1 + path / fuel::PATH
}

/// The length that a key adds to a path.
fn bytes_of(key: &str) -> usize {
    fuel::KEY + key.len()
}

/// The index of each entry of a list; for entries with the same name, of the first one.
fn places(list: &[(Arc<str>, Tree)]) -> HashMap<Arc<str>, usize> {
    let mut index_by_name = HashMap::default();
    for (place, (key, _)) in list.iter().enumerate() {
        index_by_name.entry(key.clone()).or_insert(place);
    }
    index_by_name
}

/// Whether both have the same number of items, and each equals its counterpart.
fn same<A, B>(
    mut one: impl Iterator<Item = A>,
    mut other: impl Iterator<Item = B>,
    same: impl Fn(&A, &B) -> bool,
) -> bool {
    loop {
        match (one.next(), other.next()) {
            (Some(one), Some(other)) if same(&one, &other) => {}
            (None, None) => return true,
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests;
