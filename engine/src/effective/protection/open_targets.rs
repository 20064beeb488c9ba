//! Targets that themselves let every request pass, whatever policies say: a Server of Linkerd with `accessPolicy`.

use super::given::Given;
use super::{Loss, Lost};
use crate::attachment::opened_by_target;
use crate::effective::Resolver;
use crate::model::ids::{GroupKind, ObjectKey};

/// The protections that are lost because the targets of policies themselves let every request pass
/// after a change of these objects.
pub fn lost_by_targets(
    [was, is]: [&mut Resolver<'_>; 2],
    objects: &[ObjectKey],
) -> Vec<(GroupKind, Loss)> {
    let (before, after) = (was.snapshot(), is.snapshot());
    let mut losses = Vec::new();
    for kind in before.used_kinds() {
        let Some(profile) = before.profile(kind) else {
            continue;
        };
        for object in objects {
            let Some(why) = opened_by_target(after, profile, object) else {
                continue;
            };
            if opened_by_target(before, profile, object).is_some() {
                continue;
            }
            let groups = was.paths_through(object, kind).into_iter();
            let attached = groups.filter(|group| group.attached);
            let results: Vec<_> = attached.map(|group| group.effective).collect();
            for protection in profile.protects.iter() {
                let given = |one| Given::by(before, profile, protection, one);
                let given = results.iter().map(|one| given(one));
                let Some(provided) = Lost::all_of(given.filter(|given| !given.lets_all_pass))
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
