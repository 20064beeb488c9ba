//! The report objects of an API server, in the API that it serves.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, Preconditions};
use kube::core::{ApiResource, GroupVersionKind, PartialObjectMeta};
use kube::{Api as Client, Client as Connection, ResourceExt as _};
use ring::digest::{SHA256, digest};
use serde_json::{Map, Value};

use crate::answer::openreports::{Api, FINGERPRINT, LEFT_OUT, MANAGED_BY, NAME};

/// The field manager of the reports.
const FIELD_MANAGER: &str = "attache-reports";
/// Reports in a page of a list: each may have a megabyte.
const PAGE: u32 = 20;

/// The namespace of a report; `None` for the one of objects without a namespace.
pub(super) type Place = Option<Arc<str>>;

/// A report in the cluster, as it was last read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) version: String,
    /// The digest of its content.
    pub(super) content: Vec<u8>,
    /// When each result was found first, in seconds since 1970.
    pub(super) seen: BTreeMap<String, i64>,
}

/// Requests to one API for reports.
#[derive(Clone)]
pub(super) struct Objects {
    client: Connection,
    pub(super) api: Api,
}

/// The API for reports that the API server serves; the preferred one if it serves both.
pub(super) async fn served(client: &Connection) -> Result<Option<Api>, kube::Error> {
    for api in Api::ALL {
        match client.list_api_group_resources(&api.api_version()).await {
            Ok(resources) => {
                let has = |plural| resources.resources.iter().any(|one| one.name == plural);
                if has(api.plural(true)) && has(api.plural(false)) {
                    return Ok(Some(api));
                }
            }
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

// === impl Objects ===

impl Objects {
    pub(super) fn new(client: Connection, api: Api) -> Self {
        Self { client, api }
    }

    /// All reports that attache has written.
    pub(super) async fn all(&self) -> Result<BTreeMap<Place, Stored>, kube::Error> {
        let mut stored = BTreeMap::new();
        for is_namespaced in [true, false] {
            let api: Client<DynamicObject> =
                Client::all_with(self.client.clone(), &self.resource(is_namespaced));
            let mut params = written_by_attache();
            loop {
                let page = api.list(&params).await?;
                params.continue_token.clone_from(&page.metadata.continue_);
                let own = page
                    .items
                    .into_iter()
                    .filter(|object| object.name_any() == NAME);
                stored.extend(
                    own.map(|object| (place(object.namespace()), Stored::from_object(&object))),
                );
                if params
                    .continue_token
                    .as_deref()
                    .unwrap_or_default()
                    .is_empty()
                {
                    break;
                }
            }
        }
        Ok(stored)
    }

    /// The resource versions of all these reports.
    pub(super) async fn versions(&self) -> Result<BTreeMap<Place, String>, kube::Error> {
        let mut versions = BTreeMap::new();
        for is_namespaced in [true, false] {
            let api: Client<PartialObjectMeta<DynamicObject>> =
                Client::all_with(self.client.clone(), &self.resource(is_namespaced));
            let params = ListParams {
                limit: None,
                ..written_by_attache()
            };
            let list = api.list_metadata(&params).await?;
            let own = list
                .items
                .into_iter()
                .filter(|object| object.name_any() == NAME);
            versions.extend(own.map(|object| {
                let version = object.resource_version().unwrap_or_default();
                (place(object.namespace()), version)
            }));
        }
        Ok(versions)
    }

    /// One report.
    pub(super) async fn one(&self, place: &Place) -> Result<Option<Stored>, kube::Error> {
        let object = self.at(place).get_opt(NAME).await?;
        Ok(object.map(|object| Stored::from_object(&object)))
    }

    /// Writes a report over the one with this resource version, if there is one. Returns the new resource version.
    pub(super) async fn apply(
        &self,
        place: &Place,
        object: &Value,
        over: Option<&str>,
    ) -> Result<String, kube::Error> {
        let mut object = object.clone();
        let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
        if let (Some(metadata), Some(over)) = (metadata, over) {
            metadata.insert("resourceVersion".to_owned(), over.into());
        }
        let params = PatchParams::apply(FIELD_MANAGER).force();
        let patch = Patch::Apply(&object);
        let written = self.at(place).patch_metadata(NAME, &params, &patch).await?;
        Ok(written.resource_version().unwrap_or_default())
    }

    /// Removes the report with this resource version.
    pub(super) async fn delete(&self, place: &Place, version: &str) -> Result<(), kube::Error> {
        let params = DeleteParams {
            preconditions: Some(Preconditions {
                resource_version: Some(version.to_owned()),
                uid: None,
            }),
            ..DeleteParams::default()
        };
        match self.at(place).delete(NAME, &params).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            other => other.map(drop),
        }
    }

    fn at(&self, place: &Place) -> Client<DynamicObject> {
        let resource = self.resource(place.is_some());
        match place {
            Some(namespace) => Client::namespaced_with(self.client.clone(), namespace, &resource),
            None => Client::all_with(self.client.clone(), &resource),
        }
    }

    fn resource(&self, is_namespaced: bool) -> ApiResource {
        let (api, kind) = (self.api, self.api.kind(is_namespaced));
        let gvk = GroupVersionKind::gvk(api.group(), api.version(), kind);
        ApiResource::from_gvk_with_plural(&gvk, api.plural(is_namespaced))
    }
}

fn written_by_attache() -> ListParams {
    ListParams::default()
        .labels(&format!("{MANAGED_BY}={NAME}"))
        .limit(PAGE)
}

fn place(namespace: Option<String>) -> Place {
    namespace.map(Arc::from)
}

// === impl Stored ===

impl Stored {
    /// A report as it was written.
    pub(super) fn written(object: &Value, version: String) -> Self {
        let results = object.get("results").and_then(Value::as_array);
        let seen = results.into_iter().flatten().filter_map(|result| {
            let fingerprint = result.get("properties")?.get(FINGERPRINT)?.as_str()?;
            let seconds = result.get("timestamp")?.get("seconds")?.as_i64()?;
            Some((fingerprint.to_owned(), seconds))
        });
        Self {
            version,
            content: content(object),
            seen: seen.collect(),
        }
    }

    /// A report as it was read.
    fn from_object(object: &DynamicObject) -> Self {
        let mut content = match &object.data {
            Value::Object(fields) => fields.clone(),
            _ => Map::new(),
        };
        let metadata = serde_json::to_value(&object.metadata).unwrap_or_default();
        content.insert("metadata".to_owned(), metadata);
        let version = object.resource_version().unwrap_or_default();
        Self::written(&Value::Object(content), version)
    }
}

/// The digest of what attache writes into a report; equal for a report as it is written and as it is stored.
pub(super) fn content(object: &Value) -> Vec<u8> {
    let metadata = object.get("metadata");
    let metadata = |field: &str| metadata.and_then(|metadata| metadata.get(field));
    let parts = [
        metadata("labels").and_then(|labels| labels.get(MANAGED_BY)),
        metadata("annotations").and_then(|annotations| annotations.get(LEFT_OUT)),
        metadata("ownerReferences"),
        object.get("source"),
        object.get("configuration"),
        object.get("summary"),
        object.get("results"),
    ];
    let parts: Vec<&Value> = parts.map(|part| part.unwrap_or(&Value::Null)).into();
    let text = serde_json::to_vec(&parts).unwrap_or_default();
    digest(&SHA256, &text).as_ref().to_vec()
}
