//! Plays the controller of routes and Gateways: it replaces its own entries in their status and keeps those of others, with
//! updates of the whole status, as controllers do.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kube::Api;
use kube::api::{ListParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use serde_json::{Value, json};

/// Its name, that of the class in class.yaml.
pub(super) const CONTROLLER: &str = "example.com/gateway";
/// The interval between two looks at all objects.
const LOOK: Duration = Duration::from_millis(500);
const SINCE: &str = "2026-01-01T00:00:00Z";

/// The running controller.
pub(super) struct Controller {
    ends: Arc<AtomicBool>,
    touched: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

// === impl Controller ===

impl Controller {
    pub(super) fn start(kubeconfig: &Path) -> Self {
        let (ends, touched) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let (until, words, kubeconfig) = (ends.clone(), touched.clone(), kubeconfig.to_owned());
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async {
                let config = attache::cache::kubeconfig::config(Some(&kubeconfig), None)
                    .await
                    .unwrap();
                let client = kube::Client::try_from(config).unwrap();
                while !until.load(Ordering::Relaxed) {
                    let message = if words.load(Ordering::Relaxed) {
                        "touched"
                    } else {
                        ""
                    };
                    reconcile(&client, "Gateway", "gateways", message).await;
                    reconcile(&client, "HTTPRoute", "httproutes", message).await;
                    tokio::time::sleep(LOOK).await;
                }
            });
        });
        Self {
            ends,
            touched,
            thread: Some(thread),
        }
    }

    /// From now on its conditions have another message.
    pub(super) fn touch(&self) {
        self.touched.store(true, Ordering::Relaxed);
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn reconcile(client: &kube::Client, kind: &str, plural: &str, message: &str) {
    let gvk = GroupVersionKind::gvk("gateway.networking.k8s.io", "v1", kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, plural);
    let all: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let Ok(objects) = all.list(&ListParams::default()).await else {
        return;
    };
    for mut object in objects {
        let status = match kind {
            "Gateway" => of_gateway(&object, message),
            _ => of_route(&object, message),
        };
        if object.data.get("status") == Some(&status) {
            continue;
        }
        object.data["status"] = status;
        let namespace = object.metadata.namespace.clone().unwrap();
        let name = object.metadata.name.clone().unwrap();
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &namespace, &resource);
        // Somebody else may have written meanwhile: then it looks again.
        let _ = api
            .replace_status(&name, &PostParams::default(), &object)
            .await;
    }
}

fn condition(object: &DynamicObject, name: &str, message: &str) -> Value {
    json!({"type": name, "status": "True", "reason": name, "message": message, "lastTransitionTime": SINCE,
           "observedGeneration": object.metadata.generation})
}

/// Its entries, then those of others.
fn of_route(route: &DynamicObject, message: &str) -> Value {
    let parents = route.data["spec"]["parentRefs"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let own = parents.into_iter().map(|parent| {
        json!({
            "parentRef": parent,
            "controllerName": CONTROLLER,
            "conditions": [condition(route, "Accepted", message), condition(route, "ResolvedRefs", message)],
        })
    });
    let entries = route.data["status"]["parents"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let others = entries
        .into_iter()
        .filter(|entry| entry["controllerName"] != CONTROLLER);
    json!({"parents": own.chain(others).collect::<Vec<_>>()})
}

/// Its conditions, then those of others; and its listeners.
fn of_gateway(gateway: &DynamicObject, message: &str) -> Value {
    let own = ["Accepted", "Programmed"].map(|name| condition(gateway, name, message));
    let conditions = gateway.data["status"]["conditions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let is_own = |condition: &Value| {
        let name = &condition["type"];
        name == "Accepted" || name == "Programmed"
    };
    let others = conditions
        .into_iter()
        .filter(|condition| !is_own(condition));
    let listeners = gateway.data["spec"]["listeners"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let listeners = listeners.iter().map(|listener| {
        json!({"name": listener["name"], "attachedRoutes": 0, "supportedKinds": [],
               "conditions": [condition(gateway, "Accepted", message)]})
    });
    json!({
        "conditions": own.into_iter().chain(others).collect::<Vec<_>>(),
        "listeners": listeners.collect::<Vec<_>>(),
    })
}
