//! Settings of the less specific result that the more specific one cannot replace.

use std::sync::Arc;

use super::{Merged, fold};
use crate::kinds::profile::{Profile, Strategy};
use crate::policy::tree::Tree;

/// The settings of the less specific result (`above`) that stay in force whatever the more specific
/// one (`below`) sets.
#[derive(Clone, Copy)]
pub(super) struct LastingSettings<'a> {
    /// Those that accumulate if both set them.
    pub(super) accumulated: &'a [Vec<String>],
    /// Those that nothing below undoes.
    pub(super) kept_from_above: &'a [&'a Vec<String>],
}

/// Merges two results, and restores the settings of the less specific one that stay in force.
pub(super) fn fold_with_lasting(
    profile: &Profile,
    by: Strategy,
    above: Merged,
    below: Merged,
    lasting: LastingSettings<'_>,
) -> Merged {
    if lasting.accumulated.is_empty() && lasting.kept_from_above.is_empty() {
        return fold(profile, by, || above, || below);
    }
    let (over, under) = (above.clone(), below.clone());
    let mut result = fold(profile, by, || above, || below);
    if let (Merged::Settings(result), Merged::Settings(over), Merged::Settings(under)) =
        (&mut result, &over, &under)
    {
        restore_lasting(lasting, Arc::make_mut(result), over, under);
    }
    result
}

/// Adds the settings of the less specific result that stay in force: those that accumulate if both
/// set them, and those that nothing below undoes.
fn restore_lasting(lasting: LastingSettings<'_>, result: &mut Tree, above: &Tree, below: &Tree) {
    let is_off = |tree: &Tree, setting: &[String]| {
        let mut paths = lasting.kept_from_above.iter();
        paths.any(|path| path.starts_with(setting) && tree.at(path).is_some())
    };
    for setting in lasting.accumulated {
        if let (Some(tree_above), Some(tree_below)) = (above.at(setting), below.at(setting))
            && !is_off(below, setting)
        {
            result.copy_from(
                &tree_above.clone().side_by_side_with(tree_below.clone()),
                setting,
            );
        }
    }
    for path in lasting.kept_from_above {
        let setting = path.split_last().map_or(&[][..], |(_, setting)| setting);
        if let (Some(_), Some(ancestor_path)) = (above.at(path), above.at(setting)) {
            result.copy_from(ancestor_path, setting);
        }
    }
}
