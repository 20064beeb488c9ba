//! Targets that themselves let every request pass, whatever policies say: a Server of Linkerd with `accessPolicy`.

use super::provided::Provided;
use super::{Loss, Lost};
use crate::attachment::opened_by_target;
use crate::effective::Resolver;
use crate::model::ids::{GroupKind, ObjectKey};

/// The protections that are lost because the targets of policies themselves let every request pass
/// after a change of these objects.
pub(super) fn lost_by_targets(
    [resolver_before, resolver_after]: [&mut Resolver<'_>; 2],
    objects: &[ObjectKey],
) -> Vec<(GroupKind, Loss)> {
    let (before, after) = (resolver_before.snapshot(), resolver_after.snapshot());
    let mut losses = Vec::new();
    for kind in before.used_kinds() {
        let Some(profile) = before.profile(kind) else {
            continue;
        };
        for object in objects {
            let Some(why) = opened_by_target(after, profile, object) else {
                continue;
            };
            let is_new = before.get(object).is_none();
            if is_new || opened_by_target(before, profile, object).is_some() {
                continue;
            }
            let groups = resolver_before.paths_through(object, kind).into_iter();
            let attached = groups.filter(|group| group.attached);
            let results: Vec<_> = attached.map(|group| group.effective).collect();
            for protection in profile.protects.iter() {
                let provided_by = |one| Provided::from_effective(before, profile, protection, one);
                let provided = results.iter().map(|one| provided_by(one));
                let Some(provided) =
                    Lost::all_of(provided.filter(|provided| !provided.lets_all_pass))
                else {
                    continue;
                };
                let mut loss = Loss::named(&protection.name);
                loss.objects.insert(object.clone());
                loss.lost = Lost {
                    reasons: [why.clone()].into(),
                    ..provided
                };
                losses.push((kind.clone(), loss));
            }
        }
    }
    losses
}
