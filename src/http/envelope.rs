//! The wire format of `AdmissionReview` v1.
//!
//! Objects stay borrowed raw JSON. So the uid can be returned whatever an object holds (without it the API server takes
//! the call for failed, and with `failurePolicy: Ignore` a user could bypass the webhook with an invalid object), and
//! memory stays close to the size of the body.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::engine::admission::disclosure::Subject;
use crate::engine::admission::request::{Operation, Request};
use crate::engine::admission::verdict::{Cause, Verdict};
use crate::engine::model::ids::GroupKind;
use crate::engine::model::object::is_within_limits;

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";
/// A uid has 36 bytes, a name at most 253; nothing longer is echoed.
const MAX_UID: usize = 256;

/// The request of a review. Null counts as absent.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope<'a> {
    /// Identifies this call; the answer must repeat it.
    #[serde(borrow, default, deserialize_with = "text")]
    pub uid: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "object")]
    kind: Option<Kind<'a>>,
    /// `CREATE`, `UPDATE`, `DELETE`, `CONNECT`.
    #[serde(borrow, default, deserialize_with = "text")]
    pub operation: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    namespace: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    name: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    sub_resource: Cow<'a, str>,
    #[serde(borrow, default)]
    object: Option<&'a RawValue>,
    #[serde(borrow, default)]
    old_object: Option<&'a RawValue>,
    #[serde(default)]
    dry_run: Option<bool>,
    #[serde(borrow, default)]
    user_info: Option<&'a RawValue>,
    /// The user, parsed when first needed.
    #[serde(skip)]
    subject: OnceLock<Option<Arc<Subject>>>,
    #[serde(borrow, default)]
    options: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Options {
    field_manager: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UserInfo {
    username: Option<String>,
    uid: Option<String>,
    groups: Option<Vec<String>>,
    extra: Option<BTreeMap<String, Vec<String>>>,
}

#[derive(Debug, Deserialize)]
struct Kind<'a> {
    #[serde(borrow, default, deserialize_with = "text")]
    group: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    #[serde(borrow, default, deserialize_with = "text")]
    api_version: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    kind: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "object")]
    request: Option<Envelope<'a>>,
}

/// Why a body is not a review. The messages quote nothing of the body, because they are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The body is empty.
    #[error("the body is empty")]
    Empty,
    /// Not UTF-8.
    #[error("the body is not UTF-8")]
    Utf8,
    /// Not JSON, truncated, or more than one value.
    #[error("the body is not JSON: line {line}, column {column}")]
    Json {
        /// Line of the body, from 1.
        line: usize,
        /// Column of the line, from 1.
        column: usize,
    },
    /// JSON of another shape, or with a duplicate key.
    #[error("the body is not an AdmissionReview: line {line}, column {column}")]
    Shape {
        /// Line of the body, from 1.
        line: usize,
        /// Column of the line, from 1.
        column: usize,
    },
    /// Another kind or version.
    #[error("the body must have apiVersion {API_VERSION} and kind {KIND}")]
    Version,
    /// It has no request.
    #[error("the AdmissionReview has no request")]
    NoRequest,
    /// The uid is missing, or too long to be echoed.
    #[error("request.uid must have 1 to {MAX_UID} bytes")]
    Uid,
}

// === impl Malformed ===

impl Malformed {
    /// The value of the metric label.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Utf8 => "utf8",
            Self::Json { .. } => "json",
            Self::Shape { .. } => "shape",
            Self::Version => "version",
            Self::NoRequest => "request",
            Self::Uid => "uid",
        }
    }
}

impl From<serde_json::Error> for Malformed {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        match error.classify() {
            Category::Data => Self::Shape { line, column },
            Category::Io | Category::Syntax | Category::Eof => Self::Json { line, column },
        }
    }
}

// === impl Envelope ===

