//! Computes the write that gives an object the conditions that it should have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::CONTROLLER;
use super::live::{Live, is_own, list, part, text};
use super::own_conditions::{OwnConditions, Part};
use super::place::Place;
use crate::engine::model::ids::{GATEWAY_API, ObjectKey};

/// The most conditions of an entry of `status.parents`, and of a Gateway (Gateway API v1.7.0, maxItems).
const MOST_CONDITIONS: usize = 8;
/// The most entries of `status.parents` (Gateway API v1.7.0, maxItems).
const MOST_PARENTS: usize = 32;
/// The reason of the conditions. Its format has no room for the names of policies.
const REASON: &str = "Accepted";

/// The write that an object needs.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Write {
    /// Nothing: the object has what it should have.
    Nothing,
    /// Nothing yet, and why.
    Later(&'static str),
    /// A merge patch of the status, for this version of the object alone.
    Merge(Value),
    /// The fields of attache in the status, by server-side apply.
    Apply(Value),
    /// The annotations of attache, by server-side apply.
    Annotate(Value),
}

/// The write for an object. `now` is the time of conditions that begin.
pub(super) fn write(
    key: &ObjectKey,
    place: Place,
    live: &Live<'_>,
    wanted: &OwnConditions,
    now: &str,
) -> Write {
    match place {
        Place::Parents => parents(key, live, wanted, now),
        Place::Conditions => conditions(key, live, wanted, now),
        Place::Annotation => annotations(live, key, wanted),
    }
}

/// Routes: `status.parents` is one list for all controllers, so it is written as a whole, for the version that was read.
/// The entries of others stay as they are. attache has an entry for a parent when the controller of the parent has one, and
/// has seen the last change: tools that judge a route by its entries must not take it for accepted because of ours.
fn parents(key: &ObjectKey, live: &Live<'_>, wanted: &OwnConditions, now: &str) -> Write {
    let (mut ours, others): (Vec<&Value>, Vec<&Value>) = live.parents().partition(|e| is_own(e));
    let mut entries: Vec<Value> = others.iter().copied().cloned().collect();
    let mut later = None;
    for (parent, messages) in &wanted.parts {
        let is_about = |entry: &&&Value| {
            let reference = entry.get("parentRef").unwrap_or(&Value::Null);
            part(key, reference) == *parent
        };
        let theirs: Vec<&Value> = others.iter().filter(is_about).copied().collect();
        let own = ours.iter().position(|own| is_about(&own));
        let own = own.map(|at| ours.swap_remove(at));
        let Some(first) = theirs.first() else {
            later = Some("no controller reports on the parent yet");
            continue;
        };
        if theirs.iter().any(|entry| is_behind(live, entry)) {
            later = Some("a controller has not seen the last change of the route");
            entries.extend(own.cloned());
            continue;
        }
        let taken = types(
            theirs
                .iter()
                .flat_map(|entry| list(entry.get("conditions"))),
        );
        let before = own.and_then(|own| own.get("conditions"));
        let conditions: Vec<Value> = free(messages, &taken)
            .take(MOST_CONDITIONS)
            .map(|(name, message)| condition(name, message, live.generation(), before, now))
            .collect();
        if entries.len() >= MOST_PARENTS {
            later = Some("the status of the route has no room for more entries");
        } else if conditions.is_empty() {
            later = Some("others write these conditions");
        } else {
            let reference = first.get("parentRef").cloned().unwrap_or_default();
            entries.push(json!({
                "parentRef": reference,
                "controllerName": CONTROLLER,
                "conditions": conditions,
            }));
        }
    }
    if live.parents().eq(entries.iter()) {
        return later.map_or(Write::Nothing, Write::Later);
    }
    let version = live
        .0
        .get("metadata")
        .and_then(|m| m.get("resourceVersion"));
    Write::Merge(json!({
        "metadata": {"resourceVersion": version},
        "status": {"parents": entries},
    }))
}

