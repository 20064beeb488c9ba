//! The filters of the rules of a route: their types, and the objects that they name (`ExtensionRef`).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Header, Node, Object};
use crate::model::ids::{GroupKind, ObjectKey};

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
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FilterJson {
    r#type: Arc<str>,
    extension_ref: Option<RefJson>,
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
        of_rule: Option<&RawValue>,
        of_backends: impl Iterator<Item = &'a RawValue>,
        header: &Header,
    ) -> Option<Box<Self>> {
        let of_rule = of_rule.map_or_else(Vec::new, parsed);
        let of_backends: Vec<FilterJson> = of_backends.flat_map(parsed).collect();
        let is_empty = of_rule.is_empty() && of_backends.is_empty();
        (!is_empty).then(|| {
            Box::new(Self {
                types: types(&of_rule),
                types_of_backends: types(&of_backends),
                of_rule: named(of_rule, header),
                of_backends: named(of_backends, header),
            })
        })
    }

    /// Whether any of them names an object.
    pub(crate) fn names_objects(&self) -> bool {
        !(self.of_rule.is_empty() && self.of_backends.is_empty())
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

fn parsed(filters: &RawValue) -> Vec<FilterJson> {
    serde_json::from_str(filters.get()).unwrap_or_default()
}

fn types(filters: &[FilterJson]) -> Box<[Arc<str>]> {
    let types: BTreeSet<&Arc<str>> = filters.iter().map(|filter| &filter.r#type).collect();
    types.into_iter().cloned().collect()
}

fn named(filters: Vec<FilterJson>, header: &Header) -> Box<[ObjectKey]> {
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
