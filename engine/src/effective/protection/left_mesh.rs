//! Namespaces that leave a mesh: the proxies of their Pods, which read policies, are gone.

use std::sync::Arc;

use super::provided::Provided;
use super::{LostSources, ProtectionLoss};
use crate::effective::{PathGroup, Resolver};
use crate::kinds::profile::Profile;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::level::Level;
use crate::model::object::Object;

/// The protections of Services that are lost because Namespaces among these objects give up the last label by which their Pods get a
/// proxy. One loss for each Namespace.
pub(super) fn lost_by_leaving(
    [before, after]: [&mut Resolver<'_>; 2],
    objects: &[ObjectKey],
) -> Vec<(GroupKind, ProtectionLoss)> {
    let (earlier, later) = (before.snapshot(), after.snapshot());
    let mut losses = Vec::new();
    for namespace in objects.iter().filter(|key| key.gk.is_core("Namespace")) {
        let (Some(old), Some(new)) = (earlier.get(namespace), later.get(namespace)) else {
            continue;
        };
        for kind in earlier.used_kinds() {
            let Some(profile) = earlier.profile(kind) else {
                continue;
            };
            let Some(label) = label_given_up(profile, old, new) else {
                continue;
            };
            let groups = before.paths_through(namespace, kind).into_iter();
            let groups: Vec<PathGroup> = groups
                .filter(|group| group.attached && !passes_gateway(group))
                .collect();
            for protection in profile.protects.iter() {
                let of_group = |group: &PathGroup| {
                    Provided::from_effective(earlier, profile, protection, &group.effective)
                };
                let mut loss = ProtectionLoss::named(&protection.name);
                for group in &groups {
                    let Some(mut taken) = LostSources::all_of([of_group(group)]) else {
                        continue;
                    };
                    taken.reasons.insert(Arc::from(format!(
                        "without the label {label} on {namespace} its Pods get no proxy, which would apply the policies"
                    )));
                    loss.objects.extend(group.paths.objects().cloned());
                    loss.lost.add(&taken);
                }
                if !loss.objects.is_empty() {
                    losses.push((kind.clone(), loss));
                }
            }
        }
    }
    losses
}

/// The label by which the Pods of a Namespace got a proxy, if the Namespace keeps no such label. Labels that keep Pods out of the
/// mesh change which policies apply.
fn label_given_up(profile: &Profile, old: &Object, new: &Object) -> Option<String> {
    let label = mesh_label(profile, old)?;
    let is_kept_out = new
        .meta
        .labels
        .first_of(&profile.namespaces_without_mesh)
        .is_some();
    (mesh_label(profile, new).is_none() && !is_kept_out).then_some(label)
}

fn mesh_label(profile: &Profile, namespace: &Object) -> Option<String> {
    let (label, value) = profile.mesh_label(&namespace.meta.labels)?;
    Some(format!("{label}={value}"))
}

/// Whether requests come to the end of these paths through a Gateway, which reads the policies there.
fn passes_gateway(group: &PathGroup) -> bool {
    let mut steps = group.paths.steps();
    steps.any(|step| step.level == Level::Gateway)
}
