//! The effective policies on paths that requests take. A path has none, whatever policies are
//! attached, if it does not begin at a listener or mesh Service, or if its `GatewayClass` does not
//! exist.

use attache_engine::effective::PathGroup;
use attache_engine::merge::EffectivePolicy;
use attache_engine::model::ids::GroupKind;
use attache_engine::model::level::Level;
use attache_engine::model::shared::Shared;
use attache_engine::state::snapshot::Snapshot;
use attache_engine::topology::{AncestorPath, lacks_class};

/// The effective policies on a path, by policy kind.
pub(crate) type InForce<'a> = [(&'a GroupKind, &'a PathGroup)];

/// The same paths, with the effective policies that apply to their requests.
pub(crate) fn acting(snapshot: &Snapshot, groups: Vec<PathGroup>) -> Vec<PathGroup> {
    let nothing: Shared<EffectivePolicy> = Shared::default();
    let mut acting_groups = Vec::with_capacity(groups.len());
    for mut group in groups {
        if !group.attached {
            group.effective = nothing.clone();
            acting_groups.push(group);
            continue;
        }
        let paths = group.paths.ancestors.iter().cloned();
        let (unserved, served): (Vec<_>, Vec<_>) =
            paths.partition(|path| is_unserved(snapshot, path));
        if unserved.is_empty() {
            acting_groups.push(group);
            continue;
        }
        let mut without = group.clone();
        without.effective = nothing.clone();
        without.paths.ancestors = unserved.into();
        acting_groups.push(without);
        if !served.is_empty() {
            group.paths.ancestors = served.into();
            acting_groups.push(group);
        }
    }
    acting_groups
}

/// Whether the `GatewayClass` of a path does not exist.
fn is_unserved(snapshot: &Snapshot, path: &AncestorPath) -> bool {
    let classes = path.steps.iter();
    let mut classes = classes.filter(|step| step.level == Level::GatewayClass);
    classes.any(|step| lacks_class(snapshot, &step.place.object))
}
