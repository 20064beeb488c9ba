//! `migrate-target-ref`: what the singular field says goes to the plural one.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::annotate;
use crate::engine::literal;
use crate::engine::object::Crd;
use crate::engine::policy::{TargetRef, entries};
use crate::engine::profile::{Profile, RefField};

const SINGLE: &str = "targetRef";
const PLURAL: &str = "targetRefs";

/// What was moved. A manifest goes on saying the singular: when it comes to name something else, the
/// plural that is stored is known to be the one that we wrote.
const ANNOTATION: &str = "attache.dev/migrated-target-ref";

/// Moves `targetRef` to `targetRefs` where every version of the kind has both. One that says the same
/// is taken away. Two that differ stay: which is meant is not for us to say.
pub(super) fn migrate(object: &mut Value, profile: &Profile, crd: Option<&Crd>) {
    let field = |name: &str| profile.refs.iter().find(|field| field.path == name);
    let (Some(_), Some(plural)) = (field(SINGLE), field(PLURAL)) else {
        return;
    };
    // Without the definition it is not known that one version has both.
    if !plural.many || !crd.is_some_and(|crd| crd.facts.mending.takes_plural) {
        return;
    }
    let moved = moved(object);
    let Some(Value::Object(spec)) = object.get("spec") else {
        return;
    };
    match spec.get(SINGLE) {
        Some(reference @ Value::Object(_)) => {
            let reference = reference.clone();
            let is_ours = |items: &[Value]| matches!(items, [only] if Some(only) == moved.as_ref());
            let (is_free, is_new) = match spec.get(PLURAL) {
                None | Some(Value::Null) => (true, true),
                Some(Value::Array(items)) => {
                    let equal = items.iter().all(|item| *item == reference);
                    (equal || is_ours(items), !equal || items.is_empty())
                }
                Some(_) => (false, false),
            };
            if !is_free || !takes(plural, &reference) {
                return;
            }
            let Some(next) = plural_instead(spec, &reference, profile) else {
                return;
            };
            if let Some(spec) = object.get_mut("spec") {
                *spec = next;
            }
            if is_new {
                annotate(object, ANNOTATION, Some(reference.to_string()));
            }
        }
        None | Some(Value::Null) => {
            let stands = |moved: &Value| {
                let items = spec.get(PLURAL).and_then(Value::as_array);
                items.is_some_and(|items| items.len() == 1 && items.first() == Some(moved))
            };
            // The user has written another plural since.
            if moved.is_some_and(|moved| !stands(&moved)) {
                annotate(object, ANNOTATION, None);
            }
        }
        Some(_) => {}
    }
}

fn moved(object: &Value) -> Option<Value> {
    let annotations = object.get("metadata")?.get("annotations")?;
    literal::from_str(annotations.get(ANNOTATION)?.as_str()?).ok()
}

/// Whether entries of a field have all parts of a reference.
fn takes(field: &RefField, reference: &Value) -> bool {
    let refused = |part: &str, takes: Option<bool>| {
        takes == Some(false) && reference.get(part).is_some_and(|value| !value.is_null())
    };
    !refused("sectionName", field.sections) && !refused("namespace", field.namespace)
}

/// The spec with the reference in the plural field, where it names the same there as in the singular:
/// the fields may have other defaults, and the singular may have hidden more than the plural.
fn plural_instead(
    spec: &Map<String, Value>,
    reference: &Value,
    profile: &Profile,
) -> Option<Value> {
    let mut before = spec.clone();
    before.remove(PLURAL);
    let mut next = before.clone();
    next.remove(SINGLE);
    let items = Value::Array(vec![reference.clone()]);
    next.insert(PLURAL.to_owned(), items);
    let (before, next) = (Value::Object(before), Value::Object(next));
    let same = names(&before, profile)? == names(&next, profile)?;
    same.then_some(next)
}

/// What a spec names, whatever the order; none where an entry is faulty.
fn names(spec: &Value, profile: &Profile) -> Option<BTreeSet<String>> {
    let targets = entries(spec, profile).into_iter().map(|e| e.target.ok());
    let named = |target: Option<TargetRef>| target.map(|target| format!("{target:?}"));
    targets.map(named).collect()
}
