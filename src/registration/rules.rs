//! The rules of webhook configurations: which requests the API server sends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::Endpoint;
use crate::engine::kinds::profile::{ProfileRules, is_policy_kind};
use crate::engine::model::ids::{APIEXTENSIONS, GATEWAY_API, GATEWAY_API_X};
use crate::engine::model::object::Crd;

/// A resource as rules name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resource {
    /// API group; empty for core.
    pub group: Arc<str>,
    /// Whether its objects are namespaced.
    pub namespaced: bool,
    /// Plural name, as in URLs.
    pub plural: Arc<str>,
}

/// Policy kinds as resources.
pub type Policies = BTreeSet<Resource>;

/// The kinds that policies target or affect. This includes Gateway API kinds that are not installed: a rule for them
/// costs nothing, and applies as soon as they are.
const TARGETS: [(&str, &str, bool); 12] = [
    (GATEWAY_API, "gatewayclasses", false),
    (GATEWAY_API, "gateways", true),
    (GATEWAY_API, "grpcroutes", true),
    (GATEWAY_API, "httproutes", true),
    (GATEWAY_API, "listenersets", true),
    (GATEWAY_API, "referencegrants", true),
    (GATEWAY_API, "tcproutes", true),
    (GATEWAY_API, "tlsroutes", true),
    (GATEWAY_API, "udproutes", true),
    (GATEWAY_API_X, "xlistenersets", true),
    ("", "namespaces", false),
    ("", "services", true),
];

/// The webhook for CRDs of policy kinds and for guardrails, if they have one of their own.
const DEFINITIONS: &str = "definitions.attache.dev";

/// The policy kinds among CRDs.
pub fn policies<'a>(rules: &ProfileRules, crds: impl Iterator<Item = &'a Crd>) -> Policies {
    crds.filter(|crd| !crd.served.is_empty() && is_policy_kind(rules, crd))
        .filter(|crd| is_nameable(crd))
        .map(Resource::from)
        .collect()
}

/// Whether a rule can name the kind. The API server accepts no other CRD, but a file may have any, and `*` or
/// `pods/exec` in a rule or role would cover much more.
pub fn is_nameable(crd: &Crd) -> bool {
    let group = crd.gk.group.split('.').map(is_label);
    is_label(&crd.plural) && crd.gk.group.len() <= 253 && group.into_iter().all(|is| is)
}

/// Whether a text is a DNS label.
fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let outer = |c: char| inner(c) && c != '-';
    text.len() <= 63 && text.starts_with(outer) && text.ends_with(outer) && text.chars().all(inner)
}

/// The webhooks of a configuration with their rules; the first is always there. With `apart`, the CRDs of policy kinds and
/// guardrails have a webhook of their own.
pub fn webhooks(
    endpoint: Endpoint,
    apart: bool,
    policies: &Policies,
) -> Vec<(&'static str, Vec<Value>)> {
    let mut all: Policies = TARGETS.iter().map(Resource::from).collect();
    all.extend(policies.iter().cloned());
    let mut rules = rules(&all, endpoint.operations());
    if endpoint == Endpoint::Mutate {
        return vec![("mutate.attache.dev", rules)];
    }
    let one = |resource| [Resource::from(&resource)].into_iter().collect();
    let crds = one((APIEXTENSIONS, "customresourcedefinitions", false));
    // Deleting a CRD deletes its policies.
    let mut definitions = self::rules(&crds, &["CREATE", "UPDATE", "DELETE"]);
    // Deleting a guardrail needs no review.
    let guardrails = one(("attache.dev", "guardrails", false));
    definitions.extend(self::rules(&guardrails, &["CREATE", "UPDATE"]));
    if apart {
        return vec![("validate.attache.dev", rules), (DEFINITIONS, definitions)];
    }
    rules.extend(definitions);
    vec![("validate.attache.dev", rules)]
}

/// Whether a webhook is the one for CRDs.
pub(super) fn is_definitions(webhook: &str) -> bool {
    webhook == DEFINITIONS
}

