//! Settings of the less specific result that the more specific one cannot replace.

use crate::kinds::profile::SpecPath;
use crate::policy::tree::Tree;

/// The settings of the less specific result (`above`) that stay in force whatever the more specific
/// one (`below`) sets.
#[derive(Clone, Copy)]
pub(super) struct SettingsKeptAcrossStages<'a> {
    /// Those that accumulate if both set them.
    pub(super) accumulated: &'a [SpecPath],
    /// Those that nothing below undoes.
    pub(super) kept_from_above: &'a [&'a SpecPath],
}

// === impl SettingsKeptAcrossStages ===

impl SettingsKeptAcrossStages<'_> {
    pub(super) fn is_empty(self) -> bool {
        self.accumulated.is_empty() && self.kept_from_above.is_empty()
    }
}

/// Adds the settings of the less specific result that stay in force: those that accumulate if both
/// set them, and those that nothing below undoes.
pub(super) fn restore_kept(
    kept: SettingsKeptAcrossStages<'_>,
    result: &mut Tree,
    above: &Tree,
    below: &Tree,
) {
    let is_off = |tree: &Tree, setting: &[String]| {
        let mut paths = kept.kept_from_above.iter();
        paths.any(|path| path.starts_with(setting) && tree.at(path).is_some())
    };
    for setting in kept.accumulated {
        if let (Some(tree_above), Some(tree_below)) = (above.at(setting), below.at(setting))
            && !is_off(below, setting)
        {
            result.copy_from(
                &tree_above.clone().side_by_side_with(tree_below.clone()),
                setting,
            );
        }
    }
    for path in kept.kept_from_above {
        let setting = path.split_last().map_or(&[][..], |(_, setting)| setting);
        if let (Some(_), Some(ancestor_path)) = (above.at(path), above.at(setting)) {
            result.copy_from(ancestor_path, setting);
        }
    }
}
