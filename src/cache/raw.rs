//! An object of any kind as the API server sends it, parsed leniently so that no object can break a list.

use std::borrow::Cow;
use std::num::NonZeroI64;
use std::sync::{Arc, LazyLock};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::Resource;
use kube::core::{ApiResource, DynamicResourceScope};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::intern::Interner;
use crate::engine::model::object::{
    Header, Incoming, Meta, Object, RawAnnotations, Reported, Unreadable, is_large,
    short_annotations, unreadable_field, weigh_metadata,
};
use crate::engine::model::selector::Labels;
use crate::engine::model::uid::Uid;

/// An object of any kind: the metadata that attache uses, and the spec as text. The rest is skipped, since parsed JSON
/// would take twenty times the memory of the text.
#[derive(Clone, Debug, Default)]
pub struct RawObject {
    /// Only the resource version, from which a watch resumes.
    metadata: Option<Box<ObjectMeta>>,
    header: Header,
    /// `spec`, unparsed.
    pub spec: Option<Box<RawValue>>,
    /// The parts of its status that controllers reported.
    reported: Option<Arc<Reported>>,
    /// Its generation.
    generation: Option<i64>,
    /// Whether it has the condition `Established`, which only CRDs have.
    pub established: bool,
    /// Why the object cannot be used; `None` if it can.
    pub odd: Option<Unreadable>,
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
#[serde(rename_all = "camelCase", default, expecting = "an object")]
struct SlimMeta<'a> {
    name: Option<Arc<str>>,
    namespace: Option<Arc<str>>,
    resource_version: Option<String>,
    labels: Option<Labels>,
    #[serde(borrow)]
    annotations: Option<RawAnnotations<'a>>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
    generation: Option<i64>,
    #[serde(borrow)]
    uid: Option<Cow<'a, str>>,
}

/// The fields that identify an object whose other metadata is invalid.
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
    /// Parses an object. If it is invalid, `odd` has the reason.
    pub fn read(text: &str) -> Self {
        let parts: Parts<'_> = match serde_json::from_str(text) {
            Ok(parts) => parts,
            Err(error) => {
                return Self {
                    odd: Some(Unreadable::because("not an object", error)),
                    ..Self::default()
                };
            }
        };
        let Metadata {
            version,
            header,
            generation,
            odd,
        } = read_header(parts.metadata);
        let status = parts.status;
        Self {
            generation,
            reported: status.and_then(|status| Reported::read(status, &header, generation)),
            // Objects of files have none, and the struct is large.
            metadata: version.map(|version| {
                Box::new(ObjectMeta {
                    resource_version: Some(version),
                    ..ObjectMeta::default()
                })
            }),
            header,
            spec: parts.spec.map(ToOwned::to_owned),
            established: status.is_some_and(is_established),
            odd,
        }
    }

    /// The metadata in the engine's form.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Shares the strings of metadata and status with other objects.
    pub(super) fn intern(&mut self, interner: &mut Interner) {
        interner.header(&mut self.header);
        if let Some(reported) = &mut self.reported {
            interner.reported(reported);
        }
    }

    /// Its generation.
    pub(super) fn generation(&self) -> Option<i64> {
        self.generation
    }

    /// When it was created.
    pub fn created(&self) -> Option<jiff::Timestamp> {
        self.header.meta.created
    }

    /// Its key.
    pub fn key(&self, gk: &GroupKind) -> ObjectKey {
        self.header.key(gk)
    }

    /// The object in the engine's form.
    ///
    /// # Errors
    /// Fails if `odd` is set, or if a field that attachment depends on has the wrong type.
    pub fn to_object(&self, gk: &GroupKind) -> Result<Object, Unreadable> {
        self.to_object_as(gk, &self.header, None)
    }

    /// Like [`RawObject::to_object`], for an object that is kept: it shares strings with others.
    ///
    /// # Errors
    /// As [`RawObject::to_object`].
    pub fn to_interned(
        &mut self,
        gk: &GroupKind,
        interner: &mut Interner,
    ) -> Result<Object, Unreadable> {
        // Before the object is made, which shares metadata and status with this one.
        self.intern(interner);
        let mut object = self.to_object(gk)?;
        interner.object(&mut object);
        Ok(object)
    }

    /// Like [`RawObject::to_object`], with other metadata and optionally another spec.
    ///
    /// # Errors
    /// As [`RawObject::to_object`].
    pub fn to_object_as(
        &self,
        gk: &GroupKind,
        header: &Header,
        spec: Option<&RawValue>,
    ) -> Result<Object, Unreadable> {
        if let Some(why) = &self.odd {
            return Err(why.clone());
        }
        let incoming = Incoming {
            header: Cow::Borrowed(header),
            spec: spec.or(self.spec.as_deref()),
            status: None,
        };
        let mut object = Object::read(gk, incoming)?;
        object.reported.clone_from(&self.reported);
        if self.header.namespace != header.namespace
            && let Some(reported) = &mut object.reported
        {
            Arc::make_mut(reported).place_in(&header.namespace);
        }
        Ok(object)
    }
}

