//! The values that policies set for the fields of one object, and which of them take precedence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::effective::{Resolver, StackAndEffective};
use crate::kinds::profile::{Class, Control, Direction, Profile, Strategy};
use crate::merge::{EffectivePolicy, is_unset};
use crate::model::ids::ObjectKey;
use crate::model::level::Position;
use crate::model::maps::HashSet;
use crate::model::projected::descend;
use crate::policy::Precedence;
use crate::policy::Setting;

/// A value for one field. Objects are split: a projected field has a scalar, a list, or a whole map.
#[derive(Clone, Debug)]
pub(super) struct ProjectedField {
    /// Keys from `spec`; a key that ends in `[]` holds a list.
    pub(super) field: Vec<String>,
    pub(super) value: Value,
    /// Whether it replaces the object's own value.
    pub(super) overrides: bool,
    /// Whether `false`, 0 and the empty string in the object count as unset.
    pub(super) zero_is_unset: bool,
    pub(super) policies: BTreeSet<ObjectKey>,
    is_direct: bool,
    oldest: Option<Precedence>,
}

// === impl ProjectedField ===

impl ProjectedField {
    /// The names of its policies.
    pub(super) fn policies(&self) -> String {
        let names: Vec<String> = self.policies.iter().map(ToString::to_string).collect();
        names.join(", ")
    }

    /// The first of the projected fields at `places` with the same field, or with a field that contains this one or is
    /// contained in it.
    fn met(&self, places: &BTreeMap<Vec<String>, usize>) -> Option<usize> {
        let above =
            (0..self.field.len()).filter_map(|length| places.get(self.field.get(..length)?));
        let below = places.range(self.field.clone()..);
        let below = below.take_while(|(field, _)| field.starts_with(&self.field));
        above.chain(below.map(|(_, place)| place)).min().copied()
    }
}

/// The projected fields of a kind on an object. There is no projected field if paths through the object have different values, because
/// the field is shared by all of them, or if only the controller knows the result of the policies.
pub(super) fn fields_of(
    resolver: &mut Resolver<'_>,
    profile: &Arc<Profile>,
    key: &ObjectKey,
) -> Vec<ProjectedField> {
    let mut common: Option<BTreeMap<Vec<String>, ProjectedField>> = None;
    let mut known: HashSet<(StackAndEffective, Option<Position>)> = HashSet::default();
    for group in resolver.paths_through(key, &profile.gk) {
        if !known.insert((group.outcome(), group.position(key))) {
            continue;
        }
        let effective = group.effective_above(profile, &key.whole());
        let mut leaves = 0;
        effective.visit(&mut |_, _| leaves += 1);
        resolver.charge(leaves);
        if resolver.is_spent() {
            return Vec::new();
        }
        let Some(projected_fields) = projected_fields(&effective, profile, key) else {
            return Vec::new();
        };
        let by_field = projected_fields
            .into_iter()
            .map(|projected| (projected.field.clone(), projected));
        let mut projected_fields: BTreeMap<Vec<String>, ProjectedField> = by_field.collect();
        if let Some(common) = common {
            projected_fields.retain(|field, projected| {
                let other = common.get(field).filter(|other| {
                    other.value == projected.value && other.overrides == projected.overrides
                });
                let Some(other) = other else {
                    return false;
                };
                projected.policies.extend(other.policies.iter().cloned());
                true
            });
        }
        common = Some(projected_fields);
    }
    let mut projected_fields: Vec<ProjectedField> =
        common.into_iter().flat_map(BTreeMap::into_values).collect();
    for projected in &mut projected_fields {
        let policies = projected.policies.iter();
        let known = policies.filter_map(|key| resolver.snapshot().policy(key));
        projected.oldest = known.map(|policy| policy.precedence().clone()).min();
    }
    projected_fields
}

