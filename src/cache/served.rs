//! Discovery: the kinds that the API server serves, in one request if the server supports aggregated discovery.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroup, APIResource, APIResourceList};
use kube::Client;
use kube::core::discovery::v2::{APIGroupDiscovery, APIResourceDiscovery};
use kube::core::{ApiResource, GroupVersionKind};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::engine::model::ids::{APIEXTENSIONS, GroupKind};
use crate::engine::model::object::Crd;

use super::api_error::ApiError;

/// Aggregated discovery, from Kubernetes 1.27 on. Older servers answer with the names of the groups.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                      application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,\
                      application/json";
/// Concurrent requests if each group has to be asked separately.
const AT_ONCE: usize = 16;

/// Kubernetes' own kinds that policies may refer to, known without discovery: kind, group, plural, short names, and
/// whether they are namespaced. All have been `v1` for a long time.
const OWN: [(&str, &str, &str, &[&str], bool); 18] = [
    ("ConfigMap", "", "configmaps", &["cm"], true),
    ("Endpoints", "", "endpoints", &["ep"], true),
    ("Namespace", "", "namespaces", &["ns"], false),
    ("Node", "", "nodes", &["no"], false),
    ("PersistentVolume", "", "persistentvolumes", &["pv"], false),
    (
        "PersistentVolumeClaim",
        "",
        "persistentvolumeclaims",
        &["pvc"],
        true,
    ),
    ("Pod", "", "pods", &["po"], true),
    (
        "ReplicationController",
        "",
        "replicationcontrollers",
        &["rc"],
        true,
    ),
    ("Secret", "", "secrets", &[], true),
    ("Service", "", "services", &["svc"], true),
    ("ServiceAccount", "", "serviceaccounts", &["sa"], true),
    ("DaemonSet", "apps", "daemonsets", &["ds"], true),
    ("Deployment", "apps", "deployments", &["deploy"], true),
    ("ReplicaSet", "apps", "replicasets", &["rs"], true),
    ("StatefulSet", "apps", "statefulsets", &["sts"], true),
    ("CronJob", "batch", "cronjobs", &["cj"], true),
    ("Job", "batch", "jobs", &[], true),
    (
        "CustomResourceDefinition",
        APIEXTENSIONS,
        "customresourcedefinitions",
        &["crd", "crds"],
        false,
    ),
];

/// The kinds that the API server serves.
#[derive(Clone, Debug, Default)]
pub struct Served(BTreeMap<GroupKind, Kind>);

/// A kind that the API server serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Served versions, the preferred one first.
    pub versions: Vec<Arc<str>>,
    /// Plural name, as in URLs.
    pub plural: Arc<str>,
    /// Other names for it: the singular and the short names.
    pub aliases: Vec<Arc<str>>,
    /// Whether its objects are namespaced.
    pub namespaced: bool,
}

/// Either form of the answer to `/apis`.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    items: Vec<APIGroupDiscovery>,
    #[serde(default)]
    groups: Vec<APIGroup>,
}

/// A resource from either form.
struct Resource {
    kind: String,
    plural: String,
    singular: String,
    short_names: Vec<String>,
    verbs: Vec<String>,
    namespaced: bool,
}

// === impl Served ===

impl Served {
    /// Runs discovery. Groups whose API server does not answer are left out.
    ///
    /// # Errors
    /// Fails if the API server does not answer, or refuses.
    pub async fn ask(client: &Client) -> Result<Self, ApiError> {
        let answer: Answer = get(client, "/apis").await?;
        let mut served = Self::default();
        for group in answer.items {
            let name = group.metadata.and_then(|metadata| metadata.name);
            let name = name.unwrap_or_default();
            for version in group.versions {
                let (resources, version) = (version.resources, version.version);
                for resource in resources {
                    let version = version.as_deref().unwrap_or_default();
                    served.add(&name, version, resource.into());
                }
            }
        }
        let versions = answer.groups.into_iter().flat_map(|group| {
            let name = group.name;
            let versions = group.versions.into_iter();
            versions.map(move |version| (name.clone(), version.version))
        });
        let asked = stream::iter(versions).map(|(group, version)| async move {
            let path = format!("/apis/{group}/{version}");
            let listed: Result<APIResourceList, ApiError> = get(client, &path).await;
            (group, version, listed)
        });
        // Keep the order: the preferred version of a group comes first.
        let mut asked = asked.buffered(AT_ONCE);
        while let Some((group, version, listed)) = asked.next().await {
            let resources = listed.map_or_else(|_| Vec::new(), |list| list.resources);
            for resource in resources {
                served.add(&group, &version, resource.into());
            }
        }
        Ok(served)
    }

