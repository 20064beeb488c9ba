//! The mutations that the schemas of a kind permit.

use std::collections::BTreeSet;

use serde_json::Value;

use super::rules::{PartialEntry, texts};
use super::{REF_FIELDS, Schemas, entry_schema};
use crate::kinds::cel::{CelBudget, CelRule, PartialValue};

/// Whether `targetRefs` can express what `targetRef` does, in every version: its entries have all members, and
/// nothing requires the singular. Objects arrive in any version, and fields unknown to a version are dropped.
pub(super) fn takes_plural(schemas: &Schemas, budget: &mut CelBudget) -> bool {
    schemas
        .versions()
        .all(|version| plural_instead(version.spec, budget))
}

fn plural_instead(spec: &Value, budget: &mut CelBudget) -> bool {
    let [single, plural, _] = REF_FIELDS;
    let (Some((one, false)), Some((many, true))) =
        (entry_schema(spec, single), entry_schema(spec, plural))
    else {
        return false;
    };
    let parts = |entry: &Value| -> BTreeSet<String> {
        let fields = entry.get("properties").and_then(Value::as_object);
        fields
            .into_iter()
            .flatten()
            .map(|(k, _)| k.clone())
            .collect()
    };
    let demanded = spec.get("required").and_then(Value::as_array);
    let demanded = demanded.is_some_and(|fields| fields.iter().any(|field| field == single));
    let alone = |field: &str, value: PartialValue| PartialValue::Map {
        fields: [(field.into(), value)].into(),
        complete: true,
    };
    let known = || PartialEntry::default().known();
    let of_one = alone(single, known());
    let of_many = alone(plural, PartialValue::List(vec![known()]));
    let rules: Vec<CelRule> = texts(spec)
        .filter_map(|text| CelRule::parse(text, budget))
        .collect();
    let refused = rules.iter().any(|rule| {
        rule.holds(&of_many, budget) == Some(false) && rule.holds(&of_one, budget) != Some(false)
    });
    !demanded && !refused && parts(one).is_subset(&parts(many))
}