/// Kinds whose conditions have an owner each.
fn conditions(key: &ObjectKey, live: &Live<'_>, wanted: &OwnConditions, now: &str) -> Write {
    let owned = live.owned_conditions();
    let is_owned = |condition: &&Value| text(condition, "type").is_some_and(|t| owned.contains(t));
    let all = live.status("conditions");
    let theirs: Vec<&Value> = list(all).filter(|one| !is_owned(one)).collect();
    let is_of_gateway_api = *key.gk.group == *GATEWAY_API || key.gk.is_listener_set();
    let stale = theirs.iter().any(|one| is_stale(live, one));
    if stale && !wanted.is_empty() {
        return Write::Later("a controller has not seen the last change of the object");
    }
    let room = if is_of_gateway_api {
        MOST_CONDITIONS.saturating_sub(theirs.len())
    } else {
        usize::MAX
    };
    let none = BTreeMap::new();
    let messages = wanted.parts.get(&Part::Whole).unwrap_or(&none);
    let taken = types(theirs.into_iter());
    let conditions: Vec<Value> = free(messages, &taken)
        .take(room)
        .map(|(name, message)| condition(name, message, live.generation(), all, now))
        .collect();
    if conditions.is_empty() && !messages.is_empty() && owned.is_empty() {
        return Write::Later("others write these conditions, or the status has no room for more");
    }
    if list(all).filter(is_owned).eq(conditions.iter()) {
        return Write::Nothing;
    }
    let mut body = identity(live, key);
    if let Value::Object(body) = &mut body {
        body.insert("status".to_owned(), json!({"conditions": conditions}));
    }
    Write::Apply(body)
}

/// Kinds without conditions.
fn annotations(live: &Live<'_>, key: &ObjectKey, wanted: &OwnConditions) -> Write {
    let existing = live.own_conditions(key, Place::Annotation);
    if existing.parts == wanted.parts {
        return Write::Nothing;
    }
    let names = wanted.parts.values().flat_map(BTreeMap::keys);
    let annotations: BTreeMap<&String, &str> = names.map(|name| (name, "true")).collect();
    let mut body = identity(live, key);
    if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
        metadata.insert("annotations".to_owned(), json!(annotations));
    }
    Write::Annotate(body)
}

fn identity(live: &Live<'_>, key: &ObjectKey) -> Value {
    let mut metadata = json!({"name": key.name});
    if let (Value::Object(metadata), false) = (&mut metadata, key.namespace.is_empty()) {
        metadata.insert("namespace".to_owned(), json!(key.namespace));
    }
    let (version, kind) = (live.0.get("apiVersion"), live.0.get("kind"));
    json!({"apiVersion": version, "kind": kind, "metadata": metadata})
}

/// Whether an entry of another controller is about an older generation.
fn is_behind(live: &Live<'_>, entry: &Value) -> bool {
    list(entry.get("conditions")).any(|condition| is_stale(live, condition))
}

fn is_stale(live: &Live<'_>, condition: &Value) -> bool {
    let seen = condition.get("observedGeneration").and_then(Value::as_i64);
    let generation = live.generation();
    seen.zip(generation)
        .is_some_and(|(seen, generation)| seen < generation)
}

fn types<'a>(conditions: impl Iterator<Item = &'a Value>) -> BTreeSet<&'a str> {
    conditions
        .filter_map(|condition| text(condition, "type"))
        .collect()
}

/// The conditions that nobody else writes.
fn free<'a>(
    messages: &'a BTreeMap<String, String>,
    taken: &'a BTreeSet<&str>,
) -> impl Iterator<Item = (&'a String, &'a String)> {
    let all = messages.iter();
    all.filter(|(name, _)| !taken.contains(name.as_str()))
}

/// One condition. It keeps the time at which it began.
fn condition(
    name: &str,
    message: &str,
    generation: Option<i64>,
    before: Option<&Value>,
    now: &str,
) -> Value {
    let mut before = list(before).filter(|one| text(one, "type") == Some(name));
    let since = before.find_map(|one| text(one, "lastTransitionTime"));
    let mut condition = json!({
        "type": name,
        "status": "True",
        "reason": REASON,
        "message": message,
        "lastTransitionTime": since.unwrap_or(now),
    });
    if let (Value::Object(condition), Some(generation)) = (&mut condition, generation) {
        condition.insert("observedGeneration".to_owned(), json!(generation));
    }
    condition
}

#[cfg(test)]
mod tests;