    /// The kinds that CRDs define.
    pub fn from_crds<'a>(crds: impl IntoIterator<Item = &'a Crd>) -> Self {
        let served = crds.into_iter().filter(|crd| !crd.served.is_empty());
        Self(
            served
                .map(|crd| (crd.gk.clone(), Kind::from(crd)))
                .collect(),
        )
    }

    fn add(&mut self, group: &str, version: &str, resource: Resource) {
        // Skip subresources, and kinds without readable objects.
        let is_read = resource.verbs.iter().any(|verb| verb == "get");
        if resource.kind.is_empty() || resource.plural.contains('/') || !is_read {
            return;
        }
        let singular = Some(resource.singular).filter(|name| !name.is_empty());
        let aliases = singular.into_iter().chain(resource.short_names);
        let entry = self.0.entry(GroupKind::new(group, resource.kind));
        let entry = entry.or_insert_with(|| Kind {
            versions: Vec::new(),
            plural: resource.plural.into(),
            aliases: aliases.map(Arc::from).collect(),
            namespaced: resource.namespaced,
        });
        if !entry.versions.iter().any(|known| **known == *version) {
            entry.versions.push(version.into());
        }
    }

    /// Kubernetes' own kinds, without discovery.
    pub fn own() -> Self {
        let own = OWN.iter().map(|(kind, group, plural, short, namespaced)| {
            let short = short.iter().map(|name| (*name).into());
            let own = Kind {
                versions: vec!["v1".into()],
                plural: (*plural).into(),
                aliases: std::iter::once(kind.to_lowercase().into())
                    .chain(short)
                    .collect(),
                namespaced: *namespaced,
            };
            (GroupKind::new(*group, *kind), own)
        });
        Self(own.collect())
    }

    /// Adds kinds that are not known yet.
    pub fn add_missing(&mut self, others: Self) {
        for (gk, kind) in others.0 {
            self.0.entry(gk).or_insert(kind);
        }
    }

    /// The entry of a kind, if it is served.
    pub fn get(&self, gk: &GroupKind) -> Option<&Kind> {
        self.0.get(gk)
    }

    /// Every kind, sorted.
    pub fn kinds(&self) -> impl Iterator<Item = (&GroupKind, &Kind)> {
        self.0.iter()
    }

    /// Whether no kind is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

// === impl Kind ===

impl Kind {
    /// The API resource in the preferred version.
    pub fn resource(&self, gk: &GroupKind) -> Option<ApiResource> {
        let version = self.versions.first()?;
        let gvk = GroupVersionKind::gvk(&gk.group, version, &gk.kind);
        Some(ApiResource::from_gvk_with_plural(&gvk, &self.plural))
    }
}

impl From<&Crd> for Kind {
    fn from(crd: &Crd) -> Self {
        Self {
            versions: crd.served.clone(),
            plural: crd.plural.clone(),
            aliases: crd.aliases.clone(),
            namespaced: crd.namespaced,
        }
    }
}

// === impl Resource ===

impl From<APIResourceDiscovery> for Resource {
    fn from(discovery: APIResourceDiscovery) -> Self {
        let kind = discovery.response_kind.and_then(|kind| kind.kind);
        Self {
            kind: kind.unwrap_or_default(),
            plural: discovery.resource.unwrap_or_default(),
            singular: discovery.singular_resource.unwrap_or_default(),
            short_names: discovery.short_names,
            verbs: discovery.verbs,
            namespaced: discovery.scope.as_deref() == Some("Namespaced"),
        }
    }
}

impl From<APIResource> for Resource {
    fn from(resource: APIResource) -> Self {
        Self {
            kind: resource.kind,
            plural: resource.name,
            singular: resource.singular_name,
            short_names: resource.short_names.unwrap_or_default(),
            verbs: resource.verbs,
            namespaced: resource.namespaced,
        }
    }
}

async fn get<T: DeserializeOwned>(client: &Client, path: &str) -> Result<T, ApiError> {
    let request = hyper::Request::get(path).header(hyper::header::ACCEPT, ACCEPT);
    let request = request.body(Vec::new());
    let request = request.map_err(|error| ApiError::Failed(error.to_string()))?;
    client
        .request(request)
        .await
        .map_err(|e| ApiError::classify(&e))
}
