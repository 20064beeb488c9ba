//! What a target itself sets of the fields that policies control (design 2.5, the older dialect).

use serde_json::Value;

use crate::engine::ids::ObjectKey;
use crate::engine::merge::Own;
use crate::engine::policy::spec;
use crate::engine::profile::Profile;
use crate::engine::projected::{self, Projected};
use crate::engine::snapshot::Snapshot;

/// The target's own values; none where the kind controls none of its fields or they are unset.
pub(super) fn own(snapshot: &Snapshot, profile: &Profile, target: &ObjectKey) -> Option<Own> {
    let controls = profile.controls.iter().filter(|c| c.target == target.gk);
    let controls: Vec<_> = controls.collect();
    if controls.is_empty() {
        return None;
    }
    let object = snapshot.get(target)?;
    let mut spec: Value = spec(object);
    let written = object.meta.annotations.get(projected::ANNOTATION);
    if let Some(written) = written.and_then(|text| Projected::parse(text)) {
        written.take_out(&mut spec);
    }
    Own::new(target, &spec, &controls)
}
