//! Converts profiles as people write them to the parts of a profile.

use super::file::{ControlFile, OnRoutesFile, ProfileFile, RefFile, StrategyValue};
use super::paths::{path, within_spec};
use super::{Allowed, Control, OnRoutes, Profile, Protection, RefField, Strategy};
use crate::model::ids::GroupKind;

pub(super) fn refs(profile: &ProfileFile) -> Option<Vec<RefField>> {
    let refs = profile.targets.refs.as_ref()?;
    Some(refs.iter().map(field).collect())
}

fn field(file: &RefFile) -> RefField {
    RefField {
        path: within_spec(&file.path),
        many: file.many,
        default_group: file.default_group.clone(),
        default_kind: file.default_kind.clone(),
        default_namespace: file.default_namespace.clone(),
        labels: file.labels.clone(),
        empty_selects_none: file.empty_selects_none,
        sections: file.sections,
        section_field: file.section_field.clone(),
        port_field: file.port_field.clone(),
        needs_section: file.needs_section,
        namespace: file.namespace,
        max: file.max,
        unique: file.unique,
        takes_precedence_over: file
            .takes_precedence_over
            .iter()
            .map(|path| within_spec(path))
            .collect(),
        may_lack: Vec::new(),
        members: None,
        needs_group: file.needs_group,
        keyed: false,
        kinds: None,
        in_namespace: file.in_namespace.clone(),
    }
}

pub(super) fn allowed(profile: &ProfileFile) -> Option<Vec<Allowed>> {
    let allow = profile.targets.allow.as_ref()?;
    let of_group = |file: &super::file::AllowFile| {
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
pub(super) fn on_routes(general: &Profile, files: &[OnRoutesFile]) -> Vec<OnRoutes> {
    let on_routes_of = |file: &OnRoutesFile| {
        let kinds = file.kinds.iter().map(|kind| GroupKind::gateway_api(kind));
        let settings = file.settings.iter().map(|path| within_spec(path));
        OnRoutes::new(general, kinds.collect(), settings.collect(), file.sections)
    };
    files.iter().map(on_routes_of).collect()
}

pub(super) fn controls(profile: &ProfileFile) -> Option<Vec<Control>> {
    let control = |c: &ControlFile| Control {
        setting: path(&c.setting),
        target: c.target.clone(),
        field: within_spec(&c.field),
        zero_is_unset: c.zero_is_unset,
    };
    let controls = &profile.controls;
    (!controls.is_empty()).then(|| controls.iter().map(control).collect())
}

pub(super) fn protections(profile: &ProfileFile) -> Option<Vec<Protection>> {
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
