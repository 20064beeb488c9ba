//! The facts, the policy settings and the merged policies that apply to the paths of a group.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::effective::stacks::{Stack, StackLevel, folded_levels, passed_over};
use crate::effective::{PathGroup, PathSet, StackAndEffective};
use crate::kinds::profile::{DictatedBy, Profile};
use crate::merge::{EffectivePolicy, Participants, PolicyOutcome, fold_levels, policy_outcome};
use crate::model::ids::{ObjectKey, Place};
use crate::model::level::{Level, Position, Step};
use crate::model::shared::Shared;
use crate::policy::Policy;
use crate::topology::places;

// === impl PathGroup ===

impl PathGroup {
    /// The profile that applies to these paths; `None` if no policy is attached.
    fn facts(&self) -> Option<&Profile> {
        let mut policies = self.stack.iter().flat_map(|level| level.policies.iter());
        policies.next().map(|policy| &*policy.profile)
    }

    /// The policies in force here that set something, or apply without settings.
    pub fn policies_with_settings(&self) -> BTreeSet<ObjectKey> {
        let facts = self.facts();
        facts.map_or_else(BTreeSet::new, |profile| {
            self.effective.policies_with_settings(profile)
        })
    }

    /// These paths for the requests that come on them: with nothing in force where policies of the kind do not apply to these requests;
    /// the stack still names the policies. `None` if no request comes, because the paths begin at no listener or Service.
    #[must_use]
    pub fn for_requests(mut self) -> Option<Self> {
        if self.attached {
            return Some(self);
        }
        let mut paths = self.paths.ancestors.iter();
        paths.any(|path| !path.steps.is_empty()).then(|| {
            self.effective = Shared::default();
            self.attached = true;
            self
        })
    }

    /// A policy attached to these paths, with the settings that apply there.
    pub fn with_settings_here<'a>(&'a self, policy: &'a Policy) -> &'a Policy {
        let mut policies = self.stack.iter().flat_map(|level| level.policies.iter());
        let attached = policies.find(|attached| attached.key() == policy.key());
        attached.map_or(policy, |attached| attached)
    }

    /// Why controllers reject the settings of a policy here once they are merged with those above.
    pub fn rejected_merge(&self, policy: &Policy) -> Option<&Arc<str>> {
        let mut levels = self.stack.iter();
        let level = levels.find(|level| level.policies.has(policy.key()))?;
        level.rejected_merge()
    }

    /// The policies that a strategy merges here when the more specific policy decides, even those of which no setting
    /// remains.
    pub fn merged_policies(&self) -> BTreeSet<ObjectKey> {
        let Some(profile) = self.facts() else {
            return BTreeSet::new();
        };
        let merging = &profile.merging;
        let decides = *merging.dictated_by == DictatedBy::Challenger;
        let policies = self.stack.iter().flat_map(|level| level.policies.iter());
        let is_alone = policies.take(2).count() < 2;
        if is_alone || !decides || merging.parent_first || !merging.units_by_key.is_empty() {
            return BTreeSet::new();
        }
        self.participants(profile).into_merged()
    }

    /// The policies on these paths, by what the fold makes of each.
    fn participants(&self, profile: &Profile) -> Participants {
        let levels = folded_levels(profile, &self.stack).map(StackLevel::folded);
        Participants::of_levels(profile, &levels.collect::<Vec<_>>())
    }
}

impl PathGroup {
    /// Equal for groups with the same policies and the same result.
    pub fn outcome(&self) -> StackAndEffective {
        (self.stack.clone(), self.effective.clone())
    }

    /// The number of paths.
    pub fn path_count(&self) -> usize {
        self.paths.ancestors.len() * self.paths.routes.len().max(1)
    }

    /// The target at the end of the first path, for paths that reach below the listener.
    pub fn target(&self) -> Option<&Place> {
        self.paths.routes.first().and_then(|path| path.target())
    }

