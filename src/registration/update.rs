//! Computes what to apply so that a webhook configuration in the cluster is up to date.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::rules::{is_definitions, webhooks};
use super::{Endpoint, GROUP, Policies, VERSION};

/// The field manager under which attache applies rules.
pub const FIELD_MANAGER: &str = "attache";
/// The field manager under which attache applies the CA of its own certificates.
pub const CA_FIELD_MANAGER: &str = "attache-certificates";

/// The object to apply: the rules, and the CA if one is given; `None` if nothing differs. Everything else is left to
/// its owners.
///
/// The object carries the resource version that it is based on, so that of two concurrent writes one is refused.
///
/// # Errors
/// Fails if the configuration is not one of attache's.
pub fn update_for(
    endpoint: Endpoint,
    current: &Value,
    policies: &Policies,
    ca: Option<&str>,
) -> Result<Option<Value>, String> {
    let apart = list(current).filter_map(name_of).any(is_definitions);
    let wanted = webhooks(endpoint, apart, policies);
    let mut differs = false;
    let mut applied = Vec::new();
    for (name, rules) in wanted {
        let Some(webhook) = list(current).find(|webhook| name_of(webhook) == Some(name)) else {
            return Err(format!("it has no webhook {name}"));
        };
        let rules = Value::Array(rules);
        let ca_now = webhook.pointer("/clientConfig/caBundle");
        let ca_now = ca_now.and_then(Value::as_str);
        differs |= webhook.get("rules") != Some(&rules) || (ca.is_some() && ca != ca_now);
        let mut part = json!({"name": name, "rules": rules});
        // If a field that attache applied is left out now, the API server removes it.
        let kept = ca_now.filter(|_| has_applied_ca(current, name));
        if let (Some(ca), Some(part)) = (ca.or(kept), part.as_object_mut()) {
            part.insert("clientConfig".to_owned(), json!({"caBundle": ca}));
        }
        applied.push(part);
    }
    Ok(differs.then(|| object(endpoint, current, &applied)))
}

/// The CAs in a webhook configuration, in PEM; empty texts for webhooks without any.
pub fn published(configuration: &Value) -> Vec<String> {
    let bundles = list(configuration).map(|webhook| {
        let bundle = webhook.pointer("/clientConfig/caBundle");
        let bundle = bundle.and_then(Value::as_str).unwrap_or_default();
        let pem = STANDARD.decode(bundle).unwrap_or_default();
        String::from_utf8(pem).unwrap_or_default()
    });
    bundles.collect()
}

/// The annotation by which somebody asked cert-manager to write `caBundle`: whenever the object changes, it adds its CA
/// there, and before v1.19 it replaced what was there (cert-manager v1.21.2, `pkg/controller/cainjector`).
pub fn injected_by_cert_manager(configuration: &Value) -> Option<&'static str> {
    const ANNOTATIONS: [&str; 2] = [
        "cert-manager.io/inject-ca-from",
        "cert-manager.io/inject-ca-from-secret",
    ];
    let known = configuration.pointer("/metadata/annotations")?;
    ANNOTATIONS
        .into_iter()
        .find(|name| known.get(name).is_some())
}

/// The object to apply so that all webhooks have a `caBundle`, in base64; `None` if they do. It leaves the
/// rules to others.
pub fn ca_update(endpoint: Endpoint, current: &Value, ca: &str) -> Option<Value> {
    let bundle = |webhook: &Value| webhook.pointer("/clientConfig/caBundle") == Some(&json!(ca));
    if list(current).all(bundle) {
        return None;
    }
    let names = list(current).filter_map(name_of);
    let webhooks = names.map(|name| json!({"name": name, "clientConfig": {"caBundle": ca}}));
    let webhooks: Vec<Value> = webhooks.collect();
    Some(object(endpoint, current, &webhooks))
}

fn object(endpoint: Endpoint, current: &Value, webhooks: &[Value]) -> Value {
    json!({
        "apiVersion": format!("{GROUP}/{VERSION}"),
        "kind": endpoint.kind(),
        "metadata": {
            "name": current.pointer("/metadata/name"),
            "resourceVersion": current.pointer("/metadata/resourceVersion"),
        },
        "webhooks": webhooks,
    })
}

fn list(configuration: &Value) -> impl Iterator<Item = &Value> {
    items(configuration.get("webhooks"))
}

