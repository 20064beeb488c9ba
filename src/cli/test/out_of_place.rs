//! Targets on which no policy of a kind can ever be in force, so that a test of them proves
//! nothing.

use crate::engine::kinds::profile::{ApplicableTo, Profile};
use crate::engine::model::ids::GroupKind;

/// Why no policy of the kind can be in force on a kind of targets, and the kind to name instead.
/// `None` if one can, or if that is unknown.
pub(super) fn why(profile: &Profile, target: &GroupKind) -> Option<String> {
    let out = profile.out_of_place(target)?;
    let remedy = match out.instead {
        ApplicableTo::Targets(kinds) => format!("name {kinds}"),
        ApplicableTo::Listeners => "name a Gateway or ListenerSet".to_owned(),
        ApplicableTo::Routes => "name a route".to_owned(),
    };
    Some(format!("{}: {remedy}", out.why))
}
