//! The settings that a change alters, in words.

use std::collections::{BTreeMap, BTreeSet};

use crate::effective::impact::EffectiveChange;
use crate::effective::protection::requests_fail;
use crate::merge::{ComparedBy, EffectivePolicy};
use crate::model::ids::ObjectKey;
use crate::model::json_text::JsonText;
use crate::model::maps::HashSet;
use crate::model::setting_path::SettingPath;
use crate::model::shared::Shared;
use crate::model::wording;
use crate::state::snapshot::Snapshot;

/// `field: 3 -> 5` for each field that differs: first removed fields, then changed fields, then new fields. That a policy without
/// settings takes effect, or one that controllers reject and that keeps its place, is said only if nothing else differs.
pub(super) fn differences(
    [before, after]: [&Snapshot; 2],
    changed: &EffectiveChange,
) -> Vec<String> {
    let mut texts = field_differences(&changed.before, &changed.after, false);
    if texts.is_empty() {
        let failed = requests_fail(before, &changed.before);
        match (failed, requests_fail(after, &changed.after)) {
            (false, true) => texts.push("its requests get an error".to_owned()),
            (true, false) => texts.push("its requests no longer get an error".to_owned()),
            _ => texts = field_differences(&changed.before, &changed.after, true),
        }
    }
    texts
}

fn field_differences(
    before: &EffectivePolicy,
    after: &EffectivePolicy,
    with_root: bool,
) -> Vec<String> {
    // Policies that are each in force as a whole replace no fields of each other, so the comparison is per policy.
    let by = ComparedBy::for_results(before, after);
    let fields =
        |effective: &EffectivePolicy| -> BTreeMap<(Option<ObjectKey>, SettingPath), JsonText> {
            let leaves = effective.leaves().into_iter();
            let leaves = leaves.filter(|(path, setting)| {
                !setting.value.is_null() && (with_root || !path.is_empty())
            });
            leaves
                .map(|(path, setting)| ((by.policy(&path, setting), path), setting.value.clone()))
                .collect()
        };
    let (before, after) = (fields(before), fields(after));
    let paths: BTreeSet<&(Option<ObjectKey>, SettingPath)> =
        before.keys().chain(after.keys()).collect();
    let none = || "none".to_owned();
    let changed = paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path));
    let mut changed: Vec<_> = changed.collect();
    changed.sort_by_key(|path| (after.contains_key(*path), !before.contains_key(*path)));
    let texts = changed.into_iter().map(|path| {
        let old = before.get(path).map_or_else(none, wording::short);
        let new = after.get(path).map_or_else(none, wording::short);
        format!("{}={old} -> {new}", wording::field(&path.1))
    });
    let mut texts: Vec<String> = texts.collect();
    texts.dedup();
    texts
}

/// The policies in force afterwards, if they are the same on all paths.
pub(super) fn in_force_afterwards(snapshot: &Snapshot, all: &[&EffectiveChange]) -> String {
    let mut known: HashSet<&Shared<EffectivePolicy>> = HashSet::default();
    let results = all.iter().map(|changed| &changed.after);
    let mut results = results.filter(|after| known.insert(after));
    let Some(first) = results.next() else {
        return String::new();
    };
    let policies = first.policies();
    if !results.all(|after| after.policies() == policies) {
        return String::new();
    }
    let names: Vec<String> = policies.iter().map(ObjectKey::path).collect();
    let names = names.join(", ");
    let leaves = first.leaves();
    let sets_nothing = !leaves.is_empty() && leaves.iter().all(|(path, _)| path.is_empty());
    let had_its_place = all
        .iter()
        .all(|changed| changed.before.policies().is_superset(&policies));
    if names.is_empty() {
        "no policy replaces it".to_owned()
    } else if !sets_nothing {
        format!("afterwards set by {names}")
    } else if requests_fail(snapshot, first) {
        format!("{names} is rejected, so its requests get an error")
    } else if had_its_place {
        format!("{names} still replaces it and sets nothing")
    } else {
        format!("{names} replaces it and sets nothing")
    }
}
