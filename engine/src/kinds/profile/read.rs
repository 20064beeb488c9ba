//! Converts profiles as people write them to the parts of a profile.

use super::file::{
    ClassesFile, ControlFile, GatewayByLabelFile, GatewayPodsFile, OnRoutesFile, ProfileFile,
    RefFile, StrategyValue,
};
use super::paths::{pairs, path, setting_path, texts, within_spec};
use super::{
    Allowed, Annotation, Classes, Control, GatewayByLabel, GatewayPods, OnRoutes, Profile,
    Protection, RefField, Strategy,
};
use crate::model::ids::GroupKind;

pub(super) fn refs(profile: &ProfileFile) -> Option<Vec<RefField>> {
    let refs = profile.targets.refs.as_ref()?;
    Some(refs.iter().map(field).collect())
}

fn field(file: &RefFile) -> RefField {
    RefField {
        path: within_spec(&file.path),
        many: file.many,
        default_group: file.default_group.as_deref().map(Into::into),
        default_kind: file.default_kind.as_deref().map(Into::into),
        default_namespace: file.default_namespace.as_deref().map(Into::into),
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

pub(super) fn annotation(profile: &ProfileFile) -> Option<Annotation> {
    let annotation = profile.targets.annotation.as_ref()?;
    Some(Annotation {
        target: annotation.target.clone(),
        key: annotation.key.as_str().into(),
    })
}

pub(super) fn allowed(profile: &ProfileFile) -> Option<Vec<Allowed>> {
    let allow = profile.targets.allow.as_ref()?;
    let of_group = |file: &super::file::AllowFile| {
        let of_kind = |kind: &str| Allowed {
            gk: GroupKind::new(file.group.as_str(), kind),
            sections: file.sections,
            only: file.only,
            names: texts(&file.names),
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
        name: name.as_str().into(),
        settings: settings
            .iter()
            .map(|setting| setting_path(setting))
            .collect(),
    });
    Some(protection.collect())
}

pub(super) fn classes(file: &ClassesFile) -> Classes {
    Classes {
        controllers: texts(&file.controllers),
        names: texts(&file.names),
    }
}

pub(super) fn gateway_by_label(file: &GatewayByLabelFile) -> GatewayByLabel {
    GatewayByLabel {
        label: file.label.as_str().into(),
        namespace_label: file.namespace_label.as_str().into(),
        opt_out_value: file.opt_out_value.as_str().into(),
        protocol: file.protocol.as_str().into(),
        purpose_label: file.purpose_label.as_str().into(),
        purposes: texts(&file.purposes),
        classes: classes(&file.classes),
        same_namespace: file.same_namespace,
        required: file.required,
    }
}

pub(super) fn gateway_pods(file: &GatewayPodsFile) -> GatewayPods {
    GatewayPods {
        name_label: file.name_label.as_str().into(),
        class_label: file.class_label.as_str().into(),
        labels: pairs(&file.labels),
        same_namespace: file.same_namespace,
    }
}

impl From<StrategyValue> for Strategy {
    fn from(value: StrategyValue) -> Self {
        Self::Merge(value.direction, value.op)
    }
}
