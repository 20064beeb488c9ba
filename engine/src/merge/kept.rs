//! Settings of the less specific result that the more specific one cannot replace.

use std::sync::Arc;

use super::{Merged, fold};
use crate::kinds::profile::{Profile, Strategy};
use crate::policy::tree::Tree;

/// The settings of the less specific result (`above`) that stay in force whatever the more specific
/// one (`below`) sets: those that accumulate if both set them, and those that nothing below undoes.
pub(super) type Kept<'a> = (&'a [Vec<String>], &'a [&'a Vec<String>]);

/// Merges two results, and restores the settings of the less specific one that stay in force.
pub(super) fn fold_over(
    profile: &Profile,
    by: Strategy,
    above: Merged,
    below: Merged,
    kept: Kept<'_>,
) -> Merged {
    if kept.0.is_empty() && kept.1.is_empty() {
        return fold(profile, by, || above, || below);
    }
    let (over, under) = (above.clone(), below.clone());
    let mut result = fold(profile, by, || above, || below);
    if let (Merged::Settings(result), Merged::Settings(over), Merged::Settings(under)) =
        (&mut result, &over, &under)
    {
        lay_over(kept, Arc::make_mut(result), over, under);
    }
    result
}

/// Adds the settings of the less specific result that stay in force: those that accumulate if both
/// set them, and those that nothing below undoes.
fn lay_over(
    (accumulated, kept_from_above): Kept<'_>,
    result: &mut Tree,
    above: &Tree,
    below: &Tree,
) {
    let is_off = |tree: &Tree, setting: &[String]| {
        let mut paths = kept_from_above.iter();
        paths.any(|path| path.starts_with(setting) && tree.at(path).is_some())
    };
    for setting in accumulated {
        if let (Some(tree_above), Some(tree_below)) = (above.at(setting), below.at(setting))
            && !is_off(below, setting)
        {
            result.copy_from(
                &tree_above.clone().side_by_side_with(tree_below.clone()),
                setting,
            );
        }
    }
    for path in kept_from_above {
        let setting = path.split_last().map_or(&[][..], |(_, setting)| setting);
        if let (Some(_), Some(ancestor_path)) = (above.at(path), above.at(setting)) {
            result.copy_from(ancestor_path, setting);
        }
    }
}
