//! The objects that filters of a rule name (`ExtensionRef`).

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Header;
use crate::model::ids::{GroupKind, ObjectKey};
use std::sync::Arc;

/// The objects that filters of a rule name. Most rules have no such filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterRefs {
    /// Those that filters of the rule itself name, in the order of the filters.
    pub of_rule: Box<[ObjectKey]>,
    /// Those that filters of its backends name.
    pub of_backends: Box<[ObjectKey]>,
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

// === impl FilterRefs ===

impl FilterRefs {
    /// Reads the filters of a rule and of its backends; `None` if they name no objects. Filters that cannot be read name
    /// none.
    pub(super) fn read<'a>(
        of_rule: Option<&RawValue>,
        of_backends: impl Iterator<Item = &'a RawValue>,
        header: &Header,
    ) -> Option<Box<Self>> {
        let of_rule: Vec<ObjectKey> =
            of_rule.map_or_else(Vec::new, |filters| named(filters, header));
        let of_backends: Vec<ObjectKey> = of_backends
            .flat_map(|filters| named(filters, header))
            .collect();
        (!of_rule.is_empty() || !of_backends.is_empty()).then(|| {
            Box::new(Self {
                of_rule: of_rule.into(),
                of_backends: of_backends.into(),
            })
        })
    }
}

fn named(filters: &RawValue, header: &Header) -> Vec<ObjectKey> {
    if !filters.get().contains("extensionRef") {
        return Vec::new();
    }
    let filters: Vec<FilterJson> = serde_json::from_str(filters.get()).unwrap_or_default();
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