    /// The places of the first path.
    pub fn path(&self) -> Vec<&Place> {
        let ancestor_path = self.paths.ancestors.first();
        let route_path = self.paths.routes.first().map(Rc::as_ref);
        ancestor_path.map_or_else(Vec::new, |ancestor_path| places(ancestor_path, route_path))
    }

    /// The position of an object, including its sections, on the paths; `None` if the object is not on them.
    pub fn position(&self, key: &ObjectKey) -> Option<Position> {
        let is_it = |step: &&Step| step.place.object == *key;
        let PathSet {
            ancestors: ancestor_paths,
            routes: route_paths,
        } = &self.paths;
        let ancestor_paths = ancestor_paths.iter().flat_map(|u| &u.steps).filter(is_it);
        let route_paths = if route_paths.may_have(key) {
            route_paths
        } else {
            &[][..]
        };
        let route_paths = route_paths.iter().flat_map(|l| &l.steps).filter(is_it);
        let (above, below) = (
            ancestor_paths.map(Step::position),
            route_paths.map(Step::position),
        );
        if key.gk.is_core("Namespace") {
            // A Namespace takes one place on a path, the higher one.
            above.chain(below).min()
        } else if Level::end_for(&key.gk).is_above_routes() {
            // The object is on the ancestor paths or, for direct policies, forms a path of its own.
            above.max().or_else(|| below.max())
        } else {
            above.chain(below).max()
        }
    }
}

impl PathGroup {
    /// The effective policy of a place's own fields: the result of the policies attached to the place and above it.
    /// Policies on other sections of its object, and below it, are left out.
    pub fn effective_above(&self, profile: &Profile, place: &Place) -> EffectivePolicy {
        let profile = self.facts().unwrap_or(profile);
        let steps_at_place = self.paths.steps().filter(|step| step.place == *place);
        let Some(position) = steps_at_place.map(Step::position).min() else {
            return EffectivePolicy::default();
        };
        let whole_object = place.object.whole();
        let counts = |above: &&StackLevel| {
            let other = &above.step.place;
            let is_here = other == place || *other == whole_object;
            is_here || (other.object != place.object && above.step.position() < position)
        };
        let stack: Stack = self.stack.iter().filter(counts).cloned().collect();
        let levels = folded_levels(profile, &stack).map(StackLevel::folded);
        let effective = fold_levels(profile, &levels.collect::<Vec<_>>(), None);
        match self.listener.port {
            Some(_) => effective.on_port(profile),
            None => effective,
        }
    }

    /// The outcome of a policy attached to these paths.
    pub fn outcome_of(&self, policy: &Policy) -> PolicyOutcome {
        let policy = self.with_settings_here(policy);
        let profile = &policy.profile;
        let mut outcome = policy_outcome(policy, &self.effective, || {
            if let Some(by) = self.overridden_without_merge_by(policy) {
                return Some(BTreeSet::from([by.clone()]));
            }
            let participants = self.participants(profile);
            participants.replaced_by(policy.key()).cloned()
        });
        if self.only_overrides_without_merge(policy) {
            outcome.is_in_force = true;
            outcome.lost.clear();
        }
        outcome
    }

    /// The more specific policy that takes the place of this one, because it merges only with policies above the routes.
    pub fn overridden_without_merge_by(&self, policy: &Policy) -> Option<&ObjectKey> {
        let profile = &self.with_settings_here(policy).profile;
        let (by, mut passed) = passed_over(profile, &self.stack)?;
        let is_passed = passed.any(|level| level.policies.has(policy.key()));
        is_passed.then(|| by.key())
    }

    /// Whether a policy without settings takes the place of others of the same route.
    pub fn only_overrides_without_merge(&self, policy: &Policy) -> bool {
        let passes = || {
            let profile = &self.with_settings_here(policy).profile;
            passed_over(profile, &self.stack).is_some_and(|(by, _)| by.key() == policy.key())
        };
        policy.is_empty() && passes()
    }
}
