//! Kinds of targets on which no policy of a kind can ever be in force.

use crate::kinds::profile::Profile;
use crate::model::hint::listed;
use crate::model::ids::GroupKind;
use crate::model::level::Level;

/// Why no policy of a kind can be in force on a kind of targets, and the kinds to name instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfPlace {
    /// `SecurityPolicy applies to routes, not to Service`.
    pub why: String,
    /// The objects that policies of the kind can apply to.
    pub instead: ApplicableTo,
}

/// The objects that policies of a kind can apply to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplicableTo {
    /// On their targets alone, of the kinds that are listed: `Service and Backend`.
    Targets(String),
    /// On listeners.
    Listeners,
    /// On routes.
    Routes,
}

// === impl Profile ===

impl Profile {
    /// Why no policy of the kind can be in force on a kind of targets. `None` if one can, or if
    /// that is unknown.
    pub fn out_of_place(&self, target: &GroupKind) -> Option<OutOfPlace> {
        let (policy, target_kind) = (&self.gk.kind, &target.kind);
        if !self.is_inherited() {
            // Its targets are not all known.
            let known = self.allow.as_ref().map(|allow| &allow.value)?;
            if known.is_empty() || self.takes_kind(target) {
                return None;
            }
            let kinds: Vec<String> = known.iter().map(|one| one.gk.kind.to_string()).collect();
            return Some(OutOfPlace {
                why: format!(
                    "{policy} applies only to its targets, and {target_kind} is none of them"
                ),
                instead: ApplicableTo::Targets(listed(&kinds)),
            });
        }
        let end = self.end();
        let is_below = Level::of_kind(target).is_some_and(|level| level > end);
        is_below.then(|| {
            let (instead, where_it_acts) = if end.is_above_routes() {
                (ApplicableTo::Listeners, "listeners")
            } else {
                (ApplicableTo::Routes, "routes")
            };
            OutOfPlace {
                why: format!("{policy} applies to {where_it_acts}, not to {target_kind}"),
                instead,
            }
        })
    }
}
