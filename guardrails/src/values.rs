//! The variables of rules as CEL values.

use std::collections::BTreeSet;
use std::sync::Arc;

use attache_engine::admission::disclosure::Subject;
use attache_engine::admission::request::Operation;
use attache_engine::effective::{PathGroup, StackLevel};
use attache_engine::merge::EffectivePolicy;
use attache_engine::model::ids::{GroupKind, ObjectKey, Place};
use attache_engine::model::level::Level;
use attache_engine::model::object::Node;
use attache_engine::model::selector::Labels;
use attache_engine::state::snapshot::{Snapshot, namespace_key};
use attache_engine::topology::listener_at;
use kube_cel::cel::Value;
use kube_cel::cel::objects::{Key, Map};
use serde_json::Value as Json;

use crate::cost::TEXT;
use crate::expression::whole;
use crate::in_force::InForce;
use crate::path::GuardedPath;

/// The settings in force as a value.
#[derive(Debug)]
pub(crate) struct Settings {
    /// `None` if only the controller of the kind knows them.
    pub(crate) fields: Option<Vec<(&'static str, Value)>>,
    /// The number of values.
    pub(crate) size: usize,
}

// === impl Settings ===

impl Settings {
    /// `by_policy` is whether each policy is in force as a whole, under its name.
    pub(crate) fn from_effective(effective: &EffectivePolicy, by_policy: bool) -> Self {
        let spec = if by_policy {
            effective.spec_by_policy()
        } else {
            effective.spec()
        };
        let Some((spec, leaves)) = spec else {
            return Self {
                fields: None,
                size: 1,
            };
        };
        let size = weight(&spec) + leaves.len();
        let sources = leaves.into_iter().map(|(pointer, setting)| {
            let policy = &setting.policy;
            (pointer, identity(policy))
        });
        let sources = Value::Map(Map {
            map: Arc::new(
                sources
                    .map(|(k, v)| (Key::String(Arc::new(k)), v))
                    .collect(),
            ),
        });
        Self {
            fields: Some(vec![("spec", of_json(&spec)), ("sources", sources)]),
            size,
        }
    }
}

fn weight(value: &Json) -> usize {
    match value {
        Json::Array(all) => all.iter().map(weight).sum::<usize>() + 1,
        Json::Object(all) => all.values().map(weight).sum::<usize>() + 1,
        Json::String(text) => text.len() / TEXT + 1,
        _ => 1,
    }
}

/// A JSON value. Whole numbers are `int`, as in rules of CRDs.
fn of_json(value: &Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(is) => Value::Bool(*is),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(number), _, _) => Value::Int(number),
            (_, Some(number), _) => Value::UInt(number),
            // As in comparisons of rules, 5.0 is 5.
            (_, _, Some(number)) => whole(number).map_or(Value::Float(number), Value::Int),
            _ => Value::Null,
        },
        Json::String(text) => string(text),
        Json::Array(all) => Value::List(Arc::new(all.iter().map(of_json).collect())),
        Json::Object(all) => map(all
            .iter()
            .map(|(key, value)| (key.as_str(), of_json(value)))),
    }
}

pub(crate) fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Value {
    let entries = entries.into_iter();
    let entries = entries.map(|(key, value)| (Key::String(Arc::new(key.into())), value));
    Value::Map(Map {
        map: Arc::new(entries.collect()),
    })
}

fn nothing() -> Value {
    map::<String>([])
}

pub(crate) fn string(text: &str) -> Value {
    Value::String(Arc::new(text.to_owned()))
}

pub(crate) fn names(names: &BTreeSet<Arc<str>>) -> Value {
    Value::List(Arc::new(names.iter().map(|name| string(name)).collect()))
}

fn labels(labels: &Labels) -> Value {
    map(labels.iter().map(|(key, value)| (&**key, string(value))))
}

fn identity(key: &ObjectKey) -> Value {
    map(identifying(key))
}

