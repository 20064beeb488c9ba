//! Suggestions for a target that does not exist, or for labels that no object has.

use std::collections::BTreeSet;

use crate::admission::finding::Hint;
use crate::kinds::profile::CrossNamespace;
use crate::model::hint::{nearest, quoted};
use crate::model::ids::ObjectKey;
use crate::policy::{Policy, TargetEntry, TargetRef};
use crate::state::snapshot::Snapshot;

/// The maximum number of objects that a request searches for a suggestion.
const MAX_SEARCHED_OBJECTS: usize = 1_000;
/// The most namespaces that a hint for a request names.
const MAX_NAMED_NAMESPACES: usize = 5;

/// The hint for a target that does not exist. A request limits selection by `limit`.
pub(super) fn hint(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &TargetEntry<'_>,
    object: &ObjectKey,
    limit: usize,
) -> Hint {
    let is_request = limit != usize::MAX;
    missing(snapshot, object, is_request, |other| {
        remedy(policy, entry, &other.namespace)
    })
}

/// `; did you mean "cart"?`, or the location of an object with that name and its `remedy`; empty without a close match.
///
/// A request has little time, so it does not search among many objects. From other namespaces it learns only of Gateways
/// and `ListenerSets`, and only if the user may read them.
pub(crate) fn missing(
    snapshot: &Snapshot,
    object: &ObjectKey,
    is_request: bool,
    remedy: impl FnOnce(&ObjectKey) -> String,
) -> Hint {
    let mut hint = Hint {
        text: String::new(),
        mentioned: BTreeSet::new(),
    };
    if is_request && snapshot.count(&object.gk) > MAX_SEARCHED_OBJECTS {
        return hint;
    }
    let is_public = object.gk.has_listeners();
    let (mut near, mut elsewhere) = (BTreeSet::new(), BTreeSet::new());
    for other in snapshot.objects(&object.gk).map(|other| &other.key) {
        if other.namespace == object.namespace {
            near.insert(&*other.name);
        } else if other.name == object.name
            // An object without a namespace is not a matter of the namespace.
            && !other.namespace.is_empty()
            && (is_public || !is_request)
        {
            elsewhere.insert(other);
        }
    }
    let near: Vec<&str> = near.into_iter().collect();
    let elsewhere: Vec<&ObjectKey> = elsewhere.into_iter().collect();
    let namespaces: Vec<&str> = elsewhere.iter().map(|other| &*other.namespace).collect();
    // The user must be able to read all of them, so a hint with many would hardly ever be shown.
    let lists_namespaces = !is_request || elsewhere.len() <= MAX_NAMED_NAMESPACES;
    hint.text = match (elsewhere.as_slice(), nearest(&object.name, &near)) {
        ([one], _) => format!(
            "; there is one in namespace {:?}, {}",
            &*one.namespace,
            remedy(one)
        ),
        ([_, ..], _) if lists_namespaces => {
            format!("; there are some in namespaces {}", quoted(&namespaces))
        }
        (_, Some(near)) => {
            return Hint {
                text: format!("; did you mean {near:?}?"),
                ..hint
            };
        }
        (_, None) => return hint,
    };
    hint.mentioned = elsewhere.into_iter().cloned().collect();
    hint
}

/// The remedy for a target in another namespace.
fn remedy(policy: &Policy, entry: &TargetEntry<'_>, namespace: &str) -> String {
    match *policy.profile.cross_namespace {
        CrossNamespace::Any | CrossNamespace::Consumer if entry.field.namespace != Some(false) => {
            format!("write namespace {namespace:?}")
        }
        CrossNamespace::Grant if entry.field.namespace != Some(false) => {
            format!("write namespace {namespace:?} and let a ReferenceGrant allow it")
        }
        _ => format!(
            "but this field can only name objects in the namespace of the policy: move the policy to {namespace:?}"
        ),
    }
}

/// `; did you mean exposure=cluster?`: a label of some object whose key is close to the requested one with the same
/// value, or whose key is the same with a close value.
pub(super) fn label(snapshot: &Snapshot, own: &str, target: &TargetRef, limit: usize) -> String {
    if limit != usize::MAX && snapshot.count(&target.gk) > MAX_SEARCHED_OBJECTS {
        return String::new();
    }
    let mut near_labels: BTreeSet<String> = BTreeSet::new();
    for (key, value) in target.equal_labels() {
        for object in snapshot.objects(&target.gk) {
            if object.key.namespace.as_ref() != own {
                continue;
            }
            for (other, its) in object.meta.labels.iter() {
                let near = |one: &str, other: &str| nearest(one, &[other]).is_some();
                let one_letter =
                    (its == value && near(key, other)) || (other == key && near(value, its));
                if one_letter {
                    near_labels.insert(format!("{other}={its}"));
                }
            }
        }
    }
    let asked = target
        .equal_labels()
        .map(|(key, value)| format!("{key}={value}"));
    let asked: BTreeSet<String> = asked.collect();
    match near_labels.difference(&asked).next() {
        Some(near) => format!("; did you mean {near}?"),
        None => String::new(),
    }
}
