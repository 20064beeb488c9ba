//! Settings that are filled in one by one, as some controllers do on routes of some kinds: the most specific policy comes
//! first, and each policy after it adds the settings that are still missing.

use super::{Layer, MergeLevel, Merged, fold, level_stanzas};
use crate::kinds::profile::Profile;
use crate::model::level::Level;

/// Implements [`super::fold_levels`] for such kinds. A policy of the route whose strategy says so
/// is first merged with the nearest policy above the routes. Settings from there precede those of
/// the policies between.
pub(super) fn filled(profile: &Profile, levels: &[MergeLevel<'_>]) -> Option<Merged> {
    let layers = levels.iter().flat_map(|at| {
        let stanzas = level_stanzas(profile, at.policies).into_iter();
        stanzas.map(|stanza| (at.level, Layer::Stanza(stanza)))
    });
    let layers: Vec<(Level, Layer<'_>)> = layers.collect();
    let parent = layers.iter().rfind(|(level, _)| level.is_upper());
    let by_default = *profile.default_strategy;
    layers.iter().rev().fold(None, |known, (level, layer)| {
        let strategy = layer.strategy();
        let own = match parent {
            Some((_, parent)) if !level.is_upper() && strategy != by_default => {
                fold(profile, strategy, || parent.settings(), || layer.settings())
            }
            _ => layer.settings(),
        };
        Some(match known {
            None => own,
            Some(known) => fold(profile, by_default, || own, || known),
        })
    })
}