impl<'a> Envelope<'a> {
    /// Parses the request of a review.
    ///
    /// # Errors
    /// Fails if the body is not a review with a uid; no answer is possible then.
    pub fn parse(body: &'a [u8]) -> Result<Self, Malformed> {
        if body.is_empty() {
            return Err(Malformed::Empty);
        }
        let body = std::str::from_utf8(body).map_err(|_| Malformed::Utf8)?;
        let Object(review): Object<Review<'a>> = serde_json::from_str(body)?;
        if review.api_version != API_VERSION || review.kind != KIND {
            return Err(Malformed::Version);
        }
        let request = review.request.ok_or(Malformed::NoRequest)?;
        if request.uid.is_empty() || request.uid.len() > MAX_UID {
            return Err(Malformed::Uid);
        }
        Ok(request)
    }

    /// The kind of the object; its names are empty if the request has none.
    pub fn gk(&self) -> GroupKind {
        match &self.kind {
            Some(kind) => GroupKind::new(&*kind.group, &*kind.kind),
            None => GroupKind::core(""),
        }
    }

    /// The namespace of the object; empty if it has none.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name of the object; empty on a CREATE with `generateName`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The operation as a metric label; unknown ones share a value.
    pub fn operation_label(&self) -> &'static str {
        ["CREATE", "UPDATE", "DELETE", "CONNECT"]
            .into_iter()
            .find(|known| *known == self.operation)
            .unwrap_or("other")
    }

    /// The user, for overrides and access reviews; `None` if the request does not name one, or if the user info is too
    /// large to be genuine. It is parsed when first needed, since most reviews have no findings.
    pub fn subject(&self) -> Option<&Arc<Subject>> {
        let read = || {
            let info = self
                .user_info
                .map(RawValue::get)
                .filter(|text| is_within_limits(text))?;
            let info: UserInfo = serde_json::from_str(info).ok()?;
            Some(Arc::new(Subject {
                user: info.username.filter(|name| !name.is_empty())?,
                uid: info.uid.unwrap_or_default(),
                groups: info.groups.unwrap_or_default(),
                extra: info.extra.unwrap_or_default(),
            }))
        };
        self.subject.get_or_init(read).as_ref()
    }

    /// The field manager; empty if the request names none.
    pub fn field_manager(&self) -> String {
        let options = self.options.map(RawValue::get);
        let options = options.and_then(|text| serde_json::from_str::<Options>(text).ok());
        options
            .and_then(|options| options.field_manager)
            .unwrap_or_default()
    }

    /// Whether the API server will not store the object.
    pub fn dry_run(&self) -> bool {
        self.dry_run == Some(true)
    }

    /// The request in the engine's form.
    ///
    /// # Errors
    /// Returns why the engine cannot review it.
    pub fn request(&self) -> Result<Request<'_>, &'static str> {
        let operation = match &*self.operation {
            "CREATE" => Operation::Create,
            "UPDATE" => Operation::Update,
            "DELETE" => Operation::Delete,
            "CONNECT" => Operation::Connect,
            _ => return Err("the operation is not known"),
        };
        let gk = self.gk();
        if gk.kind.is_empty() {
            return Err("the request names no kind");
        }
        let itself = self.sub_resource.is_empty() && operation == Operation::Delete;
        if itself && self.name.is_empty() && self.old_object.is_none() {
            return Err("the request does not say what is deleted");
        }
        Ok(Request {
            operation,
            namespace: &self.namespace,
            name: &self.name,
            subresource: &self.sub_resource,
            object: self.object,
            old: self.old_object,
            gk,
        })
    }

    /// Serializes the answer with a verdict.
    ///
    /// # Errors
    /// Fails if serialization fails, which these types do not allow for.
    pub fn answer(&self, verdict: &Verdict) -> serde_json::Result<Vec<u8>> {
        let allowed = verdict.allowed();
        let patch = if verdict.patch.is_empty() {
            None
        } else {
            Some(BASE64.encode(serde_json::to_vec(&verdict.patch)?))
        };
        serde_json::to_vec(&Answer {
            api_version: API_VERSION,
            kind: KIND,
            response: Response {
                uid: &self.uid,
                allowed,
                status: (!allowed).then(|| self.refusal(verdict)),
                // To the API server, one without the other is an error.
                patch_type: patch.is_some().then_some("JSONPatch"),
                patch,
                warnings: verdict.warnings(),
                audit_annotations: annotations(verdict),
            },
        })
    }

    fn refusal(&self, verdict: &Verdict) -> Refusal<'_> {
        let kind = self.kind.as_ref();
        Refusal {
            status: "Failure",
            message: verdict.message(),
            reason: "Invalid",
            // If the code is missing or below 400, the API server uses 400.
            code: 422,
            details: Details {
                name: echoed(&self.name),
                group: echoed(kind.map_or("", |kind| &kind.group)),
                kind: echoed(kind.map_or("", |kind| &kind.kind)),
                causes: verdict.causes().into_iter().map(WireCause::from).collect(),
            },
        }
    }
}

