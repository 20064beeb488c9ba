//! Settings that are filled in one by one, as some controllers do on routes of some kinds: the most specific policy comes
//! first, and each policy after it adds the settings that are still missing.

use super::MergeLevel;
use super::level::level_stanzas;
use super::operand::{Layer, PartialResult};
use crate::kinds::profile::Profile;
use crate::model::level::Level;

/// Implements [`super::fold::folded`] for such kinds. A policy of the route whose strategy says so
/// is first merged with the nearest policy above the routes. Settings from there precede those of
/// the policies between.
pub(super) fn filled<T: PartialResult>(profile: &Profile, levels: &[MergeLevel<'_>]) -> Option<T> {
    let layers = levels.iter().flat_map(|at| {
        let stanzas = level_stanzas(profile, at.policies).into_iter();
        stanzas.map(|stanza| (at.level, Layer::Stanza(stanza)))
    });
    let layers: Vec<(Level, Layer<'_>)> = layers.collect();
    let parent = layers.iter().rfind(|(level, _)| level.is_above_routes());
    let by_default = *profile.default_strategy;
    layers
        .iter()
        .rev()
        .fold(None, |known: Option<T>, (level, layer)| {
            let strategy = layer.strategy();
            let own = match parent {
                Some((_, parent)) if !level.is_above_routes() && strategy != by_default => {
                    let (above, below) = (|| T::of_layer(parent), || T::of_layer(layer));
                    T::merged(profile, strategy, above, below)
                }
                _ => T::of_layer(layer),
            };
            Some(match known {
                None => own,
                Some(known) => T::merged(profile, by_default, || own, || known),
            })
        })
}
