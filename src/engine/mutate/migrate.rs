//! `migrate-target-ref`: what the singular field says goes to the plural one.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::engine::object::Crd;
use crate::engine::policy::{TargetRef, entries};
use crate::engine::profile::Profile;

const SINGLE: &str = "targetRef";
const PLURAL: &str = "targetRefs";

/// Moves `targetRef` to `targetRefs` where every version of the kind has both, and one that says the
/// same is taken away. Two that differ stay: which is meant is not for us to say.
pub(super) fn migrate(spec: &mut Value, profile: &Profile, crd: Option<&Crd>) {
    // Without the definition it is not known that one version has both.
    if !crd.is_some_and(|crd| crd.facts.takes_plural) {
        return;
    }
    let fields = |name: &str| profile.refs.iter().find(|field| field.path == name);
    let (Some(single), Some(plural)) = (fields(SINGLE), fields(PLURAL)) else {
        return;
    };
    let Value::Object(now) = &*spec else {
        return;
    };
    let Some(reference @ Value::Object(_)) = now.get(SINGLE) else {
        return;
    };
    let is_free = match now.get(PLURAL) {
        None | Some(Value::Null) => true,
        Some(Value::Array(items)) => items.iter().all(|item| item == reference),
        Some(_) => false,
    };
    let refused = |part: &str, takes: Option<bool>| {
        takes == Some(false) && reference.get(part).is_some_and(|value| !value.is_null())
    };
    if !is_free
        || refused("sectionName", plural.sections)
        || refused("namespace", plural.namespace)
        || single.many
        || !plural.many
    {
        return;
    }
    let mut next: Map<String, Value> = now.clone();
    let items = Value::Array(vec![reference.clone()]);
    next.remove(SINGLE);
    next.insert(PLURAL.to_owned(), items);
    let next = Value::Object(next);
    // The fields may have other defaults, and the singular may have hidden more than the plural.
    if names(spec, profile).is_some_and(|before| Some(before) == names(&next, profile)) {
        *spec = next;
    }
}

/// What a spec names, whatever the order; none where an entry is faulty.
fn names(spec: &Value, profile: &Profile) -> Option<BTreeSet<String>> {
    let targets = entries(spec, profile).into_iter().map(|e| e.target.ok());
    let named = |target: Option<TargetRef>| target.map(|target| format!("{target:?}"));
    targets.map(named).collect()
}
