//! attache's two webhook configurations in the cluster, by their name: read and applied.

use std::time::Duration;

use kube::api::{DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use serde_json::Value;
use tokio::time::timeout;

use super::watch::short;
use crate::registration::{Endpoint, GROUP, VERSION};

/// Timeout of a request to the API server.
const PATIENCE: Duration = Duration::from_secs(10);
/// Status code: the object has changed since it was read.
pub(super) const CONFLICT: u16 = 409;
pub(super) const NOT_FOUND: u16 = 404;

/// The configurations of one name.
pub(super) struct WebhookConfigurations {
    client: Client,
    name: String,
}

// === impl WebhookConfigurations ===

impl WebhookConfigurations {
    pub(super) fn new(client: Client, name: String) -> Self {
        Self { client, name }
    }

    /// Their name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A configuration; `None` if it does not exist.
    pub(super) async fn get(&self, endpoint: Endpoint) -> Result<Option<Value>, String> {
        match answer(self.api(endpoint).get(&self.name)).await? {
            Ok(configuration) => serde_json::to_value(&configuration)
                .map(Some)
                .map_err(|error| error.to_string()),
            Err(error) if has_code(&error, NOT_FOUND) => Ok(None),
            Err(error) => Err(short(&error)),
        }
    }

    /// Applies the fields of a manager. Returns `false` if the configuration has changed since it was read.
    pub(super) async fn apply(
        &self,
        endpoint: Endpoint,
        manager: &str,
        wanted: &Value,
    ) -> Result<bool, String> {
        let params = PatchParams::apply(manager).force();
        let api = self.api(endpoint);
        match answer(api.patch(&self.name, &params, &Patch::Apply(wanted))).await? {
            Ok(_) => Ok(true),
            Err(error) if has_code(&error, CONFLICT) => Ok(false),
            Err(error) => Err(short(&error)),
        }
    }

    fn api(&self, endpoint: Endpoint) -> Api<DynamicObject> {
        let gvk = GroupVersionKind::gvk(GROUP, VERSION, endpoint.kind());
        let resource = ApiResource::from_gvk_with_plural(&gvk, endpoint.plural());
        Api::all_with(self.client.clone(), &resource)
    }
}

/// The answer to a request, if it comes in time.
pub(super) async fn answer<T>(request: impl Future<Output = T>) -> Result<T, String> {
    let answer = timeout(PATIENCE, request).await;
    answer.map_err(|_| format!("no answer within {} s", PATIENCE.as_secs()))
}

/// Whether the API server answered with a status code.
pub(super) fn has_code(error: &kube::Error, code: u16) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == code)
}
