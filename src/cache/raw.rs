//! An object of any kind as the API server sends it, read so leniently that no object breaks a list.

use std::borrow::Cow;
use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::Resource;
use kube::core::{ApiResource, DynamicResourceScope};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::object::{
    Annotations, Incoming, Meta, Object, RawAnnotations, Unreadable, short_annotations,
};

/// An object of any kind: the metadata that is used, and the spec as text. Everything else is passed over; parsed
/// JSON would take twenty times the memory of the text.
#[derive(Clone, Debug, Default)]
pub struct RawObject {
    /// Name, namespace, labels, short annotations, times and resource version; the rest is left out.
    pub metadata: ObjectMeta,
    /// `spec`, as it came.
    pub spec: Option<Box<RawValue>>,
    /// Whether the status says `Established`, which only CRDs do.
    pub established: bool,
    /// Why it cannot be used, if it cannot.
    pub odd: Option<String>,
}

#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow, default)]
    spec: Option<&'a RawValue>,
    #[serde(borrow, default)]
    status: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SlimMeta<'a> {
    name: Option<String>,
    namespace: Option<String>,
    resource_version: Option<String>,
    labels: Option<BTreeMap<String, String>>,
    #[serde(borrow)]
    annotations: Option<RawAnnotations<'a>>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
}

/// What identifies an object whose metadata is odd elsewhere.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Names<'a> {
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    namespace: Option<&'a RawValue>,
    #[serde(borrow, default)]
    resource_version: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    conditions: Vec<Condition>,
}

#[derive(Deserialize)]
struct Condition {
    r#type: String,
    status: String,
}

// === impl RawObject ===

impl RawObject {
    /// Reads an object from JSON text. What cannot be understood is said in `odd`.
    pub fn read(text: &str) -> Self {
        let parts: Parts<'_> = match serde_json::from_str(text) {
            Ok(parts) => parts,
            Err(error) => {
                return Self {
                    odd: Some(format!("not an object: {error}")),
                    ..Self::default()
                };
            }
        };
        let (metadata, odd) = read_meta(parts.metadata);
        Self {
            metadata,
            spec: parts.spec.map(ToOwned::to_owned),
            established: parts.status.is_some_and(is_established),
            odd,
        }
    }

    /// The metadata as the engine keeps it.
    pub fn meta(&self) -> Meta {
        let meta = &self.metadata;
        Meta {
            namespace: meta.namespace.as_deref().unwrap_or_default().into(),
            name: meta.name.as_deref().unwrap_or_default().into(),
            labels: meta
                .labels
                .iter()
                .flatten()
                .map(|(key, value)| (key.as_str().into(), value.as_str().into()))
                .collect(),
            annotations: meta
                .annotations
                .iter()
                .flatten()
                .map(|(key, value)| (key.as_str().into(), value.as_str().into()))
                .collect(),
            created: self.created(),
            deleting: meta.deletion_timestamp.is_some(),
            generation: meta.generation,
        }
    }

    /// When it was created.
    pub fn created(&self) -> Option<jiff::Timestamp> {
        self.metadata.creation_timestamp.as_ref().map(|time| time.0)
    }

    /// Its key.
    pub fn key(&self, gk: &GroupKind) -> ObjectKey {
        let meta = &self.metadata;
        ObjectKey::new(
            gk.clone(),
            meta.namespace.as_deref().unwrap_or_default(),
            meta.name.as_deref().unwrap_or_default(),
        )
    }

    /// The object as the engine keeps it.
    ///
    /// # Errors
    /// When it is odd, or a field that attachment depends on has the wrong type.
    pub fn to_object(&self, gk: &GroupKind) -> Result<Object, Unreadable> {
        self.to_object_as(gk, &self.meta())
    }

    /// The object as the engine keeps it, with other metadata than it came with.
    ///
    /// # Errors
    /// As [`RawObject::to_object`].
    pub fn to_object_as(&self, gk: &GroupKind, meta: &Meta) -> Result<Object, Unreadable> {
        if let Some(why) = &self.odd {
            return Err(Unreadable(why.clone()));
        }
        let spec = self.spec.as_deref();
        Object::read(gk, Incoming { meta, spec })
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::read(
            Box::<RawValue>::deserialize(deserializer)?.get(),
        ))
    }
}

impl Resource for RawObject {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        resource.kind.as_str().into()
    }
    fn group(resource: &ApiResource) -> Cow<'_, str> {
        resource.group.as_str().into()
    }
    fn version(resource: &ApiResource) -> Cow<'_, str> {
        resource.version.as_str().into()
    }
    fn api_version(resource: &ApiResource) -> Cow<'_, str> {
        resource.api_version.as_str().into()
    }
    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        resource.plural.as_str().into()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

fn read_meta(raw: Option<&RawValue>) -> (ObjectMeta, Option<String>) {
    let Some(raw) = raw else {
        return (ObjectMeta::default(), Some("it has no metadata".to_owned()));
    };
    match serde_json::from_str::<SlimMeta<'_>>(raw.get()) {
        Ok(slim) => {
            let odd = slim.name.is_none().then(|| "it has no name".to_owned());
            let meta = ObjectMeta {
                name: slim.name,
                namespace: slim.namespace,
                resource_version: slim.resource_version,
                labels: slim.labels,
                annotations: Some(texts(&short_annotations(slim.annotations))),
                creation_timestamp: slim.creation_timestamp,
                deletion_timestamp: slim.deletion_timestamp,
                ..ObjectMeta::default()
            };
            (meta, odd)
        }
        // The name still tells which object left, and the version lets the watch go on behind it.
        Err(error) => (names(raw), Some(format!("odd metadata: {error}"))),
    }
}

fn texts(annotations: &Annotations) -> BTreeMap<String, String> {
    let texts = annotations.iter();
    texts.map(|(k, v)| (k.to_string(), v.to_string())).collect()
}

fn names(raw: &RawValue) -> ObjectMeta {
    let text = |value: Option<&RawValue>| value.and_then(|v| serde_json::from_str(v.get()).ok());
    match serde_json::from_str::<Names<'_>>(raw.get()) {
        Ok(names) => ObjectMeta {
            name: text(names.name),
            namespace: text(names.namespace),
            resource_version: text(names.resource_version),
            ..ObjectMeta::default()
        },
        Err(_) => ObjectMeta::default(),
    }
}

fn is_established(status: &RawValue) -> bool {
    // Most objects are no CRD: look before parsing.
    status.get().contains("\"Established\"")
        && serde_json::from_str::<Status>(status.get()).is_ok_and(|status| {
            status
                .conditions
                .iter()
                .any(|c| c.r#type == "Established" && c.status == "True")
        })
}