/// One rule for each group and scope, for all versions, so that a new version cannot bypass the webhook.
fn rules(resources: &Policies, operations: &[&str]) -> Vec<Value> {
    let mut by_group: BTreeMap<(&str, bool), Vec<&str>> = BTreeMap::new();
    for resource in resources {
        let key = (&*resource.group, resource.namespaced);
        by_group.entry(key).or_default().push(&resource.plural);
    }
    let rule = |((group, namespaced), plurals)| {
        json!({
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": operations,
            "resources": plurals,
            "scope": if namespaced { "Namespaced" } else { "Cluster" },
        })
    };
    by_group.into_iter().map(rule).collect()
}

// === impl Resource ===

impl From<&Crd> for Resource {
    fn from(crd: &Crd) -> Self {
        Self {
            group: crd.gk.group.as_str().into(),
            namespaced: crd.namespaced,
            plural: Arc::clone(&crd.plural),
        }
    }
}

impl From<&(&str, &str, bool)> for Resource {
    fn from((group, plural, namespaced): &(&str, &str, bool)) -> Self {
        Self {
            group: (*group).into(),
            namespaced: *namespaced,
            plural: (*plural).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::admission::validate::is_target_kind;
    use crate::engine::model::ids::GroupKind;
    use crate::engine::model::object::watched_gateway_kinds;

    fn policies(kinds: &[(&str, &str, bool)]) -> Policies {
        kinds.iter().map(Resource::from).collect()
    }

    #[test]
    fn the_targets_are_those_of_the_engine() {
        let mut expected: Vec<GroupKind> = watched_gateway_kinds().collect();
        expected.extend(["Namespace", "Service"].map(GroupKind::core));
        for gk in &expected {
            assert!(is_target_kind(gk), "{gk}");
            let plural = match &*gk.kind {
                "GatewayClass" => "gatewayclasses".to_owned(),
                kind => format!("{}s", kind.to_lowercase()),
            };
            let named =
                |(group, name, _): &&(&str, &str, bool)| **group == *gk.group && **name == *plural;
            assert!(TARGETS.iter().any(|t| named(&t)), "{gk}");
        }
        assert_eq!(TARGETS.len(), expected.len());
    }

    #[test]
    fn what_is_no_name_stands_in_no_rule() {
        let label = |text: &str| super::is_label(text);
        for good in ["retrypolicies", "a", "a-1"] {
            assert!(label(good), "{good}");
        }
        for odd in [
            "*",
            "pods/exec",
            "a\nb",
            "",
            "-a",
            "a-",
            "A",
            "a b",
            "a.b",
            "\u{430}",
            &"a".repeat(64),
        ] {
            assert!(!label(odd), "{odd:?}");
        }
    }

    #[test]
    fn one_rule_for_each_group_and_scope() {
        let made_for = policies(&[
            ("b.example", "zebras", true),
            ("b.example", "apes", true),
            ("b.example", "herds", false),
            ("a.example", "cats", true),
        ]);
        let made = webhooks(Endpoint::Mutate, false, &made_for);
        let rules = &made[0].1;
        let lines: Vec<String> = rules
            .iter()
            .map(|r| format!("{} {} {}", r["apiGroups"][0], r["resources"], r["scope"]))
            .collect();
        assert!(lines.contains(&r#""a.example" ["cats"] "Namespaced""#.to_owned()));
        assert!(lines.contains(&r#""b.example" ["herds"] "Cluster""#.to_owned()));
        assert!(lines.contains(&r#""b.example" ["apes","zebras"] "Namespaced""#.to_owned()));
        for rule in rules {
            assert_eq!(rule["operations"], json!(["CREATE", "UPDATE"]), "{rule}");
            assert_eq!(rule["apiVersions"], json!(["*"]), "{rule}");
        }
    }

    #[test]
    fn crds_are_registered_once_and_also_for_deletion() {
        let none = Policies::new();
        let about = |rules: &[Value]| {
            let mut rules = rules.iter();
            rules
                .find(|rule| rule["apiGroups"][0] == APIEXTENSIONS)
                .map(|rule| rule["operations"].clone())
        };
        let operations = Some(json!(["CREATE", "UPDATE", "DELETE"]));
        let together = webhooks(Endpoint::Validate, false, &none);
        assert_eq!(together.len(), 1);
        assert_eq!(about(&together[0].1), operations);
        let apart = webhooks(Endpoint::Validate, true, &none);
        assert_eq!(about(&apart[0].1), None);
        assert_eq!(about(&apart[1].1), operations);
        assert_eq!(about(&webhooks(Endpoint::Mutate, true, &none)[0].1), None);
    }
}
