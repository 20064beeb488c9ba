//! Strategies by which a policy keeps the protections that it would take away.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{ProtectionLoss, lost};
use crate::effective::Resolver;
use crate::effective::impact::{EffectiveChange, diff};
use crate::effective::renames::Renames;
use crate::kinds::profile::{DictatedBy, Op, Strategy};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{Object, is_route};
use crate::policy::{Policy, StanzaRef};
use crate::state::snapshot::{Change, Snapshot};

/// A strategy of a policy under which paths lose less: `spec.mergeType: StrategicMerge`.
#[derive(Clone, Debug)]
pub struct Remedy {
    field: String,
    strategy: String,
    /// The protections that are lost nevertheless.
    lost: Vec<ProtectionLoss>,
}

// === impl Remedy ===

impl Remedy {
    /// Whether nothing of a protection is lost under the strategy.
    pub fn keeps(&self, protection: &str) -> bool {
        self.lost.iter().all(|loss| *loss.protection != *protection)
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "spec.{}: {}", self.field, self.strategy)
    }
}

/// The strategies under which the policy may lose less, if the more specific policy decides how it
/// merges, and this one replaces the policies above it. Each strategy is tried: a lost setting may
/// come from a policy that is not above this one, or that this one does not merge with.
pub fn remedies([before, after]: [&Snapshot; 2], key: &ObjectKey, kind: &GroupKind) -> Vec<Remedy> {
    let policy = after.policy(key);
    let Some(policy) = policy.filter(|policy| policy.key().gk == *kind) else {
        return Vec::new();
    };
    let profile = &policy.profile;
    let Some(field) = &profile.strategies.path else {
        return Vec::new();
    };
    let on_routes = policy.targets.iter().all(|target| is_route(&target.gk));
    let replaces = policy.stanzas().all(StanzaRef::is_whole);
    if *profile.merging.dictated_by != DictatedBy::Challenger || !on_routes || !replaces {
        return Vec::new();
    }
    let named = |wanted: Op| {
        let mut values = profile.strategies.values.iter();
        values.find(|(_, strategy)| matches!(strategy, Strategy::Merge(_, op) if *op == wanted))
    };
    let strategies = [Op::Strategic, Op::Patch].into_iter().filter_map(named);
    let candidates = strategies.filter_map(|(name, _)| {
        let merging = after.with_change(Change::Applied(with_strategy(policy, field, name)));
        let mut resolver_before = Resolver::bounded(before);
        let mut resolver_after = resolver_before.for_snapshot(&merging);
        let changed = diff(
            &mut resolver_before,
            &mut resolver_after,
            std::slice::from_ref(key),
        );
        let of_kind: Vec<EffectiveChange> = changed
            .into_iter()
            .filter(|changed| changed.kind == *kind)
            .collect();
        let is_known = !resolver_before.is_spent() && !resolver_after.is_spent();
        let lost = is_known
            .then(|| lost([before, &merging], Renames::NONE, kind, &of_kind.iter()))
            .flatten()?;
        Some(Remedy {
            field: field.clone(),
            strategy: name.clone(),
            lost,
        })
    });
    // The second strategy is not tried out if nothing is lost under the first.
    let mut remedies: Vec<Remedy> = Vec::new();
    for remedy in candidates {
        let keeps_all = remedy.lost.is_empty();
        remedies.push(remedy);
        if keeps_all {
            break;
        }
    }
    remedies
}

/// The object of a policy, with this strategy in this field of its spec.
fn with_strategy(policy: &Policy, field: &str, name: &str) -> Arc<Object> {
    let mut object = (*policy.object).clone();
    let mut spec = policy.spec();
    let mut keys = field.split('.').peekable();
    let mut place = &mut spec;
    while let Some(key) = keys.next() {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(map) = place else { break };
        place = map.entry(key).or_insert(Value::Null);
        if keys.peek().is_none() {
            *place = Value::String(name.to_owned());
        }
    }
    object.spec = Some(spec.to_string().into());
    object.reported = None;
    Arc::new(object)
}
