//! The form of a file of tests.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::engine::admission::finding::Code;
use crate::engine::model::literal::Literal;

/// A file of tests: `*.attache.yaml`, beside the manifests.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Test")]
pub(crate) struct TestFile<T = TestCase> {
    /// `attache.dev/v1`.
    pub(crate) api_version: String,
    /// `Test`.
    pub(crate) kind: String,
    /// The files and directories with the manifests, relative to this file; its own directory by default. Kustomizations
    /// are built.
    #[serde(default = "this_directory")]
    pub(crate) from: Vec<PathBuf>,
    /// The tests.
    pub(crate) tests: Vec<T>,
}

/// A test: of what is in force, of a request, of a change, or of a guardrail.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum TestCase {
    /// The settings that are in force on a target.
    Effective(EffectiveTest),
    /// The object that serves a request.
    Request(RequestTest),
    /// Whether a change is refused.
    Change(ChangeTest),
    /// Whether a guardrail is fulfilled.
    Guardrail(GuardrailTest),
}

/// A test of what is in force on a target.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EffectiveTest {
    /// The name of the test.
    pub(crate) name: String,
    /// The target: `KIND/NAMESPACE/NAME`, with `#SECTION` for a listener, rule or port.
    pub(crate) target: String,
    /// Only the paths through this Gateway, listener, route or rule, as `target`. All paths by default.
    pub(crate) via: Option<String>,
    /// The settings that must be in force, on every path.
    pub(crate) effective: ExpectedEffective,
}

/// The effective policy that is expected.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ExpectedEffective {
    /// The policy kind: `KIND` or `KIND.GROUP`.
    pub(crate) policy_kind: String,
    /// Settings that must be in force, each with its value; null for a setting that must be absent. Other settings may be
    /// in force too, except within lists. Null in place of the settings: no policy of the kind is in force.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<BTreeMap<String, Value>>")]
    pub(crate) spec: Option<Literal>,
    /// The policy (`NAMESPACE/NAME`) from which a setting must come, by JSON pointer into `spec`.
    #[serde(default)]
    pub(crate) from: BTreeMap<String, String>,
}

/// A test of what serves a request.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RequestTest {
    /// The name of the test.
    pub(crate) name: String,
    /// The request.
    pub(crate) request: RequestFile,
    /// The object that serves it, wherever it may arrive, or `none` if nothing serves it.
    pub(crate) takes: Takes,
}

/// A request, as the arguments of `attache explain`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RequestFile {
    /// The host.
    pub(crate) host: Option<String>,
    /// The path; may have query parameters. `/` by default.
    pub(crate) path: Option<String>,
    /// The method; GET by default.
    pub(crate) method: Option<String>,
    /// The headers.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// Query parameters, not encoded.
    #[serde(default)]
    pub(crate) query: BTreeMap<String, String>,
    /// `http`, `https`, `tls`, `tcp` or `udp`.
    pub(crate) scheme: Option<String>,
    /// The port of the listener, or with `service` of the Service.
    #[schemars(range(min = 1))]
    pub(crate) port: Option<u16>,
    /// The TLS server name, if it differs from the host.
    pub(crate) sni: Option<String>,
    /// The only Gateway that it is sent to: `NAMESPACE/NAME`.
    pub(crate) gateway: Option<String>,
    /// The Service of a mesh that it is sent to: `NAMESPACE/NAME`.
    pub(crate) service: Option<String>,
    /// The namespace of the client that calls the Service.
    pub(crate) from_namespace: Option<String>,
}

/// The object that serves a request.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Takes {
    /// Nothing.
    Nothing(Nothing),
    /// A route, a backend, or a response.
    Something(Taken),
}

/// `none`.
#[derive(Clone, Copy, Debug, JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(crate) enum Nothing {
    /// Nothing serves the request.
    None,
}

