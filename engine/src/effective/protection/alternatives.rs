//! Protections that a merged policy weakens: it adds an entry to a map of alternatives, and this
//! entry lets further requests pass.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Coverage, LostSources};
use crate::kinds::profile::{Profile, Protection, SpecPath};
use crate::merge::EffectivePolicy;
use crate::model::ids::ObjectKey;
use crate::model::setting_path::{SettingPath, is_under};
use crate::model::shared::Shared;
use crate::model::wording;

/// The entries of maps of alternatives, with the policies that they come from.
type EntriesByPolicy = BTreeMap<SettingPath, BTreeSet<ObjectKey>>;

impl LostSources {
    /// The loss by new entries of other policies, beside the entries that stay: requests that meet
    /// a new entry pass, too.
    pub(super) fn by_entries(
        profile: &Profile,
        protection: &Protection,
        before: &[Shared<EffectivePolicy>],
        after: &[Shared<EffectivePolicy>],
    ) -> Option<Self> {
        let is_concerned = |map: &&SpecPath| {
            let mut settings = protection.settings.iter();
            settings.any(|setting| setting.starts_with(map) || map.starts_with(setting))
        };
        let mut lost: Option<Self> = None;
        for map in profile.alternative_entries.iter().filter(is_concerned) {
            let entries_before = before.iter().flat_map(|one| entries(one, map));
            let entries_before: EntriesByPolicy = entries_before.collect();
            for later in after {
                let entries_after = entries(later, map);
                let stay: EntriesByPolicy = entries_after
                    .iter()
                    .filter(|(entry, by)| entries_before.get(*entry) == Some(by))
                    .map(|(entry, by)| (entry.clone(), by.clone()))
                    .collect();
                for (entry, by) in entries_after
                    .iter()
                    .filter(|(entry, _)| !entries_before.contains_key(*entry))
                {
                    let others = stay.iter().filter(|(_, other)| *other != by);
                    let others: Vec<(&SettingPath, &BTreeSet<ObjectKey>)> = others.collect();
                    if others.is_empty() {
                        continue;
                    }
                    let lost = lost.get_or_insert_with(|| Self {
                        remains: Coverage::SomeRequests,
                        ..Self::nothing()
                    });
                    lost.now.extend(later.policies());
                    lost.reasons.insert(Arc::from(reason(map, entry, by)));
                    for (path, setting) in later.leaves() {
                        if others.iter().any(|(entry, _)| path.starts_with(entry)) {
                            lost.by.insert(setting.policy.clone());
                            lost.note(path, setting.value.clone());
                        }
                    }
                }
            }
        }
        lost
    }
}

/// A sentence about the entry that lets further requests pass.
fn reason(map: &[String], entry: &SettingPath, by: &BTreeSet<ObjectKey>) -> String {
    let name = entry.last().map_or("", |name| &**name);
    format!(
        "entries of {} are alternatives: requests that meet {name} of {} pass, too",
        map.join("."),
        wording::named(by)
    )
}

/// The entries of a map in an effective policy.
fn entries(effective: &EffectivePolicy, map: &[String]) -> EntriesByPolicy {
    let mut entries = EntriesByPolicy::new();
    for (path, setting) in effective.leaves() {
        if is_under(&path, map) && path.len() > map.len() && !setting.value.is_null() {
            let entry = path.iter().take(map.len() + 1).cloned().collect();
            let by: &mut BTreeSet<ObjectKey> = entries.entry(entry).or_default();
            by.insert(setting.policy.clone());
        }
    }
    entries
}