/// A name to echo; empty if it is longer than the API server accepts.
fn echoed(name: &str) -> &str {
    if name.len() <= MAX_UID { name } else { "" }
}

/// The audit annotations, logged as `<webhook>/<key>`: codes only, never names.
fn annotations(verdict: &Verdict) -> BTreeMap<&'static str, String> {
    let mut codes: Vec<&str> = verdict.findings.iter().map(|f| f.code.as_str()).collect();
    codes.dedup();
    let key = (!codes.is_empty()).then_some("findings");
    key.map(|key| (key, codes.join(","))).into_iter().collect()
}

/// Deserializes a string; null counts as absent.
fn text<'de: 'a, 'a, D: Deserializer<'de>>(from: D) -> Result<Cow<'a, str>, D::Error> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    Ok(Option::<Text<'a>>::deserialize(from)?.map_or(Cow::Borrowed(""), |text| text.0))
}

/// Deserializes an object; null counts as absent.
fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Ok(Option::<Object<T>>::deserialize(from)?.map(|Object(value)| value))
}

/// Accepts only a JSON object: a derived struct would also accept an array of its fields.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(fields)).map(Object)
            }
        }
        from.deserialize_map(Fields(PhantomData))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    api_version: &'static str,
    kind: &'static str,
    response: Response<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    uid: &'a str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Refusal<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    audit_annotations: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
struct Refusal<'a> {
    status: &'static str,
    message: String,
    reason: &'static str,
    code: u16,
    details: Details<'a>,
}

#[derive(Serialize)]
struct Details<'a> {
    name: &'a str,
    group: &'a str,
    kind: &'a str,
    causes: Vec<WireCause>,
}

#[derive(Serialize)]
struct WireCause {
    reason: &'static str,
    message: String,
    field: String,
}

impl From<Cause> for WireCause {
    fn from(cause: Cause) -> Self {
        Self {
            reason: cause.reason,
            message: cause.message,
            field: cause.field,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Envelope;
    use crate::engine::admission::verdict::Verdict;

    fn answer(patch: Value) -> Value {
        let body = br#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u"}}"#;
        let verdict = Verdict::patching(serde_json::from_value(patch).unwrap());
        let bytes = Envelope::parse(body).unwrap().answer(&verdict).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn a_patch_is_base64_and_named_as_such() {
        let answer = answer(json!([{"op": "remove", "path": "/a"}]));
        assert_eq!(answer["response"]["patchType"], "JSONPatch");
        // `[{"op":"remove","path":"/a"}]`
        let patch = "W3sib3AiOiJyZW1vdmUiLCJwYXRoIjoiL2EifV0=";
        assert_eq!(answer["response"]["patch"], patch);
    }

    #[test]
    fn an_empty_patch_is_left_out_with_its_type() {
        let answer = answer(json!([]));
        assert_eq!(answer["response"], json!({"uid": "u", "allowed": true}));
    }
}
