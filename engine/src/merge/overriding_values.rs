//! The values that replaced a policy's overridden settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::EffectivePolicy;
use crate::model::json_text::JsonText;
use crate::model::path_trie::PathTrie;
use crate::model::setting_path::SettingPath;
use crate::policy::Setting;

/// Settings of one overriding policy: those that replaced the lost settings, or all of its settings if none replaced
/// exactly these fields.
#[derive(Clone, Debug, Default)]
pub struct OverridingValues {
    known: BTreeMap<SettingPath, JsonText>,
    /// Results of a single policy that overrides everything. A policy near the top loses to thousands of such
    /// policies, and the settings of only a few of them are needed.
    whole_results: Vec<EffectivePolicy>,
    lost: Option<Arc<[SettingPath]>>,
}

/// Settings of one policy that are in force on some paths: those that replace lost settings, and the others.
#[derive(Debug, Default)]
pub struct ValuesInForce {
    replacing: Vec<(SettingPath, JsonText)>,
    others: Vec<(SettingPath, JsonText)>,
}

// === impl OverridingValues ===

impl OverridingValues {
    /// Adds the settings in force on some paths.
    pub fn add(&mut self, sides: ValuesInForce) {
        self.known.extend(sides.reported());
    }

    /// Adds a result of one policy alone, which overrides all of these settings.
    pub fn add_whole(&mut self, result: &EffectivePolicy, lost: &Arc<[SettingPath]>) {
        let mut known = self.whole_results.iter();
        if !known.any(|known| known == result) {
            self.whole_results.push(result.clone());
            self.lost.get_or_insert_with(|| lost.clone());
        }
    }

    /// The settings.
    pub fn settings(&self) -> BTreeMap<SettingPath, JsonText> {
        let mut settings = self.known.clone();
        let lost = PathTrie::from_paths(self.lost.iter().flat_map(|lost| lost.iter()));
        for result in &self.whole_results {
            let mut sides = ValuesInForce::default();
            result.visit(&mut |path, setting| sides.add(&lost, path, setting));
            settings.extend(sides.reported());
        }
        settings
    }
}

// === impl ValuesInForce ===

impl ValuesInForce {
    /// Adds a setting that is in force, by whether it replaces a lost one.
    pub fn add(&mut self, lost: &PathTrie<'_>, path: &SettingPath, setting: &Setting) {
        let side = match lost.first_overlap(path) {
            Some(_) => &mut self.replacing,
            None => &mut self.others,
        };
        side.push((path.clone(), setting.value.clone()));
    }

    /// The settings to report.
    fn reported(self) -> Vec<(SettingPath, JsonText)> {
        if self.replacing.is_empty() {
            self.others
        } else {
            self.replacing
        }
    }
}
