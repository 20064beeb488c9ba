//! The settings that provide a protection, each with a filter or a rule of its own. All of them
//! count: if one is removed and nothing replaces it, a part of the protection is lost.

use std::collections::BTreeMap;

use super::ProtectionSource;
use crate::kinds::profile::Protection;
use crate::model::setting_path::{SettingPath, is_under};

/// The settings that provide a protection, each with its values and their sources. The settings of
/// alternatives count as one contribution, whatever their values: with one alternative fewer, fewer
/// requests pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Contributions(BTreeMap<SettingPath, BTreeMap<String, Vec<ProtectionSource>>>);

// === impl Contributions ===

impl Contributions {
    /// The contributions of these sources, all of one policy or of policies that merged.
    pub(super) fn from_sources(
        protection: &Protection,
        sources: &[ProtectionSource],
        is_alternative: bool,
    ) -> Self {
        let mut by_setting: BTreeMap<SettingPath, Vec<ProtectionSource>> = BTreeMap::new();
        for source in sources {
            let (_, Some((path, _))) = source else {
                continue;
            };
            let mut settings = protection.settings.iter();
            if let Some(setting) = settings.find(|setting| is_under(path, setting)) {
                let setting: SettingPath = path.iter().take(setting.len()).cloned().collect();
                by_setting.entry(setting).or_default().push(source.clone());
            }
        }
        let each = by_setting.into_iter().map(|(setting, sources)| {
            let says = if is_alternative {
                String::new()
            } else {
                text(&sources)
            };
            (setting, BTreeMap::from([(says, sources)]))
        });
        Self(each.collect())
    }

    /// Adds the contributions of policies that are in force beside these.
    pub(super) fn add(&mut self, others: Self) {
        for (setting, all) in others.0 {
            let known = self.0.entry(setting).or_default();
            for (says, sources) in all {
                known.entry(says).or_default().extend(sources);
            }
        }
    }

    /// The sources of contributions that all paths had before and that are missing after, if those
    /// that stay are unchanged: a new contribution may replace a missing one.
    pub(super) fn lost(before: &[&Self], after: &[&Self]) -> Vec<ProtectionSource> {
        let mut lost = Vec::new();
        for later in after {
            let is_new = |setting: &SettingPath, says: &String| {
                let mut before = before.iter();
                !before.any(|earlier| earlier.has(setting, says, later))
            };
            if later.0.is_empty() || later.each().any(|(setting, says, _)| is_new(setting, says)) {
                continue;
            }
            let Some((first, others)) = before.split_first() else {
                continue;
            };
            for (setting, says, sources) in first.each() {
                let mut others = others.iter();
                let everywhere = others.all(|other| other.has(setting, says, first));
                if everywhere && !later.has(setting, says, first) {
                    lost.extend(sources.iter().cloned());
                }
            }
        }
        lost
    }

    fn each(&self) -> impl Iterator<Item = (&SettingPath, &String, &Vec<ProtectionSource>)> {
        let each = self.0.iter();
        each.flat_map(|(setting, all)| {
            let all = all.iter();
            all.map(move |(says, sources)| (setting, says, sources))
        })
    }

    /// Whether it has this contribution of `other` at a setting. If each of the two has only one
    /// there, the values may differ.
    fn has(&self, setting: &SettingPath, says: &String, other: &Self) -> bool {
        let is_sole = |all: &Self| all.0.get(setting).is_some_and(|all| all.len() == 1);
        let known = self.0.get(setting);
        known.is_some_and(|known| known.contains_key(says)) || (is_sole(self) && is_sole(other))
    }
}

/// The settings of these sources and their values, one per line, for comparison.
fn text(sources: &[ProtectionSource]) -> String {
    let mut text = String::new();
    for (path, value) in sources.iter().filter_map(|(_, known)| known.as_ref()) {
        text.push_str(&path.join("."));
        text.push('=');
        text.push_str(value.text());
        text.push('\n');
    }
    text
}
