//! Reads and writes objects of the API server.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::Api;
use kube::api::{ListParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject};
use serde_json::Value;

use super::CONTROLLER;
use super::live::Live;
use super::own_conditions::OwnConditions;
use super::patch::{Write, write};
use super::place::Place;
use crate::cache::kinds::Resources;
use crate::engine::model::ids::{GroupKind, ObjectKey};

/// The most objects of one answer to a list.
const PAGE: u32 = 500;
/// The most attempts in a row to read and write, if somebody else writes in between.
const CONFLICTS: usize = 3;
/// HTTP status: not found.
const NOT_FOUND: u16 = 404;
/// HTTP status: another write came first, or somebody else owns a field.
const CONFLICT: u16 = 409;

/// Reads and writes.
pub(super) struct Writer {
    client: kube::Client,
    resources: Arc<Resources>,
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// The object has been written.
    Written,
    /// The object had its conditions already, or it no longer exists.
    Already,
    /// It cannot be written yet.
    Waiting(&'static str),
    /// The API server refused.
    Failed(String),
}

// === impl Writer ===

impl Writer {
    pub(super) fn new(client: kube::Client, resources: Arc<Resources>) -> Self {
        Self { client, resources }
    }

    /// The conditions of attache on all objects of a kind.
    pub(super) async fn list(
        &self,
        gk: &GroupKind,
        place: Place,
    ) -> Result<BTreeMap<ObjectKey, OwnConditions>, kube::Error> {
        let mut by_object = BTreeMap::new();
        let Some(resource) = self.resources.get(gk) else {
            return Ok(by_object);
        };
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let some = api.list(&page).await?;
            for object in some.items {
                let metadata = &object.metadata;
                let namespace = metadata.namespace.clone().unwrap_or_default();
                let name = metadata.name.clone().unwrap_or_default();
                let key = ObjectKey::new(gk.clone(), namespace, name);
                let value = serde_json::to_value(&object).unwrap_or_default();
                let own_conditions = Live(&value).own_conditions(&key, place);
                if !own_conditions.is_empty() {
                    by_object.insert(key, own_conditions);
                }
            }
            match some.metadata.continue_ {
                Some(token) if !token.is_empty() => page = page.continue_token(&token),
                _ => return Ok(by_object),
            }
        }
    }

    /// Gives an object these conditions.
    pub(super) async fn write(
        &self,
        key: &ObjectKey,
        place: Place,
        own_conditions: &OwnConditions,
    ) -> Done {
        let Some(resource) = self.resources.get(&key.gk) else {
            return Done::Already;
        };
        let mut last = Done::Already;
        for _ in 0..CONFLICTS {
            match self.attempt(&resource, key, place, own_conditions).await {
                Ok(done) => return done,
                Err(kube::Error::Api(status)) if status.code == NOT_FOUND => return Done::Already,
                Err(kube::Error::Api(status)) if status.code == CONFLICT => {
                    last = Done::Waiting("another write came first, or somebody else owns a field");
                }
                Err(error) => return Done::Failed(error.to_string()),
            }
        }
        last
    }

    async fn attempt(
        &self,
        resource: &ApiResource,
        key: &ObjectKey,
        place: Place,
        own_conditions: &OwnConditions,
    ) -> Result<Done, kube::Error> {
        let api: Api<DynamicObject> = if key.namespace.is_empty() {
            Api::all_with(self.client.clone(), resource)
        } else {
            Api::namespaced_with(self.client.clone(), &key.namespace, resource)
        };
        let object = api.get(&key.name).await?;
        let mut value = serde_json::to_value(&object).unwrap_or_default();
        if let Value::Object(members) = &mut value {
            members.insert("apiVersion".to_owned(), resource.api_version.clone().into());
            members.insert("kind".to_owned(), resource.kind.clone().into());
        }
        let now = jiff::Timestamp::now()
            .strftime("%Y-%m-%dT%H:%M:%SZ")
            .to_string();
        let merge = PatchParams {
            field_manager: Some(CONTROLLER.to_owned()),
            ..PatchParams::default()
        };
        let apply = PatchParams::apply(CONTROLLER);
        match write(key, place, &Live(&value), own_conditions, &now) {
            Write::Nothing => return Ok(Done::Already),
            Write::Later(why) => return Ok(Done::Waiting(why)),
            Write::Merge(body) => {
                api.patch_status(&key.name, &merge, &Patch::Merge(body))
                    .await?
            }
            Write::Apply(body) => {
                api.patch_status(&key.name, &apply, &Patch::Apply(body))
                    .await?
            }
            Write::Annotate(body) => api.patch(&key.name, &apply, &Patch::Apply(body)).await?,
        };
        Ok(Done::Written)
    }
}
