//! Protections of several kinds whose policies are alternatives to each other: a policy of one kind
//! that lets every request pass removes the protection by the others.

use super::provided::Provided;
use super::{LostSources, Resolve};
use crate::attachment::opened_by_target;
use crate::effective::Resolver;
use crate::effective::impact::EffectiveChange;
use crate::kinds::profile::{Profile, Protection};
use crate::merge::EffectivePolicy;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::state::snapshot::Snapshot;

/// The policies of other kinds that are alternatives to the changed kind for a protection, before
/// and after a change.
pub(super) struct OtherKinds<'a> {
    profile: &'a Profile,
    protection: &'a Protection,
    before: Side<'a>,
    after: Side<'a>,
}

/// One of the two states.
struct Side<'a> {
    snapshot: &'a Snapshot,
    /// Made when it is needed: few kinds have alternatives of other kinds.
    resolver: Option<Resolver<'a>>,
    resolve: Resolve,
}

// === impl OtherKinds ===

impl<'a> OtherKinds<'a> {
    pub(super) fn new(
        ([before, after], resolve): ([&'a Snapshot; 2], Resolve),
        profile: &'a Profile,
        protection: &'a Protection,
    ) -> Self {
        let side = |snapshot| Side {
            snapshot,
            resolver: None,
            resolve,
        };
        Self {
            profile,
            protection,
            before: side(before),
            after: side(after),
        }
    }

    /// The objects that lose the protection of the other kinds because the changed kind newly lets
    /// every request pass.
    pub(super) fn opened(&mut self, change: &EffectiveChange) -> Vec<(ObjectKey, LostSources)> {
        if self.kinds().is_empty() {
            return Vec::new();
        }
        let before = self.before.snapshot;
        let now = self.own(self.after.snapshot, &change.after);
        let was_open = || self.own(before, &change.before).lets_all_pass;
        if !now.lets_all_pass || was_open() {
            return Vec::new();
        }
        let mut opened = Vec::new();
        for object in change.paths.objects() {
            if opened_by_target(before, self.profile, object).is_some() {
                continue;
            }
            let provided_before = self.before.provided(self.profile, self.protection, object);
            if provided_before
                .iter()
                .any(|provided_before| provided_before.lets_all_pass)
            {
                continue;
            }
            if let Some(lost) = LostSources::all_of(provided_before) {
                let lost = LostSources {
                    now: change.after.policies(),
                    reasons: now.weaknesses.clone(),
                    ..lost
                };
                opened.push((object.clone(), lost));
            }
        }
        opened
    }

    /// Whether the object loses nothing by the changed kind, because the object itself or the other
    /// kinds already let every request pass, or because the other kinds protect as much after the
    /// change as the changed kind before.
    pub(super) fn decide(&mut self, change: &EffectiveChange, object: &ObjectKey) -> bool {
        if opened_by_target(self.before.snapshot, self.profile, object).is_some() {
            return true;
        }
        if self.kinds().is_empty() {
            return false;
        }
        let provided_before = self.before.provided(self.profile, self.protection, object);
        if provided_before
            .iter()
            .any(|provided_before| provided_before.lets_all_pass)
        {
            return true;
        }
        if self.own(self.after.snapshot, &change.after).lets_all_pass {
            return false;
        }
        let before = self.own(self.before.snapshot, &change.before).coverage;
        let provided_after = self.after.provided(self.profile, self.protection, object);
        provided_after
            .iter()
            .any(|provided_after| provided_after.coverage >= before)
    }

    /// Whether the fuel for the other kinds is used up. Answers from then on are not valid.
    pub(super) fn is_spent(&self) -> bool {
        let sides = [&self.before, &self.after];
        let mut resolvers = sides.into_iter().filter_map(|side| side.resolver.as_ref());
        resolvers.any(Resolver::is_spent)
    }

    fn kinds(&self) -> &[GroupKind] {
        let alternatives = self.profile.alternatives.as_ref();
        alternatives.map_or(&[], |alternatives| &alternatives.other_kinds)
    }

    /// The protection by the changed kind.
    fn own(&self, snapshot: &Snapshot, effective: &EffectivePolicy) -> Provided {
        Provided::from_effective(snapshot, self.profile, self.protection, effective)
    }
}

// === impl Side ===

impl Side<'_> {
    /// The protection by the policies of each of the other kinds at an object.
    fn provided(
        &mut self,
        changed: &Profile,
        protection: &Protection,
        object: &ObjectKey,
    ) -> Vec<Provided> {
        let others = changed.alternatives.as_ref();
        let others = others.map_or(&[][..], |others| &others.other_kinds);
        let mut provided = Vec::new();
        for kind in others {
            let Some(profile) = self.snapshot.profile(kind) else {
                continue;
            };
            let Some(protection) = profile.protection(&protection.name) else {
                continue;
            };
            let (snapshot, resolve) = (self.snapshot, self.resolve);
            let resolver = self.resolver.get_or_insert_with(|| resolve(snapshot));
            let groups = resolver.paths_through(object, kind);
            let mut here = groups.iter().filter(|group| {
                let mut targets = group.paths.targets();
                group.attached && targets.any(|target| *target == object.whole())
            });
            let here = here.next().map(|group| &group.effective);
            let here = here.map(|effective| {
                Provided::from_effective(snapshot, profile, protection, effective)
            });
            provided.extend(here);
        }
        provided
    }
}
