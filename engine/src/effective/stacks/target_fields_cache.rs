//! Fields that policies control and that a target sets itself (GEP-713 of 2021).

use serde_json::Value;

use crate::effective::Resolver;
use crate::kinds::profile::{Control, Profile};
use crate::merge::TargetFields;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::maps::HashMap;
use crate::model::projected::{self, Projected};
use crate::policy::fuel;
use crate::policy::{fields, spec};

/// The fields that targets set, by object and policy kind.
pub(in crate::effective) type TargetFieldsCache =
    HashMap<(ObjectKey, GroupKind), Option<TargetFields>>;

impl Resolver<'_> {
    /// The target's own values; `None` if the kind controls none of its fields or if they are unset.
    pub(in crate::effective) fn own(
        &mut self,
        profile: &Profile,
        target: &ObjectKey,
    ) -> Option<TargetFields> {
        if profile.controls.is_empty() {
            return None;
        }
        let controls = profile.controls.iter().filter(|c| c.target == target.gk);
        let controls: Vec<&Control> = controls.collect();
        if controls.is_empty() {
            return None;
        }
        let object = self.snapshot.get(target)?;
        let id = (target.clone(), profile.gk.clone());
        if let Some(known) = self.target_fields.get(&id) {
            return known.clone();
        }
        let length = object.spec.as_deref().map_or(0, str::len);
        let written = object.meta.annotations.get(projected::ANNOTATION);
        let written = written.and_then(|text| Projected::parse(text));
        let spec: Value = if let Some(written) = written {
            self.charge(length / fuel::READ);
            let mut spec = spec(object);
            written.take_out(&mut spec);
            spec
        } else {
            self.charge(length / fuel::SKIPPED);
            let paths: Vec<&str> = controls.iter().map(|control| &*control.field).collect();
            fields(object, &paths)
        };
        let own = TargetFields::new(target, &spec, &controls);
        self.target_fields.insert(id, own.clone());
        own
    }
}
