//! The protections that a request loses because another rule takes it, or because it goes to another backend.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::LostProtection;
use crate::answer::explanation::effective_at;
use crate::answer::named::{KindName, Named, named};
use crate::engine::effective::Resolver;
use crate::engine::effective::protection::{
    Coverage, EXTERNAL_AUTH_FILTER, loses_filter, lost_between, provided,
};
use crate::engine::kinds::profile::Profile;
use crate::engine::merge::EffectivePolicy;
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};
use crate::engine::model::shared::Shared;
use crate::engine::model::wording;
use crate::engine::routing::{MatchResult, Matching};

/// A state with the requests of its routes.
pub(super) struct Side<'m, 'a> {
    pub(super) matching: &'m Matching<'a>,
    pub(super) resolver: Resolver<'a>,
}

/// A protection that a request loses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequestProtectionLoss {
    protection: String,
    kind: GroupKind,
    by: BTreeSet<ObjectKey>,
    settings: Vec<String>,
    is_partial: bool,
    /// Whether only the requests lose it that go to one of several backends.
    is_divided: bool,
}

/// The protections that a request has before a change, and not or only partly after it.
pub(super) fn losses(
    side_before: &mut Side<'_, '_>,
    before: &MatchResult,
    side_after: &mut Side<'_, '_>,
    after: &MatchResult,
) -> Vec<RequestProtectionLoss> {
    let (snapshot, later) = (
        side_before.matching.snapshot(),
        side_after.matching.snapshot(),
    );
    let protecting = snapshot.used_kinds().filter_map(|kind| {
        let profile: &Arc<Profile> = snapshot.profile(kind)?;
        (!profile.protects.is_empty()).then_some((kind, profile))
    });
    let mut losses = Vec::new();
    for (kind, profile) in protecting {
        let (effective_before, effective_after) = (
            side_before.effective(kind, before),
            side_after.effective(kind, after),
        );
        let lost = lost_between(
            profile,
            (snapshot, &effective_before),
            (later, &effective_after),
        );
        // Requests that are divided among backends lose it if one of these is without it.
        let keeps = |name: &Arc<str>| {
            let mut paths = effective_after.iter();
            paths.any(|path| provided(later, profile, path).any(|kept| kept == name))
        };
        losses.extend(lost.into_iter().map(|(protection, lost)| {
            let is_divided = keeps(&protection);
            RequestProtectionLoss {
                protection: protection.to_string(),
                kind: kind.clone(),
                settings: lost
                    .settings
                    .keys()
                    .map(|path| wording::field(path))
                    .collect(),
                is_partial: is_divided || lost.remains > Coverage::NoRequests,
                is_divided,
                by: lost.by,
            }
        }));
    }
    losses
}

/// The loss of an `ExternalAuth` filter by requests that another rule takes.
pub(super) fn lost_filter(
    [before, after]: [&Matching<'_>; 2],
    resolver_after: &mut Resolver<'_>,
    [from, to]: [&Place; 2],
) -> Option<RequestProtectionLoss> {
    let states = [before.snapshot(), after.snapshot()];
    let is_lost = from != to && loses_filter(states, resolver_after, from, to);
    is_lost.then(|| RequestProtectionLoss {
        protection: EXTERNAL_AUTH_FILTER.to_owned(),
        kind: from.object.gk.clone(),
        by: BTreeSet::from([from.object.clone()]),
        settings: Vec::new(),
        is_partial: false,
        is_divided: false,
    })
}

// === impl RequestProtectionLoss ===

impl RequestProtectionLoss {
    /// The loss of a rule that takes requests of other rules.
    pub(super) fn into_lost_protection(
        self,
        rule: &Place,
        from: &BTreeMap<Place, BTreeSet<String>>,
    ) -> LostProtection {
        let reasons = from.iter().map(|(before, requests)| {
            if before == rule && self.is_divided {
                "a part of its requests comes by another listener or goes to another backend"
                    .to_owned()
            } else if before == rule {
                "its requests come by another listener or go to another backend".to_owned()
            } else {
                let requests = wording::first(requests);
                format!("{before} took {requests} before the change")
            }
        });
        LostProtection {
            object: Named::from(rule),
            protection: self.protection,
            policy_kind: KindName::from(&self.kind),
            from: named(&self.by),
            settings: self.settings,
            opened: Vec::new(),
            partly: self.is_partial,
            reasons: reasons.collect(),
            remedy: None,
        }
    }
}

// === impl Side ===

impl<'m, 'a> Side<'m, 'a> {
    pub(super) fn new(matching: &'m Matching<'a>) -> Self {
        Self {
            matching,
            resolver: Resolver::new(matching.snapshot()),
        }
    }

    /// The effective policies of a kind on a request.
    fn effective(&mut self, kind: &GroupKind, taken: &MatchResult) -> Vec<Shared<EffectivePolicy>> {
        let profile = self.matching.snapshot().profile(kind);
        profile.map_or_else(Vec::new, |profile| {
            effective_at(&mut self.resolver, taken, profile)
        })
    }
}
