//! Maps the recorded settings to fields of policies; says which of them protect.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::{Node, Object};
use serde::Deserialize;
use serde_json::{Value, json};

use super::recording::condition;

/// The `settings.yaml` of a project.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The group of its policies, unless a kind has another.
    pub(crate) group: String,
    /// The form in which the project writes status.
    pub(crate) status: Status,
    /// The policy kinds.
    pub(crate) kinds: BTreeMap<String, OfKind>,
    /// Objects that the recorder made and did not record.
    #[serde(default)]
    pub(crate) unrecorded: Option<Unrecorded>,
}

/// Objects that the recorder made because settings of a state name them. It did not record them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Unrecorded {
    api_version: String,
    kind: String,
    namespaces: Vec<String>,
    /// Their names without the number at the end.
    names: Vec<String>,
    /// The number of objects with each of these names.
    count: usize,
}

// === impl Unrecorded ===

impl Unrecorded {
    /// Their kind.
    pub(crate) fn kind(&self) -> GroupKind {
        let group = self.api_version.split('/').next().unwrap();
        GroupKind::new(group, self.kind.as_str())
    }

    /// Those that a state names.
    pub(crate) fn with_settings(&self, state: &[Value]) -> Vec<Value> {
        let text = serde_json::to_string(state).unwrap();
        let all = self.names.iter();
        let all = all.flat_map(|name| (0..self.count).map(move |i| format!("{name}{i}")));
        let named: Vec<String> = all
            .filter(|name| text.contains(&format!("\"{name}\"")))
            .collect();
        let each = |namespace: &String| {
            let metadata = |name: &String| json!({"namespace": namespace, "name": name});
            let object = |name: &String| json!({"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata(name), "spec": {}});
            named.iter().map(object).collect::<Vec<Value>>()
        };
        self.namespaces.iter().flat_map(each).collect()
    }
}

/// The form in which a project reports the outcome of a policy.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // Each is a habit of its own.
pub(crate) struct Status {
    /// The policy is accepted; any of these condition types.
    #[serde(default = "accepted")]
    pub(crate) accepted: Vec<String>,
    /// The reason of a policy that is not accepted on a target because none of its settings applies there.
    #[serde(default)]
    pub(crate) no_effect: Option<String>,
    /// Another policy overrides it.
    #[serde(default)]
    pub(crate) overridden: Option<Condition>,
    /// It is merged with others.
    #[serde(default)]
    pub(crate) merged: Option<Condition>,
    /// The project does not report on some kinds and targets: only what it reports is compared.
    #[serde(default)]
    pub(crate) of_some: bool,
    /// Its ancestors are whole objects: no listeners, and no parents of routes.
    #[serde(default)]
    pub(crate) of_objects: bool,
    /// The ancestors of a policy on a route are the parents as the route names them, with the listener.
    #[serde(default)]
    pub(crate) of_parent_refs: bool,
    /// Reports on a policy for a Gateway appear for the Gateway's `ListenerSets` too.
    #[serde(default)]
    pub(crate) on_sets_of_gateways: bool,
}

fn accepted() -> Vec<String> {
    vec!["Accepted".to_owned()]
}

/// A condition of this type, and with this status and reason if given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Condition {
    #[serde(rename = "type")]
    pub(crate) type_: String,
    status: Option<String>,
    reason: Option<String>,
}

/// The recorded settings of a kind.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OfKind {
    /// Its group, if it differs from the project's.
    group: Option<String>,
    /// The places at which they are recorded.
    #[serde(default)]
    pub(crate) on: On,
    /// The controller reports only whether a policy is accepted, and only on the backends that routes use: only what it reports
    /// is compared.
    #[serde(default)]
    pub(crate) of_used: bool,
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
    /// `Service/namespace/name#port`, the port by its number.
    Ports,
    /// The Gateway itself, and the Service or `ServiceEntry` that clients of a mesh call; `listener route#rule` for routes of
    /// TCP and TLS.
    Called,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Setting {
    /// Pointers into the spec; `*` matches every item of a list or map. Empty if the policies themselves are recorded.
    #[serde(default)]
    at: Vec<String>,
    /// Only policies with one of these values at a pointer have the setting. Empty: all policies.
    #[serde(default)]
    only: BTreeMap<String, Vec<Value>>,
    /// The order of its values has no meaning.
    #[serde(default)]
    unordered: bool,
    /// Whether it protects.
    #[serde(default)]
    pub(crate) protects: bool,
    /// A field that makes the protection depend on something that objects do not show.
    #[serde(default)]
    may_fail_open: Option<String>,
    /// A prefix that the controller's values do not have.
    #[serde(default)]
    without: String,
    /// A separator; the controller's values have neither it nor what follows.
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
    /// Whether settings with these places can be at a place.
    pub(crate) fn takes(self, place: &str) -> bool {
        match self {
            Self::Rules => place.contains(' '),
            Self::Services => place.starts_with("Service/") && !place.contains('#'),
            Self::Ports => place.starts_with("Service/") && place.contains('#'),
            Self::Listeners => !place.contains(' ') && !place.starts_with("Service/"),
            Self::Called => !place.contains([' ', '#']),
        }
    }

    /// Whether paths through an object lead to these places.
    pub(crate) fn is_at(self, object: &Object) -> bool {
        let node = &object.node;
        let is_entry = object.key.gk.kind == "ServiceEntry";
        match self {
            Self::Rules => matches!(node, Node::Route { .. }),
            Self::Listeners => matches!(node, Node::Gateway { .. } | Node::ListenerSet { .. }),
            Self::Services | Self::Ports => matches!(node, Node::Service { .. }),
            Self::Called => {
                is_entry
                    || Self::has_no_http(object)
                    || matches!(node, Node::Gateway { .. } | Node::Service { .. })
            }
        }
    }

    /// Whether an object is a route of TCP or TLS.
    pub(crate) fn has_no_http(object: &Object) -> bool {
        Self::is_without_http(&object.key.gk)
    }

    /// Whether a kind is one of routes of TCP or TLS.
    pub(crate) fn is_without_http(kind: &GroupKind) -> bool {
        ["TCPRoute", "TLSRoute"].contains(&&*kind.kind)
    }
}

// === impl Setting ===

impl Setting {
    fn is_unordered(&self) -> bool {
        self.unordered || self.at.is_empty()
    }

    /// Whether a policy with this spec has the setting.
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
    /// The kinds with their names.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&String, GroupKind, &OfKind)> {
        self.kinds.iter().map(|(name, settings_of_kind)| {
            let group = settings_of_kind.group.as_ref().unwrap_or(&self.group);
            (
                name,
                GroupKind::new(group.as_str(), name.as_str()),
                settings_of_kind,
            )
        })
    }
}

// === impl OfKind ===

impl OfKind {
    /// The settings among `names` that protect.
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

    /// The recorded settings that policies have, by the names of these policies: one policy, or several that merge.
    pub(crate) fn settings_in(&self, specs: &[(String, Value)]) -> BTreeMap<String, Vec<String>> {
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

    /// The settings of this kind among those recorded at one place.
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
