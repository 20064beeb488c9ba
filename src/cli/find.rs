//! Checks that named objects exist; suggests the nearest name if they do not.

use std::collections::BTreeSet;

use crate::engine::admission::verdict::escape;
use crate::engine::model::hint::{nearest, quoted};
use crate::engine::model::ids::{ObjectKey, Place};
use crate::engine::model::section::{self, SectionNames};
use crate::engine::model::wording::plural;
use crate::engine::state::snapshot::Snapshot;

/// Checks that an object exists.
///
/// # Errors
/// If it does not; suggests the nearest name, or the namespaces with an object of that name.
pub(super) fn there(snapshot: &Snapshot, key: &ObjectKey) -> Result<(), String> {
    if snapshot.get(key).is_some() {
        return Ok(());
    }
    let objects = || snapshot.objects(&key.gk).map(|object| &object.key);
    let elsewhere = objects().filter(|other| other.name == key.name);
    let elsewhere: BTreeSet<&str> = elsewhere.map(|other| &*other.namespace).collect();
    let elsewhere: Vec<&str> = elsewhere.into_iter().collect();
    let in_namespace = objects().filter(|other| other.namespace == key.namespace);
    let names: BTreeSet<&str> = in_namespace.map(|other| &*other.name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let hint = match (nearest(&key.name, &names), elsewhere.as_slice()) {
        _ if key.name.contains('/') => "write the namespace with -n".to_owned(),
        (_, [one]) => format!("there is one in namespace {one:?}: write -n {one}"),
        (_, [_, ..]) => format!(
            "there are some in namespaces {}: write -n",
            quoted(&elsewhere)
        ),
        (Some(near), []) => format!("did you mean {near:?}?"),
        (None, []) if names.is_empty() && key.namespace.is_empty() => {
            format!("there are no {} here", plural(&key.gk.to_string()))
        }
        (None, []) if names.is_empty() => {
            let kind = plural(&key.gk.to_string());
            let all: BTreeSet<&str> = objects().map(|other| &*other.namespace).collect();
            let all: Vec<&str> = all.into_iter().collect();
            let others = match all.as_slice() {
                [] => String::new(),
                [one] => format!(", only in {one:?}"),
                _ => format!(", only in {}", quoted(&all)),
            };
            format!(
                "there are no {kind} in namespace {:?}{others}",
                key.namespace
            )
        }
        (None, []) => {
            let verb = if names.len() == 1 { "is" } else { "are" };
            format!("there {verb} {}", quoted(&names))
        }
    };
    Err(format!(
        "{} does not exist; {hint}",
        escape(&key.to_string())
    ))
}

/// Checks that an object or section exists. Returns the place with the section's label as paths show it.
///
/// Objects of kinds that are not watched may exist: attache still knows the policies that name them.
///
/// # Errors
/// As for [`there`], or if the object has no such section.
pub(super) fn place(snapshot: &Snapshot, place: &Place) -> Result<Place, String> {
    let key = &place.object;
    let Some(object) = snapshot.get(key) else {
        if !snapshot.lacks(key) {
            return Ok(place.clone());
        }
        return there(snapshot, key).map(|()| place.clone());
    };
    let Some(name) = &place.section else {
        return Ok(place.clone());
    };
    if let Some(label) = section::resolve(object, name, SectionNames::ANY) {
        return Ok(key.section(label));
    }
    let labels = section::labels(object);
    if labels.contains(name) {
        return Ok(place.clone());
    }
    let labels: Vec<&str> = labels.iter().map(|label| &**label).collect();
    let key = escape(&key.to_string());
    Err(match (nearest(name, &labels), labels.as_slice()) {
        (_, []) => format!("{key} has no sections"),
        (Some(near), _) => format!("{key} has no section {name:?}; did you mean {near:?}?"),
        (None, _) => format!("{key} has no section {name:?}; it has {}", quoted(&labels)),
    })
}
