//! Where a policy has the settings that were recorded, and which of them protect.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use attache::engine::ids::GroupKind;
use attache::engine::object::{Node, Object};
use serde::Deserialize;
use serde_json::Value;

use crate::recording::condition;

/// `settings.yaml` of a project.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The group of its policies, where a kind does not say another.
    pub(crate) group: String,
    /// What it says in their status.
    pub(crate) status: Status,
    /// By kind of policy.
    pub(crate) kinds: BTreeMap<String, OfKind>,
}

/// How a project tells what became of a policy.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Status {
    /// It is accepted; any of these types.
    #[serde(default = "accepted")]
    pub(crate) accepted: Vec<String>,
    /// The reason for which a policy is not accepted on a target where nothing of it acts.
    #[serde(default)]
    pub(crate) no_effect: Option<String>,
    /// Another policy has its place.
    #[serde(default)]
    pub(crate) overridden: Option<Condition>,
    /// It is put together with others.
    #[serde(default)]
    pub(crate) merged: Option<Condition>,
    /// It says nothing of some kinds and targets: only what it says is compared.
    #[serde(default)]
    pub(crate) of_some: bool,
    /// Its ancestors are whole objects: no listeners, and no parents of routes that name one.
    #[serde(default)]
    pub(crate) of_objects: bool,
    /// What is said of a policy on a Gateway is said on the Gateway's `ListenerSet`s too.
    #[serde(default)]
    pub(crate) on_sets_of_gateways: bool,
}

fn accepted() -> Vec<String> {
    vec!["Accepted".to_owned()]
}

/// A condition that is met: of this type, and of this status and reason where they are given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Condition {
    #[serde(rename = "type")]
    pub(crate) type_: String,
    status: Option<String>,
    reason: Option<String>,
}

/// The settings of a kind that were recorded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfKind {
    /// Its group, where it is not that of most.
    group: Option<String>,
    /// Where they are recorded.
    #[serde(default)]
    pub(crate) on: On,
    pub(crate) settings: BTreeMap<String, Setting>,
}

/// The places at which the settings of a kind are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum On {
    /// `listener route#rule`.
    #[default]
    Rules,
    /// `listener`.
    Listeners,
    /// `Service/namespace/name`.
    Services,
    /// The Gateway itself, and the Service or `ServiceEntry` that clients of a mesh call.
    Called,
}

/// One setting.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Setting {
    /// Pointers into the spec; `*` is every item of a list or map. None where the policies themselves were recorded.
    #[serde(default)]
    at: Vec<String>,
    /// It is set by policies that have one of these values at a pointer; by all where there is none.
    #[serde(default)]
    only: BTreeMap<String, Vec<Value>>,
    /// The order of its values means nothing.
    #[serde(default)]
    unordered: bool,
    /// Whether somebody is kept out by it.
    #[serde(default)]
    pub(crate) protects: bool,
    /// Where this is set it protects only as long as something else works, and nobody can tell that from objects.
    #[serde(default)]
    may_fail_open: Option<String>,
    /// The controller writes its values without this at the start.
    #[serde(default)]
    without: String,
    /// And without what comes from here on.
    #[serde(default)]
    until: String,
}

pub(crate) fn read(dir: &Path) -> Settings {
    let text = fs::read_to_string(dir.join("settings.yaml")).unwrap();
    serde_saphyr::from_str(&text).unwrap()
}

// === impl Condition ===

impl Condition {
    pub(crate) fn is_met(&self, all: &str) -> bool {
        let is =
            |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|w| w == found);
        condition(all, &self.type_)
            .is_some_and(|(status, reason)| is(&self.status, status) && is(&self.reason, reason))
    }
}

// === impl On ===

impl On {
    /// Whether settings that are recorded so may stand at a place.
    pub(crate) fn takes(self, place: &str) -> bool {
        match self {
            Self::Rules => place.contains(' '),
            Self::Services => place.starts_with("Service/"),
            Self::Listeners => !place.contains(' ') && !place.starts_with("Service/"),
            Self::Called => !place.contains([' ', '#']),
        }
    }

