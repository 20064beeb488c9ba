//! The filters of the rules of a route: their types, and the objects that they name (`ExtensionRef`).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::backend_json::BackendJson;
use super::{BackendRef, Header, Node, Object, RetainedFields};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::json_text::JsonText;
use crate::model::literal;

/// The filters of a rule and of its backends. Most rules have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// The objects that filters of the rule itself name, in the order of the filters.
    pub of_rule: Box<[ObjectKey]>,
    /// The objects that filters of its backends name.
    pub of_backends: Box<[ObjectKey]>,
    /// The types of the filters of the rule itself, sorted.
    pub types: Box<[Arc<str>]>,
    /// The types of the filters of its backends, sorted.
    pub types_of_backends: Box<[Arc<str>]>,
    /// The backends that filters of the rule and of its backends send requests to, each with the type of the filter: `RequestMirror`,
    /// `ExternalAuth`.
    pub called: Box<[(Arc<str>, BackendRef)]>,
    /// The values of filters of the rule itself by type, as far as profiles need them; the last of each type.
    pub values: Box<[(Arc<str>, JsonText)]>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FilterJson<'a> {
    r#type: Arc<str>,
    extension_ref: Option<RefJson>,
    // Read by themselves: a fault in one of them must not hide the other filters.
    #[serde(borrow)]
    request_mirror: Option<&'a RawValue>,
    #[serde(borrow)]
    external_auth: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallJson<'a> {
    #[serde(borrow)]
    backend_ref: BackendJson<'a>,
}

#[derive(Deserialize)]
struct RefJson {
    group: Arc<str>,
    kind: Arc<str>,
    name: Arc<str>,
}

// === impl Filters ===

impl Filters {
    /// Reads the filters of a rule and of its backends; `None` if there are none. Filters that cannot be read do not
    /// count.
    pub(super) fn read<'a>(
        of_rule: Option<&'a RawValue>,
        of_backends: impl Iterator<Item = &'a RawValue>,
        header: &Header,
    ) -> Option<Box<Self>> {
        let values = of_rule.map_or_else(Vec::new, values);
        let of_rule = of_rule.map_or_else(Vec::new, parsed);
        let of_backends: Vec<FilterJson<'_>> = of_backends.flat_map(parsed).collect();
        let is_empty = of_rule.is_empty() && of_backends.is_empty();
        (!is_empty).then(|| {
            let called = of_rule.iter().chain(&of_backends);
            let called = called.filter_map(|filter| filter.called(header));
            Box::new(Self {
                called: called.collect(),
                values: values.into(),
                types: types(&of_rule),
                types_of_backends: types(&of_backends),
                of_rule: named(of_rule, header),
                of_backends: named(of_backends, header),
            })
        })
    }

    /// The value of the last filter of a type that the rule itself has, if profiles need it.
    pub(crate) fn value(&self, filter: &str) -> Option<&JsonText> {
        let mut values = self.values.iter();
        let found = values.find(|(name, _)| **name == *filter);
        found.map(|(_, value)| value)
    }

    /// Removes values that no profile reads.
    pub(super) fn trim(&mut self, keeps: &RetainedFields) {
        if !self.is_trimmed(keeps) {
            let mut values = std::mem::take(&mut self.values).into_vec();
            values.retain(|(name, _)| keeps.filter(name));
            self.values = values.into();
        }
    }

    /// Whether [`Filters::trim`] would remove nothing.
    pub(super) fn is_trimmed(&self, keeps: &RetainedFields) -> bool {
        self.values.iter().all(|(name, _)| keeps.filter(name))
    }

    /// Whether any of them names an object.
    pub(crate) fn names_objects(&self) -> bool {
        !(self.of_rule.is_empty() && self.of_backends.is_empty())
    }
}

// === impl FilterJson ===

impl FilterJson<'_> {
    /// The backend to which it sends requests, with its type; `None` if that cannot be read.
    fn called(&self, header: &Header) -> Option<(Arc<str>, BackendRef)> {
        let call = match &*self.r#type {
            "RequestMirror" => self.request_mirror,
            "ExternalAuth" => self.external_auth,
            _ => None,
        };
        let call: CallJson<'_> = serde_json::from_str(call?.get()).ok()?;
        Some((self.r#type.clone(), call.backend_ref.reference(header)))
    }
}

// === impl Object ===

impl Object {
    /// The filters of a route, rule by rule, of the rules that have some.
    pub fn filters(&self) -> impl Iterator<Item = &Filters> {
        let rules = match &self.node {
            Node::Route { rules, .. } => &**rules,
            _ => &[],
        };
        rules.iter().filter_map(|rule| rule.filters.as_deref())
    }

    /// The types of the filters of a route: those of its rules, and those of their backends.
    pub fn filter_types(&self) -> (BTreeSet<Arc<str>>, BTreeSet<Arc<str>>) {
        let of_rules = self.filters().flat_map(|filters| &filters.types);
        let of_backends = self
            .filters()
            .flat_map(|filters| &filters.types_of_backends);
        (of_rules.cloned().collect(), of_backends.cloned().collect())
    }
}

fn parsed(filters: &RawValue) -> Vec<FilterJson<'_>> {
    serde_json::from_str(filters.get()).unwrap_or_default()
}

/// The values of filters by type, without those that name objects; of filters that cannot be read none. Of two filters of one type the last
/// one counts.
fn values(filters: &RawValue) -> Vec<(Arc<str>, JsonText)> {
    let Ok(Value::Array(filters)) = literal::from_str(filters.get()) else {
        return Vec::new();
    };
    let mut values: Vec<(Arc<str>, JsonText)> = Vec::new();
    for filter in filters {
        let name = filter.get("type").and_then(Value::as_str);
        let name = name.filter(|name| *name != "ExtensionRef");
        let (Some(name), Some(members)) = (name, filter.as_object()) else {
            continue;
        };
        let mut members = members.iter();
        if let Some((_, value)) = members.find(|(member, _)| *member != "type") {
            values.retain(|(known, _)| **known != *name);
            values.push((name.into(), value.into()));
        }
    }
    values
}

fn types(filters: &[FilterJson<'_>]) -> Box<[Arc<str>]> {
    let types: BTreeSet<&Arc<str>> = filters.iter().map(|filter| &filter.r#type).collect();
    types.into_iter().cloned().collect()
}

fn named(filters: Vec<FilterJson<'_>>, header: &Header) -> Box<[ObjectKey]> {
    let of_type = filters
        .into_iter()
        .filter(|filter| &*filter.r#type == "ExtensionRef");
    let refs = of_type.filter_map(|filter| filter.extension_ref);
    refs.map(|named| {
        let gk = GroupKind::new(named.group, named.kind);
        ObjectKey::new(gk, header.namespace.clone(), named.name)
    })
    .collect()
}