impl RawObject {
    /// The readable parts of an invalid object.
    pub fn outline(&self, gk: &GroupKind, header: &Header, why: &Unreadable) -> Option<Object> {
        Object::outline(gk, header, self.spec.as_deref(), why)
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
        static NONE: LazyLock<ObjectMeta> = LazyLock::new(ObjectMeta::default);
        self.metadata.as_deref().unwrap_or(&NONE)
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.metadata.get_or_insert_default()
    }
}

/// The result of reading an object's metadata.
#[derive(Default)]
struct Metadata {
    /// The resource version.
    version: Option<String>,
    /// The metadata that the engine keeps.
    header: Header,
    /// Compared with the `observedGeneration` of conditions to detect outdated ones.
    generation: Option<i64>,
    /// Why the metadata is invalid.
    odd: Option<Unreadable>,
}

fn read_header(raw: Option<&RawValue>) -> Metadata {
    let Some(raw) = raw else {
        return Metadata {
            odd: Some(Unreadable::new(
                "it has no metadata, so it is no Kubernetes object",
            )),
            ..Metadata::default()
        };
    };
    let heavy = Some(raw.get()).filter(|text| is_large(text));
    let heavy = heavy.and_then(|text| weigh_metadata(text).err());
    if let Some(why) = heavy {
        let (version, header) = names(raw);
        return Metadata {
            version,
            header,
            generation: None,
            odd: Some(why),
        };
    }
    match serde_json::from_str::<SlimMeta<'_>>(raw.get()) {
        Ok(slim) => {
            let nameless = slim.name.is_none();
            let meta = Meta {
                labels: slim.labels.unwrap_or_default(),
                annotations: short_annotations(slim.annotations),
                created: slim.creation_timestamp.map(|time| time.0),
                deleting: slim.deletion_timestamp.is_some(),
                version: None,
                generation: slim.generation.and_then(NonZeroI64::new),
                uid: slim.uid.and_then(|uid| Uid::read(&uid)),
            };
            Metadata {
                version: slim.resource_version,
                header: Header {
                    name: slim.name.unwrap_or_default(),
                    namespace: slim.namespace.unwrap_or_default(),
                    meta,
                },
                generation: slim.generation,
                odd: nameless.then(|| Unreadable::new("it has no name")),
            }
        }
        // The name still identifies a deleted object, and the version lets the watch resume after it.
        Err(error) => {
            let (version, header) = names(raw);
            Metadata {
                version,
                header,
                generation: None,
                odd: Some(unreadable_field::<SlimMeta<'_>>(
                    "metadata",
                    raw.get(),
                    &error,
                )),
            }
        }
    }
}

fn names(raw: &RawValue) -> (Option<String>, Header) {
    let text = |value: Option<&RawValue>| -> Option<String> {
        value.and_then(|v| serde_json::from_str(v.get()).ok())
    };
    let Ok(names) = serde_json::from_str::<Names<'_>>(raw.get()) else {
        return (None, Header::default());
    };
    let header = Header {
        name: text(names.name).unwrap_or_default().into(),
        namespace: text(names.namespace).unwrap_or_default().into(),
        ..Header::default()
    };
    (text(names.resource_version), header)
}

fn is_established(status: &RawValue) -> bool {
    // Most objects are not CRDs: search before parsing.
    status.get().contains("\"Established\"")
        && serde_json::from_str::<Status>(status.get()).is_ok_and(|status| {
            status
                .conditions
                .iter()
                .any(|c| c.r#type == "Established" && c.status == "True")
        })
}
