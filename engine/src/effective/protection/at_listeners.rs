//! Protections of kinds that apply to listeners: a route loses one if another listener without it
//! accepts the route.
//!
//! The paths of these kinds end at the listeners, so a comparison of paths sees a new target that never had anything. Only
//! the routes connect it with the listeners that were there before.

use std::collections::{BTreeMap, BTreeSet};

use super::gateway_client_certificates::lost_at_new_listeners;
use super::listener_effects::ListenerEffects;
use super::{AtPath, LostSources, ProtectionLoss, opened_without_tls};
use crate::effective::Resolver;
use crate::effective::traffic::Opened;
use crate::kinds::profile::{Class, Profile, Protection};
use crate::model::ids::{GroupKind, ObjectKey};

/// The protections that routes lose by the listeners that a change opens to them, while all listeners by which their
/// requests came before provided them; TLS of the listeners is one of them. One loss for each kind and protection.
pub fn lost_at_listeners(
    [resolver_before, resolver_after]: [&mut Resolver<'_>; 2],
    opened: &BTreeMap<ObjectKey, Opened>,
) -> Vec<(GroupKind, ProtectionLoss)> {
    if opened.is_empty() {
        return Vec::new();
    }
    let mut losses = Vec::new();
    let snapshot = resolver_before.snapshot();
    losses.extend(opened_without_tls(
        [snapshot, resolver_after.snapshot()],
        opened,
    ));
    let (mut before, mut after) = (
        ListenerEffects::new(resolver_before),
        ListenerEffects::new(resolver_after),
    );
    let kinds: BTreeSet<&GroupKind> = snapshot.used_kinds().collect();
    for kind in kinds {
        let Some(profile) = snapshot.profile(kind) else {
            continue;
        };
        if *profile.class == Class::Direct || !profile.end().is_above_routes() {
            continue;
        }
        for protection in profile.protects.iter() {
            let mut loss = ProtectionLoss::named(&protection.name);
            for (route, opened) in opened {
                let Some(effective_before) = before.effective_at_all(&opened.before, kind) else {
                    continue;
                };
                for listener in &opened.new {
                    let effective_after = after.effective_at(listener, kind);
                    let taken = effective_after.and_then(|effective_after| {
                        let effective_after = [after.with_gateway_certificates(
                            effective_after,
                            protection,
                            listener,
                        )];
                        let effective_before = effective_before.iter().zip(&opened.before).map(
                            |(effective_before, listener)| {
                                before.with_gateway_certificates(
                                    effective_before.clone(),
                                    protection,
                                    listener,
                                )
                            },
                        );
                        let effective_before: Vec<AtPath> = effective_before.collect();
                        let states = [(&before, &*effective_before), (&after, &effective_after)];
                        lost_between(profile, protection, states)
                    });
                    if let Some(taken) = taken {
                        loss.objects.insert(route.clone());
                        loss.opened.insert(listener.clone());
                        loss.lost.add(&taken);
                    }
                }
            }
            if !loss.objects.is_empty() {
                losses.push((kind.clone(), loss));
            }
        }
    }
    losses.extend(lost_at_new_listeners(&mut before, &mut after, opened));
    losses
}

fn lost_between(
    profile: &Profile,
    protection: &Protection,
    [(before, effective_before), (after, effective_after)]: [(&ListenerEffects<'_, '_>, &[AtPath]);
        2],
) -> Option<LostSources> {
    let (before, after) = (before.resolver.snapshot(), after.resolver.snapshot());
    LostSources::between(
        profile,
        protection,
        (before, effective_before),
        (after, effective_after),
    )
}
