//! Requests that get an error after a change because a policy that was in force on their path is rejected: they do not pass without
//! its protections.

use std::collections::{BTreeMap, BTreeSet};

use super::provided::Provided;
use super::{AtPath, LostSources, policies_in_force};
use crate::effective::impact::EffectiveChange;
use crate::kinds::profile::{Profile, Protection};
use crate::model::ids::{ObjectKey, Place};
use crate::model::wording::named;
use crate::state::snapshot::Snapshot;

/// The targets of policies that newly make requests fail, each policy asked once: there may be many paths.
pub(super) struct NewlyFailing<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
    known: BTreeMap<ObjectKey, Option<Place>>,
}

// === impl NewlyFailing ===

impl<'a> NewlyFailing<'a> {
    pub(super) fn new([before, after]: [&'a Snapshot; 2]) -> Self {
        Self {
            before,
            after,
            known: BTreeMap::new(),
        }
    }

    /// Whether the requests on the path of a change get an error after it, because a policy that names an object on the path is
    /// rejected there and no longer in force. Others of the kind may be in force: no request passes to meet them.
    pub(super) fn fails_at(&mut self, profile: &Profile, change: &EffectiveChange) -> bool {
        if change.on_replaced_paths.is_some() {
            return false;
        }
        let mut policies = change.before.policies().into_iter();
        let fails = policies.any(|policy| {
            self.failing_target(&policy).is_some_and(|target| {
                let mut steps = change.paths.steps();
                steps.any(|step| step.place == target) && !change.after.policies().contains(&policy)
            })
        });
        // Where only some settings of the kind apply, no error takes the place of the others.
        let has_only_some = |object: &ObjectKey| profile.on_routes_of(&object.gk).is_some();
        fails && !change.paths.objects().any(has_only_some)
    }

    /// The target of a policy that newly makes requests fail. `None` if it has several, selects them, or has changed it: then the
    /// requests on a path may not be those that fail.
    fn failing_target(&mut self, key: &ObjectKey) -> Option<Place> {
        if let Some(known) = self.known.get(key) {
            return known.clone();
        }
        let [old, new] = [self.before, self.after].map(|snapshot| snapshot.policy(key));
        let target = old.zip(new).and_then(|(old, new)| {
            let target = new.only_target().filter(|_| old.targets == new.targets)?;
            let newly = new.requests_fail(self.after) && !old.requests_fail(self.before);
            newly.then_some(target)
        });
        self.known.insert(key.clone(), target.clone());
        target
    }
}

// === impl LostSources ===

impl LostSources {
    /// The loss if requests get errors after the change because a policy that took the place of others is rejected, and it would not
    /// protect if it was accepted. A policy that was there `before` gives up nothing by its rejection.
    pub(super) fn behind_rejected(
        protection: &Protection,
        provided_before: Vec<Provided>,
        before: &BTreeSet<ObjectKey>,
        (snapshot, paths): (&Snapshot, &[AtPath]),
    ) -> Option<Self> {
        let now = policies_in_force(paths);
        let replacing: BTreeSet<ObjectKey> = now.difference(before).cloned().collect();
        // Merged with the policies above it, an accepted policy leaves what they provide.
        let protects = |key: &ObjectKey| {
            let policy = snapshot.policy(key);
            policy.is_none_or(|policy| {
                policy.protects_by(&protection.name) || policy.chooses_to_merge()
            })
        };
        if replacing.is_empty() || replacing.iter().any(protects) {
            return None;
        }
        let lost = Self::all_of(provided_before)?;
        let why = format!(
            "requests get an error while {} is rejected, and pass without this protection once it is accepted",
            named(&replacing)
        );
        Some(Self {
            now,
            reasons: [why.into()].into(),
            ..lost
        })
    }
}