    /// Whether the paths through an object lead to such places.
    pub(crate) fn is_at(self, object: &Object) -> bool {
        let node = &object.node;
        let is_entry = object.key.gk.kind.as_ref() == "ServiceEntry";
        match self {
            Self::Rules => matches!(node, Node::Route { .. }),
            Self::Listeners => matches!(node, Node::Gateway { .. } | Node::ListenerSet { .. }),
            Self::Services => matches!(node, Node::Service { .. }),
            Self::Called => is_entry || matches!(node, Node::Gateway { .. } | Node::Service { .. }),
        }
    }
}

// === impl Setting ===

impl Setting {
    fn is_unordered(&self) -> bool {
        self.unordered || self.at.is_empty()
    }

    /// Whether a policy with these settings sets it.
    fn is_of(&self, spec: &Value) -> bool {
        let mut only = self.only.iter();
        only.all(|(pointer, values)| values.contains(spec.pointer(pointer).unwrap_or(&Value::Null)))
    }

    /// A value as the controller writes it.
    fn cut(&self, value: &str) -> String {
        let value = value.strip_prefix(&self.without).unwrap_or(value);
        let end = Some(&self.until).filter(|until| !until.is_empty());
        let (value, _) = end
            .and_then(|until| value.split_once(until.as_str()))
            .unwrap_or((value, ""));
        value.to_owned()
    }
}

// === impl Settings ===

impl Settings {
    /// The kinds, by their names.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&String, GroupKind, &OfKind)> {
        self.kinds.iter().map(|(name, of)| {
            let group = of.group.as_ref().unwrap_or(&self.group);
            (name, GroupKind::new(group.as_str(), name.as_str()), of)
        })
    }
}

// === impl OfKind ===

impl OfKind {
    /// The settings among these that keep somebody out.
    pub(crate) fn protecting<'a>(
        &'a self,
        specs: &'a [(String, Value)],
        names: impl Iterator<Item = &'a String>,
    ) -> Vec<&'a String> {
        let protects = |name: &&String| {
            let setting = &self.settings[*name];
            let open = setting.may_fail_open.as_ref();
            let opens = |spec: &Value| {
                let at = open.and_then(|pointer| spec.pointer(pointer));
                at == Some(&Value::Bool(true))
            };
            setting.protects && !specs.iter().any(|(_, spec)| opens(spec))
        };
        names.filter(protects).collect()
    }

    /// The recorded settings that policies have: what is in force of each policy or of several together, under their
    /// names.
    pub(crate) fn of(&self, specs: &[(String, Value)]) -> BTreeMap<String, Vec<String>> {
        let found = self.settings.iter().filter_map(|(name, setting)| {
            let mut values = Vec::new();
            for (policies, spec) in specs.iter().filter(|(_, spec)| setting.is_of(spec)) {
                if setting.at.is_empty() {
                    values.push(policies.clone());
                }
                for pointer in &setting.at {
                    let tokens: Vec<&str> = pointer.split('/').skip(1).collect();
                    collect(spec, &tokens, &mut values);
                }
            }
            let mut values: Vec<String> = values.iter().map(|v| setting.cut(v)).collect();
            if setting.is_unordered() {
                values.sort();
            }
            (!values.is_empty()).then(|| (name.clone(), values))
        });
        found.collect()
    }

    /// Those of this kind out of what was recorded at one place.
    pub(crate) fn among(
        &self,
        recorded: &BTreeMap<String, Value>,
    ) -> BTreeMap<String, Vec<String>> {
        let own = |name: &&String| self.settings.contains_key(*name);
        let own = recorded.keys().filter(own);
        let values = |name: &String| {
            let mut values = texts(&recorded[name]);
            if self.settings[name].is_unordered() {
                values.sort();
            }
            (name.clone(), values)
        };
        own.map(values).collect()
    }
}

fn collect(value: &Value, tokens: &[&str], into: &mut Vec<String>) {
    match tokens.split_first() {
        None => into.extend(texts(value)),
        Some((&"*", rest)) => {
            let of_list = value.as_array().into_iter().flatten();
            let of_map = value.as_object().into_iter().flat_map(|map| map.values());
            for item in of_list.chain(of_map) {
                collect(item, rest, into);
            }
        }
        Some((token, rest)) => {
            if let Some(below) = value.get(token) {
                collect(below, rest, into);
            }
        }
    }
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::String(text) => vec![text.clone()],
        Value::Null => Vec::new(),
        other => vec![other.to_string()],
    }
}