fn items(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

fn name_of(webhook: &Value) -> Option<&str> {
    webhook.get("name").and_then(Value::as_str)
}

/// Whether attache has applied the CA of a webhook.
fn has_applied_ca(configuration: &Value, webhook: &str) -> bool {
    let managers = configuration.pointer("/metadata/managedFields");
    let field =
        format!("/fieldsV1/f:webhooks/k:{{\"name\":\"{webhook}\"}}/f:clientConfig/f:caBundle");
    items(managers).any(|entry| {
        let is = |key: &str, value: &str| {
            entry
                .get(key)
                .is_some_and(|entry_value| entry_value == value)
        };
        is("manager", FIELD_MANAGER) && is("operation", "Apply") && entry.pointer(&field).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registration::{CallBy, FailurePolicy, Resource, WebhookOptions, configuration};

    fn policies(plurals: &[&str]) -> Policies {
        let resource = |plural: &&str| Resource {
            group: "policies.example.com".into(),
            namespaced: true,
            plural: (*plural).into(),
        };
        plurals.iter().map(resource).collect()
    }

    fn installed(endpoint: Endpoint, failure_policy: FailurePolicy, plurals: &[&str]) -> Value {
        let options = WebhookOptions {
            name: "attache".to_owned(),
            call: CallBy::Url("https://127.0.0.1".to_owned()),
            ca_bundle: Some("b2xk".to_owned()),
            failure_policy,
            timeout_seconds: 5,
            excluded: [].into(),
        };
        let mut made = configuration(endpoint, &options, &policies(plurals));
        made["metadata"]["resourceVersion"] = json!("7");
        made
    }

    #[test]
    fn without_a_difference_nothing_is_applied() {
        for endpoint in Endpoint::ALL {
            for failure_policy in [FailurePolicy::Ignore, FailurePolicy::Fail] {
                let current = installed(endpoint, failure_policy, &["retries"]);
                let same = policies(&["retries"]);
                assert_eq!(update_for(endpoint, &current, &same, None), Ok(None));
                assert_eq!(
                    update_for(endpoint, &current, &same, Some("b2xk")),
                    Ok(None)
                );
            }
        }
    }

    #[test]
    fn a_new_kind_applies_all_rules_and_nothing_else() {
        let current = installed(Endpoint::Validate, FailurePolicy::Fail, &["retries"]);
        let more = policies(&["retries", "limits"]);
        let applied = update_for(Endpoint::Validate, &current, &more, None);
        let applied = applied.unwrap().unwrap();
        assert_eq!(
            applied["metadata"],
            json!({"name": "attache", "resourceVersion": "7"})
        );
        let expected = webhooks(Endpoint::Validate, true, &more);
        for (i, (name, rules)) in expected.into_iter().enumerate() {
            assert_eq!(
                applied["webhooks"][i],
                json!({"name": name, "rules": rules})
            );
        }
    }

    #[test]
    fn a_new_ca_is_applied_with_the_rules() {
        let current = installed(Endpoint::Mutate, FailurePolicy::Ignore, &[]);
        let applied = update_for(Endpoint::Mutate, &current, &policies(&[]), Some("bmV3"));
        let webhook = &applied.unwrap().unwrap()["webhooks"][0];
        assert_eq!(webhook["clientConfig"], json!({"caBundle": "bmV3"}));
        assert_eq!(webhook["rules"], current["webhooks"][0]["rules"]);
    }

    #[test]
    fn a_ca_that_we_applied_before_is_kept() {
        let mut current = installed(Endpoint::Mutate, FailurePolicy::Ignore, &[]);
        let ours =
            json!({"k:{\"name\":\"mutate.attache.dev\"}": {"f:clientConfig": {"f:caBundle": {}}}});
        current["metadata"]["managedFields"] = json!([{
            "manager": "attache", "operation": "Apply", "fieldsV1": {"f:webhooks": ours},
        }]);
        let more = policies(&["limits"]);
        let clients = |current: &Value| {
            let applied = update_for(Endpoint::Mutate, current, &more, None);
            applied.unwrap().unwrap()["webhooks"][0]["clientConfig"].clone()
        };
        assert_eq!(clients(&current), json!({"caBundle": "b2xk"}));
        current["metadata"]["managedFields"][0]["manager"] = json!("cainjector");
        assert_eq!(clients(&current), Value::Null);
    }

    #[test]
    fn a_ca_alone_leaves_the_rules_to_others() {
        let current = installed(Endpoint::Validate, FailurePolicy::Fail, &["retries"]);
        assert_eq!(ca_update(Endpoint::Validate, &current, "b2xk"), None);
        let applied = ca_update(Endpoint::Validate, &current, "bmV3").unwrap();
        let webhooks = applied["webhooks"].as_array().unwrap();
        assert_eq!(
            webhooks.len(),
            current["webhooks"].as_array().unwrap().len()
        );
        for webhook in webhooks {
            assert_eq!(webhook["clientConfig"], json!({"caBundle": "bmV3"}));
            assert!(webhook.get("rules").is_none() && webhook["name"].is_string());
        }
        assert_eq!(applied["metadata"]["resourceVersion"], "7");
        assert!(published(&current).iter().all(|pem| pem == "old"));
        assert_eq!(published(&json!({"webhooks": [{"name": "a"}]})), [""]);
    }

    #[test]
    fn a_configuration_of_somebody_else_is_left_alone() {
        let mut current = installed(Endpoint::Validate, FailurePolicy::Ignore, &[]);
        current["webhooks"][0]["name"] = json!("other.example.com");
        let amended = update_for(Endpoint::Validate, &current, &policies(&[]), None);
        assert_eq!(
            amended,
            Err("it has no webhook validate.attache.dev".to_owned())
        );
    }
}
