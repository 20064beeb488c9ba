//! Converts profiles as people write them to the parts of a profile.

use super::{OnRoutesFile, ProfileFile, StrategyValue};
use crate::kinds::profile::values::paths::within_spec;
use crate::kinds::profile::{Allowed, OnRoutes, Profile, Protection, Strategy};
use crate::model::ids::GroupKind;

pub(in crate::kinds::profile) fn allowed(profile: &ProfileFile) -> Option<Vec<Allowed>> {
    let allow = profile.targets.allow.as_ref()?;
    let of_group = |file: &super::AllowFile| {
        let of_kind = |kind: &str| Allowed {
            gk: GroupKind::new(file.group.as_str(), kind),
            sections: file.sections,
            only: file.only,
            names: file.names.clone(),
        };
        file.kind.iter().map(of_kind).collect::<Vec<_>>()
    };
    Some(allow.iter().flat_map(of_group).collect())
}

/// The facts that differ on routes of some kinds.
pub(in crate::kinds::profile) fn on_routes(
    general: &Profile,
    files: &[OnRoutesFile],
) -> Vec<OnRoutes> {
    let on_routes_of = |file: &OnRoutesFile| {
        let kinds = file.kinds.iter().map(|kind| GroupKind::gateway_api(kind));
        let settings = file.settings.iter().map(|path| within_spec(path));
        OnRoutes::new(general, kinds.collect(), settings.collect(), file.sections)
    };
    files.iter().map(on_routes_of).collect()
}

pub(in crate::kinds::profile) fn protections(profile: &ProfileFile) -> Option<Vec<Protection>> {
    let protections = profile.protects.as_ref()?.iter();
    let protection = protections.map(|(name, settings)| Protection {
        name: name.clone(),
        settings: settings.clone(),
    });
    Some(protection.collect())
}

impl From<StrategyValue> for Strategy {
    fn from(value: StrategyValue) -> Self {
        Self::Merge(value.direction, value.op)
    }
}
