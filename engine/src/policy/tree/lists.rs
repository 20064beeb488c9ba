//! Lists whose entries have an identity, and their number of leaves before they are read.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{MergeUnit, Tree, bytes_of, leaf_at};
use crate::model::ids::ObjectKey;
use crate::policy::targets::value_at;

/// Lists whose entries have an identity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lists<'a> {
    /// Lists with entries identified by a key: the name of the field that holds the list, and the key.
    pub(crate) keys: &'a BTreeMap<String, String>,
    /// The same for lists whose entries are always combined. Entries without the key share one
    /// name.
    pub(crate) combined: &'a BTreeMap<String, String>,
    /// Lists with entries identified by their index and their policy: names of fields.
    pub(crate) adding_up: &'a [String],
    /// Lists with such entries that add up only between levels: the names of the field above each
    /// list and of its own field.
    pub(crate) by_policy: &'a [[String; 2]],
    /// The policy.
    pub(crate) policy: &'a ObjectKey,
}

/// The place of a value: its field, and the field above that.
#[derive(Clone, Copy)]
pub(super) struct FieldPlace<'a> {
    above: &'a str,
    field: &'a str,
}

/// The lists that are merged entry by entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ByEntry<'a> {
    /// All lists whose entries have an identity.
    All,
    /// Only the lists whose entries are always combined, by the names of their fields.
    Combined(&'a BTreeMap<String, String>),
}

// === impl Lists ===

impl Lists<'_> {
    /// The name that identifies an entry of a list; `None` if entries have no identity.
    pub(super) fn name(
        &self,
        place: FieldPlace<'_>,
        index: usize,
        entry: &Value,
    ) -> Option<String> {
        let FieldPlace { above, field } = place;
        let mut by_policy = self.by_policy.iter();
        if self.adding_up.iter().any(|name| name == field)
            || by_policy.any(|[one, name]| one == above && name == field)
        {
            return Some(format!("{}={index}", self.policy.path()));
        }
        if let Some(key) = self.combined.get(field) {
            let entry = entry.as_object().is_some().then_some(entry)?;
            let value = value_at(entry, key);
            let value = value.filter(|value| !value.is_null());
            return Some(value.map_or_else(String::new, |value| format!("{key}={}", text(value))));
        }
        let key = self.keys.get(field)?;
        Some(format!("{key}={}", text(entry.get(key)?)))
    }
}

// === impl FieldPlace ===

impl<'a> FieldPlace<'a> {
    /// The place of the root, and of an entry of a list.
    pub(super) const NONE: Self = Self {
        above: "",
        field: "",
    };

    pub(super) fn below(above: Option<FieldPlace<'a>>, field: &'a str) -> Self {
        let above = above.unwrap_or(Self::NONE).field;
        Self { above, field }
    }
}

// === impl ByEntry ===

impl ByEntry<'_> {
    /// Whether the list in the last field of a path is merged entry by entry.
    pub(super) fn applies_to(self, path: &[&str]) -> bool {
        match self {
            Self::All => true,
            Self::Combined(lists) => path.last().is_some_and(|field| lists.contains_key(*field)),
        }
    }
}

/// The number of leaves in a tree of these settings; a leaf with a long path counts several times.
pub(crate) fn leaves_in<'a>(
    settings: impl Iterator<Item = (&'a String, &'a Value)>,
    lists: &Lists<'_>,
) -> usize {
    let each = settings
        .map(|(key, value)| leaves_at(value, FieldPlace::below(None, key), lists, bytes_of(key)));
    each.sum()
}

fn leaves_at(value: &Value, place: FieldPlace<'_>, lists: &Lists<'_>, path: usize) -> usize {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let each = map.iter();
            let each = each.map(|(key, value)| {
                let place = FieldPlace::below(Some(place), key);
                leaves_at(value, place, lists, path + bytes_of(key))
            });
            each.sum()
        }
        Value::Array(items) if !items.is_empty() => {
            let leaves = |(i, item): (usize, &Value)| {
                let name = lists.name(place, i, item)?;
                Some(leaves_at(
                    item,
                    FieldPlace::NONE,
                    lists,
                    path + bytes_of(&name),
                ))
            };
            let each = items.iter().enumerate().map(leaves);
            each.sum::<Option<usize>>().unwrap_or_else(|| leaf_at(path))
        }
        _ => leaf_at(path),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

// === impl Tree ===

impl Tree {
    /// Combines entries of the same name in lists whose entries are always combined: the later entry wins.
    pub(crate) fn combined(self, units: MergeUnit<'_>, lists: &BTreeMap<String, String>) -> Self {
        if lists.is_empty() {
            return self;
        }
        self.combined_at(units, lists, &[])
    }

    fn combined_at(
        self,
        units: MergeUnit<'_>,
        lists: &BTreeMap<String, String>,
        path: &[&str],
    ) -> Self {
        match self {
            Self::Map(map) => Self::Map(map.map(|key, tree| {
                let path = [path, &[key]].concat();
                tree.combined_at(units, lists, &path)
            })),
            Self::List(entries) if path.last().is_some_and(|field| lists.contains_key(*field)) => {
                let by_entry = ByEntry::Combined(lists);
                let mut result = Self::List(Vec::new());
                for entry in entries {
                    let one = Self::List(vec![entry]);
                    result.patch_at(&one, units, by_entry, &mut path.to_vec());
                }
                result
            }
            other => other,
        }
    }
}