fn projected_fields(
    effective: &EffectivePolicy,
    profile: &Profile,
    key: &ObjectKey,
) -> Option<Vec<ProjectedField>> {
    if effective.is_side_by_side() {
        return None;
    }
    let (settings, sources) = effective.spec()?;
    let sources = sources.iter().map(|(at, leaf)| (&**at, leaf)).collect();
    let mut fields = Vec::new();
    for control in profile.controls.iter().filter(|c| c.target == key.gk) {
        let mut taking = FieldSplitter {
            profile,
            zero_is_unset: control.zero_is_unset,
            sources: &sources,
            fields: &mut fields,
        };
        taking.control(&settings, control);
    }
    Some(fields)
}

/// Splits settings into projected fields.
struct FieldSplitter<'a> {
    profile: &'a Profile,
    zero_is_unset: bool,
    /// By JSON pointer.
    sources: &'a BTreeMap<&'a str, &'a Setting>,
    fields: &'a mut Vec<ProjectedField>,
}

impl FieldSplitter<'_> {
    fn control(&mut self, settings: &Value, control: &Control) {
        let mut keys = control.setting.iter();
        let value = keys.try_fold(settings, |value, key| value.get(key));
        if let Some(value) = value {
            let field = control.field.split('.').map(str::to_owned).collect();
            self.value(value, &mut control.setting.clone(), field);
        }
    }

    fn value(&mut self, value: &Value, setting: &mut Vec<String>, field: Vec<String>) {
        match value {
            value if is_unset(value, false) => {}
            Value::Object(map) if !self.profile.strategies.value.maps.contains(setting) => {
                for (key, value) in map {
                    let mut field = field.clone();
                    field.push(key.clone());
                    setting.push(key.clone());
                    self.value(value, setting, field);
                    setting.pop();
                }
            }
            value => self.leaf(value, setting, field),
        }
    }

    /// A value from several policies is an override if all of its parts are.
    fn leaf(&mut self, value: &Value, setting: &[String], field: Vec<String>) {
        let mut pointer = String::new();
        for key in setting {
            descend(&mut pointer, key);
        }
        let inside = format!("{pointer}/");
        let below = self.sources.range(&*inside..);
        let below = below.take_while(|(at, _)| at.starts_with(&inside));
        let own_leaf = self.sources.get(&*pointer).into_iter();
        let leaves: Vec<&Setting> = own_leaf
            .chain(below.map(|(_, leaf)| leaf))
            .copied()
            .collect();
        if leaves.is_empty() {
            return;
        }
        let overrides = leaves.iter().all(|leaf| {
            matches!(
                leaf.strategy,
                Some(Strategy::Merge(Direction::Overrides, _))
            )
        });
        self.fields.push(ProjectedField {
            field,
            value: value.clone(),
            overrides,
            zero_is_unset: self.zero_is_unset,
            policies: leaves.iter().map(|leaf| leaf.policy.clone()).collect(),
            is_direct: self.profile.class.value == Class::Direct,
            oldest: None,
        });
    }
}

/// Sorts projected fields by precedence; the first on a field counts: direct kinds first, then overrides, then the oldest
/// policy, then by name (GEP-713 of 2021, conflict resolution). Returns the projected fields that count, and the pairs of
/// one that counts and one that contradicts it.
pub(super) fn settled(
    mut projected_fields: Vec<ProjectedField>,
) -> (Vec<ProjectedField>, Vec<(ProjectedField, ProjectedField)>) {
    projected_fields.sort_by(|a, b| {
        let rank = |projected: &ProjectedField| (!projected.is_direct, !projected.overrides);
        let age = || a.oldest.cmp(&b.oldest);
        rank(a).cmp(&rank(b)).then_with(age)
    });
    let mut settled: Vec<ProjectedField> = Vec::new();
    let mut places: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let mut conflicts = Vec::new();
    for projected in projected_fields {
        match projected
            .met(&places)
            .and_then(|winner| settled.get(winner))
        {
            None => {
                places.insert(projected.field.clone(), settled.len());
                settled.push(projected);
            }
            Some(winner) if winner.field == projected.field && winner.value == projected.value => {}
            Some(winner) => conflicts.push((winner.clone(), projected)),
        }
    }
    (settled, conflicts)
}
