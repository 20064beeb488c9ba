//! Targets on which nothing of a policy kind can ever be in force: what a test expects of them says nothing.

use crate::engine::kinds::profile::Profile;
use crate::engine::model::hint::listed;
use crate::engine::model::ids::GroupKind;
use crate::engine::model::level::Level;

/// Why nothing of the kind can be in force on a kind of targets. `None` if something can, or nobody knows.
pub(super) fn why(profile: &Profile, target: &GroupKind) -> Option<String> {
    let (policy, target_kind) = (&profile.gk.kind, &target.kind);
    if !profile.inherits() {
        // Its targets are not all known.
        let known = profile.allow.as_ref().map(|allow| &allow.value)?;
        if known.is_empty() || profile.takes_kind(target) {
            return None;
        }
        let kinds: Vec<String> = known.iter().map(|one| one.gk.kind.to_string()).collect();
        return Some(format!(
            "{policy} acts on its targets alone, and {target_kind} is none of them: name {}",
            listed(&kinds)
        ));
    }
    let end = profile.end();
    let is_below = Level::of_kind(target).is_some_and(|level| level > end);
    is_below.then(|| {
        let (where_it_acts, remedy) = if end.is_upper() {
            ("listeners", "name a Gateway or ListenerSet")
        } else {
            ("routes", "name a route")
        };
        format!("{policy} acts on {where_it_acts}, not on {target_kind}: {remedy}")
    })
}