fn identifying(key: &ObjectKey) -> [(&'static str, Value); 4] {
    [
        ("group", string(&key.gk.group)),
        ("kind", string(&key.gk.kind)),
        ("namespace", string(&key.namespace)),
        ("name", string(&key.name)),
    ]
}

/// An object: its identity, its labels and those of its Namespace, and the parts of its spec that
/// guardrails read.
fn object(snapshot: &Snapshot, key: &ObjectKey) -> Vec<(&'static str, Value)> {
    let mut fields = identifying(key).to_vec();
    let labels_of = |key: &ObjectKey| {
        let object = snapshot.get(key);
        object.map_or_else(nothing, |object| labels(&object.meta.labels))
    };
    fields.push(("labels", labels_of(key)));
    fields.push(("namespaceLabels", labels_of(&namespace_key(&key.namespace))));
    match snapshot.get(key).map(|object| &object.node) {
        Some(Node::Gateway { class, .. }) => fields.push(("class", string(class))),
        Some(Node::Route { hostnames, .. }) => {
            let hostnames = hostnames.iter().map(|name| string(name)).collect();
            fields.push(("hostnames", Value::List(Arc::new(hostnames))));
        }
        _ => {}
    }
    fields
}

/// The number of values that an object has in rules.
pub(crate) fn weight_of(snapshot: &Snapshot, key: &ObjectKey) -> usize {
    let labels = |key: &ObjectKey| {
        snapshot
            .get(key)
            .map_or(0, |object| object.meta.labels.len())
    };
    let hostnames = match snapshot.get(key).map(|object| &object.node) {
        Some(Node::Route { hostnames, .. }) => hostnames.len(),
        _ => 0,
    };
    8 + labels(key) + labels(&namespace_key(&key.namespace)) + hostnames
}

/// An object on the path; null if there is none.
pub(crate) fn of_object(snapshot: &Snapshot, key: Option<&ObjectKey>) -> Value {
    key.map_or(Value::Null, |key| map(object(snapshot, key)))
}

/// The effective target.
pub(crate) fn target(snapshot: &Snapshot, place: Option<&Place>) -> Value {
    let Some(place) = place else {
        return Value::Null;
    };
    let mut fields = object(snapshot, &place.object);
    fields.push(("section", string(place.section.as_deref().unwrap_or(""))));
    map(fields)
}

/// The listener of a path; null if it begins at none.
pub(crate) fn listener(snapshot: &Snapshot, place: Option<&Place>) -> Value {
    let Some(listener) = place.and_then(|place| listener_at(snapshot, place)) else {
        return Value::Null;
    };
    map([
        ("name", string(&listener.name)),
        (
            "hostname",
            string(listener.hostname.as_deref().unwrap_or("")),
        ),
        ("port", Value::Int(i64::from(listener.port))),
        ("protocol", string(&listener.protocol)),
    ])
}

/// The names along a path, by level.
pub(crate) fn path(path: &GuardedPath<'_>) -> Value {
    let names = path.steps().filter_map(|step| {
        let place = &step.place;
        let section = || place.section.as_deref().unwrap_or("");
        Some(match step.level {
            Level::GatewayClass => ("class", string(&place.object.name)),
            Level::Gateway => ("gateway", string(&place.object.path())),
            Level::ListenerSet => ("listenerSet", string(&place.object.path())),
            Level::Listener => ("listener", string(section())),
            Level::Frontend => ("service", string(&place.object.path())),
            Level::Route => ("route", string(&place.object.path())),
            Level::Rule => ("rule", string(section())),
            Level::Backend => ("backend", string(&place.object.path())),
            Level::Port => ("port", string(section())),
            Level::GatewayNamespace | Level::RouteNamespace | Level::BackendNamespace => {
                return None;
            }
        })
    });
    map(names)
}

/// The policies along a path, kind by kind, from the least to the most specific.
pub(crate) fn policies(snapshot: &Snapshot, in_force: &InForce<'_>) -> Value {
    let of_group = |group: &PathGroup| {
        let in_force: BTreeSet<ObjectKey> = group.effective.policies();
        let of_level = |level: &StackLevel| {
            let place = &level.step.place;
            let mut attached = identifying(&place.object).to_vec();
            attached.push(("section", string(place.section.as_deref().unwrap_or(""))));
            let attached = map(attached);
            let policies = level.policies.iter().map(|policy| {
                let key = policy.key();
                let object = snapshot.get(key);
                let own = object.map_or_else(nothing, |object| labels(&object.meta.labels));
                let mut fields = identifying(key).to_vec();
                fields.push(("labels", own));
                fields.push(("attachedTo", attached.clone()));
                // A policy that merges without settings leaves the effective policy as it is.
                let is_in_force = in_force.contains(key) && !policy.adds_nothing();
                fields.push(("inForce", Value::Bool(is_in_force)));
                map(fields)
            });
            policies.collect::<Vec<_>>()
        };
        group.stack.iter().flat_map(of_level).collect::<Vec<_>>()
    };
    let groups = in_force.iter();
    let all = groups.flat_map(|(_, group)| of_group(group)).collect();
    Value::List(Arc::new(all))
}

/// The request. Without one, all of its fields are empty.
pub(crate) fn request(
    object_and_operation: Option<(&ObjectKey, Operation)>,
    subject: Option<&Subject>,
) -> Value {
    let nothing = ObjectKey::new(GroupKind::core(""), "", "");
    let (key, operation) = match object_and_operation {
        None => (&nothing, ""),
        Some((key, operation)) => {
            let operation = match operation {
                Operation::Create => "CREATE",
                Operation::Update => "UPDATE",
                Operation::Delete => "DELETE",
                Operation::Connect => "CONNECT",
            };
            (key, operation)
        }
    };
    let groups = subject.map_or(&[][..], |subject| &subject.groups);
    let user = [
        (
            "username",
            string(subject.map_or("", |subject| &subject.user)),
        ),
        ("uid", string(subject.map_or("", |subject| &subject.uid))),
        (
            "groups",
            Value::List(Arc::new(groups.iter().map(|group| string(group)).collect())),
        ),
    ];
    map([
        ("operation", string(operation)),
        ("userInfo", map(user)),
        ("object", identity(key)),
    ])
}
