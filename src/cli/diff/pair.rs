//! Objects that are compared although their names differ: `--map Gateway/infra/old=Gateway/infra/new`.

use std::collections::BTreeMap;

use super::super::{Failure, find};
use super::read::Read;
use crate::engine::admission::verdict::escape;
use crate::engine::effective::renames::Renames;
use crate::engine::model::ids::{ObjectKey, Place};

/// The places that `--map` names, in A and in B.
///
/// # Errors
/// If a name is not understood, or is that of nothing.
pub(super) fn pairs(words: &[String], [a, b]: [&Read; 2]) -> Result<Vec<(Place, Place)>, Failure> {
    let each = words.iter().map(|word| {
        let wrong = |why: String| format!("--map {word:?}: {why}");
        let (one, other) = word
            .split_once('=')
            .ok_or_else(|| wrong("write KIND/NAMESPACE/NAME=KIND/NAMESPACE/NAME".to_owned()))?;
        let one = place(one, a).map_err(wrong)?;
        Ok((one, place(other, b).map_err(wrong)?))
    });
    each.collect()
}

/// An object or a section of a state.
fn place(word: &str, read: &Read) -> Result<Place, String> {
    let (kind, path) = word
        .split_once('/')
        .ok_or_else(|| "write KIND/NAMESPACE/NAME, or KIND/NAME without a namespace".to_owned())?;
    // A namespace that is not written is that of objects without one.
    let (namespace, name) = path.split_once('/').unwrap_or((&read.namespace, path));
    let place = read.names.place(kind, name, namespace)?;
    let key = &place.object;
    if name.contains('/') || (key.namespace.is_empty() && path.contains('/')) {
        return Err(format!("{}: {kind} has no namespace", escape(word)));
    }
    if read.view.snapshot.get(key).is_none() {
        let (key, name) = (escape(&key.to_string()), escape(&read.name));
        return Err(format!("{key} does not exist in {name}"));
    }
    find::place(&read.view.snapshot, &place)
}

/// The names of the objects of A in B.
///
/// # Errors
/// If the names contradict each other, or two objects of A get one name.
pub(super) fn renames(pairs: &[(Place, Place)], [a, b]: [&Read; 2]) -> Result<Renames, Failure> {
    let mut renames = Renames::default();
    for (one, other) in pairs {
        let added = renames.add(one, other);
        added.map_err(|why| format!("--map: {}", escape(&why.to_string())))?;
    }
    let mut taken: BTreeMap<ObjectKey, &ObjectKey> = BTreeMap::new();
    for object in a.view.snapshot.all().filter(|_| !renames.is_empty()) {
        let later = renames.later(&object.key);
        let Some(other) = taken.insert(later.clone(), &object.key) else {
            continue;
        };
        let mapped = if object.key == later {
            other
        } else {
            &object.key
        };
        let [mapped, later] = [mapped, &later].map(|key| escape(&key.to_string()));
        return Err(format!(
            "--map: {mapped} of {} cannot be compared with {later} of {}, because {} has {later} too",
            escape(&a.name),
            escape(&b.name),
            escape(&a.name)
        )
        .into());
    }
    Ok(renames)
}
