//! JSON patches for the mutating endpoint, which change only what is absent or provably wrong.
//!
//! Each mutation edits a copy of the object; the patch is the difference. A mutation is idempotent, so that replicas,
//! reinvocations and `kubectl apply` do not fight it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use json_patch::Patch;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::admission::evidence::Evidence;
use crate::admission::finding::Finding;
use crate::admission::mutation::Mutation;
use crate::admission::request::{Operation, Request};
use crate::admission::verdict::Verdict;
use crate::model::literal;
use crate::model::object::{Incoming, Object, weigh_all};
use crate::state::snapshot::Snapshot;

mod annotation;
mod migrate;
mod project;
mod strategy;
mod targets;

/// The configured mutations: `true` for on, `false` for off.
pub type Switches = BTreeMap<Mutation, bool>;

/// The enabled mutations. None by default: each changes what users wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutations(BTreeSet<Mutation>);

/// An object during mutation, and the mutations that have changed it.
struct PendingMutation {
    object: Value,
    hash: u64,
    by: BTreeSet<Mutation>,
}

// === impl Mutations ===

impl Mutations {
    /// The mutations that are switched on.
    pub fn new(switches: &Switches) -> Self {
        let on = switches.iter().filter(|(_, on)| **on);
        Self(on.map(|(mutation, _)| *mutation).collect())
    }

    /// Whether a mutation is enabled.
    pub fn has(&self, mutation: Mutation) -> bool {
        self.0.contains(&mutation)
    }
}

/// The patch for a request, and findings about it. Objects that cannot be read are left to the validating endpoint.
pub fn mutate(snapshot: &Snapshot, on: &Mutations, request: &Request<'_>) -> Verdict {
    let writes = matches!(request.operation, Operation::Create | Operation::Update);
    let counts = writes && request.subresource.is_empty() && !on.0.is_empty();
    if !counts || !concerns(snapshot, on, request) {
        return Verdict::default();
    }
    let light = |text: &&RawValue| weigh_all("the object", text.get()).is_ok();
    let Some(text) = request.object.filter(light) else {
        return Verdict::default();
    };
    let (Ok(parts), Some(before)) = (Incoming::parse(text), value(text)) else {
        return Verdict::default();
    };
    let Ok(object) = request.read(parts.clone()) else {
        return Verdict::default();
    };
    if object.meta.deleting {
        return Verdict::default();
    }
    let mut pending = PendingMutation::new(before.clone());
    // A write that leaves the spec unchanged is not about it, but about finalizers or labels.
    let old = request.old.and_then(|old| Incoming::parse(old).ok());
    let same_spec = |old: Incoming<'_>| old.same_spec(&parts) && request.read(old).is_ok();
    if !old.is_some_and(same_spec) {
        mutate_policy(snapshot, on, request, &mut pending);
    }
    let findings = mutate_target(snapshot, on, &object, &mut pending);
    let mut verdict = Verdict::new(findings, &Evidence::Authoritative);
    verdict.patch = difference(&before, &pending.object);
    if !verdict.patch.is_empty() {
        verdict.mutations = pending.by;
    }
    verdict
}

/// Whether an enabled mutation may change objects of the kind.
fn concerns(snapshot: &Snapshot, on: &Mutations, request: &Request<'_>) -> bool {
    let gk = &request.gk;
    snapshot.profile(gk).is_some()
        || (on.has(Mutation::ProjectFields) && snapshot.controls(gk).next().is_some())
        || (on.has(Mutation::AffectedAnnotation) && annotation::is_for(snapshot, gk))
}

fn mutate_policy(
    snapshot: &Snapshot,
    on: &Mutations,
    request: &Request<'_>,
    pending: &mut PendingMutation,
) {
    let Some(profile) = snapshot.profile(&request.gk) else {
        return;
    };
    if on.has(Mutation::NormalizeTargets) {
        pending.by(Mutation::NormalizeTargets, |object| {
            targets::normalize(object, profile);
        });
    }
    if on.has(Mutation::MigrateTargetRef) {
        let definition = snapshot.definition(&request.gk);
        pending.by(Mutation::MigrateTargetRef, |object| {
            migrate::migrate(object, profile, definition);
        });
    }
    if on.has(Mutation::DefaultStrategy) {
        pending.by(Mutation::DefaultStrategy, |object| {
            if let Some(spec @ Value::Object(_)) = object.get_mut("spec") {
                strategy::fill_in(spec, profile);
            }
        });
    }
}

fn mutate_target(
    snapshot: &Snapshot,
    on: &Mutations,
    object: &Object,
    pending: &mut PendingMutation,
) -> Vec<Finding> {
    if on.has(Mutation::AffectedAnnotation) && annotation::is_for(snapshot, &object.key.gk) {
        pending.by(Mutation::AffectedAnnotation, |value| {
            annotation::mark(snapshot, object, value);
        });
    }
    if on.has(Mutation::ProjectFields) {
        pending.by(Mutation::ProjectFields, |value| {
            project::project(snapshot, object, value)
        })
    } else {
        Vec::new()
    }
}

// === impl PendingMutation ===

impl PendingMutation {
    fn new(object: Value) -> Self {
        Self {
            hash: hash(&object),
            object,
            by: BTreeSet::new(),
        }
    }

    /// Runs a mutation, and records it if it changed the object.
    fn by<T>(&mut self, mutation: Mutation, mutate: impl FnOnce(&mut Value) -> T) -> T {
        let answer = mutate(&mut self.object);
        let hash = hash(&self.object);
        if hash != self.hash {
            self.hash = hash;
            self.by.insert(mutation);
        }
        answer
    }
}

/// Detects a change without a copy of the object, which may have megabytes.
fn hash(object: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    object.hash(&mut hasher);
    hasher.finish()
}

fn value(text: &RawValue) -> Option<Value> {
    literal::from_str(text.get()).ok()
}

/// The patch from one value to the other. A patch that does not apply fails the request regardless of the failure
/// policy, so it is tried first. It is empty if it does not yield `after`.
fn difference(before: &Value, after: &Value) -> Patch {
    if before == after {
        return Patch::default();
    }
    let patch = json_patch::diff(before, after);
    let mut patched = before.clone();
    match json_patch::patch(&mut patched, &patch) {
        Ok(()) if patched == *after => patch,
        _ => Patch::default(),
    }
}

/// Sets or removes an annotation of an object.
fn annotate(object: &mut Value, key: &str, value: Option<String>) {
    let Some(Value::Object(meta)) = object.get_mut("metadata") else {
        return;
    };
    let annotations = meta.get_mut("annotations").filter(|map| !map.is_null());
    match (annotations, value) {
        (Some(Value::Object(map)), Some(value)) => {
            map.insert(key.to_owned(), Value::String(value));
        }
        (Some(Value::Object(map)), None) => {
            map.remove(key);
        }
        (None, Some(value)) => {
            let only = Map::from_iter([(key.to_owned(), Value::String(value))]);
            meta.insert("annotations".to_owned(), Value::Object(only));
        }
        (None, None) | (Some(_), _) => {}
    }
}

/// The value at a dotted path, mutable.
fn at_mut<'a>(value: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    path.split('.')
        .try_fold(value, |value, key| value.get_mut(key))
}
