//! `migrate-target-ref`: moves the value of the singular field to the plural one.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::annotate;
use crate::kinds::profile::{Profile, RefField};
use crate::model::literal;
use crate::model::object::Crd;
use crate::policy::{TargetRef, entries};

const SINGLE: &str = "targetRef";
const PLURAL: &str = "targetRefs";

/// The reference that was moved. A manifest keeps the singular: when it names something else later, this shows that
/// attache wrote the stored plural.
const ANNOTATION: &str = "attache.dev/migrated-target-ref";

/// Moves `targetRef` to `targetRefs` if every version of the kind has both. A singular that equals the plural is
/// removed. If they differ, both stay: attache cannot decide which is meant.
pub(super) fn migrate(object: &mut Value, profile: &Profile, crd: Option<&Crd>) {
    let field = |name: &str| profile.refs.iter().find(|field| field.path == name);
    let (Some(_), Some(plural)) = (field(SINGLE), field(PLURAL)) else {
        return;
    };
    // Only the CRD shows that one version has both.
    if !plural.many || !crd.is_some_and(|crd| crd.facts.permitted_mutations.takes_plural) {
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
            let attachments = |moved: &Value| {
                let items = spec.get(PLURAL).and_then(Value::as_array);
                items.is_some_and(|items| items.len() == 1 && items.first() == Some(moved))
            };
            // The user has written another plural since.
            if moved.is_some_and(|moved| !attachments(&moved)) {
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

/// Whether entries of a field support all parts of a reference.
fn takes(field: &RefField, reference: &Value) -> bool {
    let refused = |part: &str, takes: Option<bool>| {
        takes == Some(false) && reference.get(part).is_some_and(|value| !value.is_null())
    };
    !refused("sectionName", field.sections) && !refused("namespace", field.namespace)
}

/// The spec with the reference in the plural field, if it names the same target there as in the singular: the fields
/// may have different defaults, and the singular may have taken precedence over more fields than the plural does.
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

/// The targets of a spec, regardless of order; `None` if an entry is malformed.
fn names(spec: &Value, profile: &Profile) -> Option<BTreeSet<String>> {
    let targets = entries(spec, profile).into_iter().map(|e| e.target.ok());
    let named = |target: Option<TargetRef>| target.map(|target| format!("{target:?}"));
    targets.map(named).collect()
}
