//! A complete webhook configuration: which requests the API server sends, where, and what it does if there is no
//! answer.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Value, json};

use super::rules::{is_definitions, webhooks};
use super::{Endpoint, GROUP, Policies, VERSION};

/// The terms of a webhook configuration.
#[derive(Clone, Debug)]
pub struct WebhookOptions {
    /// The name of the configurations.
    pub name: String,
    /// The address at which the API server reaches attache.
    pub call: CallBy,
    /// The CA in PEM, as base64; `None` leaves `caBundle` to others.
    pub ca_bundle: Option<String>,
    /// The effect of a missing answer.
    pub failure_policy: FailurePolicy,
    /// The longest that a request waits for an answer.
    pub timeout_seconds: u8,
    /// Namespaces whose requests are never sent.
    pub excluded: BTreeSet<String>,
}

/// The address at which the API server reaches attache.
#[derive(Clone, Debug)]
pub enum CallBy {
    /// A Service in the cluster.
    Service {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// A URL without a path.
    Url(String),
}

/// The reaction of the API server if attache does not answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// Allow the request.
    #[default]
    Ignore,
    /// Refuse the request.
    Fail,
}

/// The rules do not include these requests; the conditions exclude them even if somebody changes the rules.
const CONDITIONS: [(&str, &str); 4] = [
    // Removing a finalizer is an UPDATE, and nothing may block a deletion in progress.
    (
        "not-being-deleted",
        "oldObject == null || !has(oldObject.metadata.deletionTimestamp)",
    ),
    (
        "not-a-lease",
        "request.resource.group != 'coordination.k8s.io'",
    ),
    (
        "not-an-event",
        "!(request.resource.group in ['', 'events.k8s.io'] && request.resource.resource == 'events')",
    ),
    (
        "not-a-subresource",
        "!has(request.subResource) || request.subResource == ''",
    ),
];

/// The configuration for an endpoint.
pub fn configuration(endpoint: Endpoint, options: &WebhookOptions, policies: &Policies) -> Value {
    // CRDs are not refused by default, so a missing answer must not refuse them either: other systems could not be
    // installed while attache is down. Nor may it stop the change of a guardrail that refuses too much.
    let apart = options.failure_policy == FailurePolicy::Fail;
    let webhooks = webhooks(endpoint, apart, policies).into_iter();
    let webhooks: Vec<Value> = webhooks
        .map(|(name, rules)| options.webhook(endpoint, name, &rules))
        .collect();
    json!({
        "apiVersion": format!("{GROUP}/{VERSION}"),
        "kind": endpoint.kind(),
        "metadata": {"name": options.name},
        "webhooks": webhooks,
    })
}

// === impl WebhookOptions ===

impl WebhookOptions {
    fn webhook(&self, endpoint: Endpoint, name: &str, rules: &[Value]) -> Value {
        let failure_policy = if is_definitions(name) {
            FailurePolicy::Ignore
        } else {
            self.failure_policy
        };
        let conditions = CONDITIONS.map(|(name, holds)| json!({"name": name, "expression": holds}));
        let mut webhook = json!({
            "name": name,
            "admissionReviewVersions": ["v1"],
            "clientConfig": self.client_config(endpoint),
            "failurePolicy": failure_policy.to_string(),
            "matchConditions": conditions,
            "matchPolicy": "Equivalent",
            "namespaceSelector": {"matchExpressions": [{
                "key": "kubernetes.io/metadata.name",
                "operator": "NotIn",
                "values": self.excluded,
            }]},
            "rules": rules,
            "sideEffects": "None",
            "timeoutSeconds": self.timeout_seconds,
        });
        if let (Endpoint::Mutate, Some(webhook)) = (endpoint, webhook.as_object_mut()) {
            webhook.insert("reinvocationPolicy".to_owned(), json!("Never"));
        }
        webhook
    }

    fn client_config(&self, endpoint: Endpoint) -> Value {
        let path = endpoint.path();
        let mut config = match &self.call {
            CallBy::Service { namespace, name } => json!({
                "service": {"namespace": namespace, "name": name, "path": path, "port": 443},
            }),
            CallBy::Url(url) => json!({"url": format!("{}{path}", url.trim_end_matches('/'))}),
        };
        if let (Some(ca), Some(config)) = (&self.ca_bundle, config.as_object_mut()) {
            config.insert("caBundle".to_owned(), json!(ca));
        }
        config
    }
}

// === impl FailurePolicy ===

impl fmt::Display for FailurePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ignore => "Ignore",
            Self::Fail => "Fail",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> WebhookOptions {
        WebhookOptions {
            name: "attache".to_owned(),
            call: CallBy::Service {
                namespace: "attache-system".to_owned(),
                name: "attache".to_owned(),
            },
            ca_bundle: None,
            failure_policy: FailurePolicy::default(),
            timeout_seconds: 5,
            excluded: ["kube-system", "attache-system"].map(str::to_owned).into(),
        }
    }

    #[test]
    fn by_default_nobody_is_stopped() {
        for endpoint in Endpoint::ALL {
            let made = configuration(endpoint, &options(), &Policies::new());
            assert_eq!(made["webhooks"].as_array().unwrap().len(), 1);
            let webhook = &made["webhooks"][0];
            assert_eq!(webhook["failurePolicy"], "Ignore");
            assert!(webhook["clientConfig"].get("caBundle").is_none());
            let excluded = &webhook["namespaceSelector"]["matchExpressions"][0];
            assert_eq!(excluded["values"], json!(["attache-system", "kube-system"]));
        }
    }

    #[test]
    fn definitions_pass_without_an_answer_even_with_fail() {
        let options = WebhookOptions {
            failure_policy: FailurePolicy::Fail,
            ..options()
        };
        let made = configuration(Endpoint::Validate, &options, &Policies::new());
        let policies = ["Fail", "Ignore"].map(Value::from);
        let webhooks = made["webhooks"].as_array().unwrap().iter();
        let failure_policies: Vec<Value> = webhooks.map(|w| w["failurePolicy"].clone()).collect();
        assert_eq!(failure_policies, policies);
        let made = configuration(Endpoint::Mutate, &options, &Policies::new());
        assert_eq!(made["webhooks"][0]["failurePolicy"], "Fail");
    }

    #[test]
    fn an_address_gets_the_path_of_the_endpoint() {
        let options = WebhookOptions {
            call: CallBy::Url("https://attache.example:8443/".to_owned()),
            ca_bundle: Some("QQ==".to_owned()),
            ..options()
        };
        let made = configuration(Endpoint::Mutate, &options, &Policies::new());
        let expected = json!({"url": "https://attache.example:8443/mutate", "caBundle": "QQ=="});
        assert_eq!(made["webhooks"][0]["clientConfig"], expected);
    }
}