/// The route, backends and response of a request. At least one of them is given.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Taken {
    /// The route: `NAMESPACE/NAME` or `KIND/NAMESPACE/NAME`, with `#RULE` for a rule of it.
    pub(crate) route: Option<String>,
    /// The backend that gets the request: `NAMESPACE/NAME` or `KIND/NAMESPACE/NAME`, with `:PORT` if the port matters; a
    /// list if the rule has several.
    pub(crate) backend: Option<OneOrMore>,
    /// The HTTP or gRPC status of a response that does not come from a backend, such as a redirect.
    pub(crate) status: Option<Status>,
}

/// A status: a number, or the name of a gRPC code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Status(String);

/// One value or several.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum OneOrMore {
    /// One.
    One(String),
    /// Several.
    More(Vec<String>),
}

/// A test of a change: what the webhook answers.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ChangeTest {
    /// The name of the test.
    pub(crate) name: String,
    /// Files with objects that are applied one after the other, relative to this file.
    pub(crate) apply: Option<OneOrMore>,
    /// Objects that are deleted, after that: `KIND/NAMESPACE/NAME`.
    pub(crate) delete: Option<OneOrMore>,
    /// The user who asks; nobody in particular by default.
    #[serde(rename = "as")]
    pub(crate) user: Option<User>,
    /// The refusal that is expected.
    pub(crate) refused: Option<ExpectedFinding>,
    /// The warning that is expected. The change must be allowed.
    pub(crate) warned: Option<ExpectedFinding>,
    /// `true`: the change must be allowed.
    pub(crate) allowed: Option<bool>,
}

/// A user.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct User {
    /// The name.
    pub(crate) user: String,
    /// The groups.
    #[serde(default)]
    pub(crate) groups: Vec<String>,
}

/// A finding that is expected. All fields that are given must agree.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ExpectedFinding {
    /// The code.
    pub(crate) code: Option<Code>,
    /// The name of the guardrail that is broken.
    pub(crate) guardrail: Option<String>,
    /// A part of the message.
    pub(crate) message: Option<String>,
}

/// A test of a guardrail.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GuardrailTest {
    /// The name of the test.
    pub(crate) name: String,
    /// The name of the guardrail.
    pub(crate) guardrail: String,
    /// `true`: every target fulfils it.
    pub(crate) fulfilled: Option<bool>,
    /// The targets that break it, all of them: `KIND/NAMESPACE/NAME`.
    pub(crate) broken: Option<Vec<String>>,
}

fn this_directory() -> Vec<PathBuf> {
    vec![PathBuf::from(".")]
}

/// A value that is given, even if it is null.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Literal>, D::Error> {
    Literal::deserialize(from).map(Some)
}

// === impl OneOrMore ===

impl OneOrMore {
    /// All values.
    pub(crate) fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::More(all) => all,
        }
    }
}

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Literal(value) = Literal::deserialize(from)?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let read = match &value {
            Value::Array(all) => all.iter().map(text).collect::<Option<_>>().map(Self::More),
            one => text(one).map(Self::One),
        };
        read.ok_or_else(|| serde::de::Error::custom("expected a text or a list of texts"))
    }
}

// === impl Status ===

impl Status {
    /// The status as a text.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl JsonSchema for Status {
    fn schema_name() -> Cow<'static, str> {
        "Status".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut number = generator.subschema_for::<u16>();
        number.insert("description".to_owned(), "A number.".into());
        json_schema!({
            "description": "A status: a number, or the name of a gRPC code.",
            "anyOf": [number, {"description": "A name.", "type": "string"}],
        })
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Literal(value) = Literal::deserialize(from)?;
        match value {
            Value::Number(number) => Ok(Self(number.to_string())),
            Value::String(name) => Ok(Self(name)),
            _ => Err(serde::de::Error::custom("expected a number or a name")),
        }
    }
}

// === impl Takes ===

impl<'de> Deserialize<'de> for Takes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Literal(value) = Literal::deserialize(from)?;
        match &value {
            Value::String(word) if word == "none" => Ok(Self::Nothing(Nothing::None)),
            Value::Object(_) => Taken::deserialize(value)
                .map(Self::Something)
                .map_err(serde::de::Error::custom),
            _ => Err(serde::de::Error::custom(
                "expected none, or a route, backend or status",
            )),
        }
    }
}
