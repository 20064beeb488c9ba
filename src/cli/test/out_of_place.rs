//! Targets on which nothing of a policy kind can ever be in force: what a test expects of them says nothing.

use crate::engine::kinds::profile::{ActsOn, Profile};
use crate::engine::model::ids::GroupKind;

/// Why nothing of the kind can be in force on a kind of targets, and what to name. `None` if something can, or nobody knows.
pub(super) fn why(profile: &Profile, target: &GroupKind) -> Option<String> {
    let out = profile.out_of_place(target)?;
    let remedy = match out.instead {
        ActsOn::Targets(kinds) => format!("name {kinds}"),
        ActsOn::Listeners => "name a Gateway or ListenerSet".to_owned(),
        ActsOn::Routes => "name a route".to_owned(),
    };
    Some(format!("{}: {remedy}", out.why))
}
