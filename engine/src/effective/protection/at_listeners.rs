//! Protections of kinds that act on listeners: a route loses one if another listener without it
//! accepts the route.
//!
//! The paths of these kinds end at the listeners, so a comparison of paths sees a new target that never had anything. Only
//! the routes connect it with the listeners that were there before.

use std::collections::{BTreeMap, BTreeSet};

use super::listener_effects::ListenerEffects;
use super::own::lost_at_new_listeners;
use super::{AtPath, Loss, Lost};
use crate::effective::Resolver;
use crate::effective::traffic::Opened;
use crate::kinds::profile::{Class, Profile, Protection};
use crate::model::ids::{GroupKind, ObjectKey};

/// The protections that routes lose by the listeners that a change opens to them, while all listeners by which their
/// requests came before provided them. One loss for each kind and protection.
pub fn lost_at_listeners(
    [was, is]: [&mut Resolver<'_>; 2],
    opened: &BTreeMap<ObjectKey, Opened>,
) -> Vec<(GroupKind, Loss)> {
    if opened.is_empty() {
        return Vec::new();
    }
    let mut losses = Vec::new();
    let snapshot = was.snapshot();
    let (mut before, mut after) = (ListenerEffects::new(was), ListenerEffects::new(is));
    let kinds: BTreeSet<&GroupKind> = snapshot.used_kinds().collect();
    for kind in kinds {
        let Some(profile) = snapshot.profile(kind) else {
            continue;
        };
        if *profile.class == Class::Direct || !profile.end().is_upper() {
            continue;
        }
        for protection in profile.protects.iter() {
            let mut loss = Loss::named(&protection.name);
            for (route, opened) in opened {
                let Some(had) = before.effective_at_all(&opened.before, kind) else {
                    continue;
                };
                for listener in &opened.new {
                    let has = after.effective_at(listener, kind);
                    let taken = has.and_then(|has| {
                        let has = [after.with_own(has, protection, listener)];
                        let had = had.iter().zip(&opened.before).map(|(had, listener)| {
                            before.with_own(had.clone(), protection, listener)
                        });
                        let had: Vec<AtPath> = had.collect();
                        let states = [(&before, &*had), (&after, &has)];
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
    [(before, had), (after, has)]: [(&ListenerEffects<'_, '_>, &[AtPath]); 2],
) -> Option<Lost> {
    let (before, after) = (before.resolver.snapshot(), after.resolver.snapshot());
    Lost::between(profile, protection, (before, had), (after, has))
}
