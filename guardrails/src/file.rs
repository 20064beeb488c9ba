//! The form of a guardrail in the configuration and in objects of kind `Guardrail`.

use attache_engine::admission::suppress::Suppressors;
use attache_engine::model::ids::GroupKind;
use attache_engine::model::selector::Selector;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::expression::MAX_EXPRESSION_CHARACTERS;
use crate::selector;

/// A guardrail: an object `Guardrail` of `attache.dev/v1alpha1`. An entry of the configuration has the same form and may
/// leave out `apiVersion` and `kind`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GuardrailFile {
    /// `attache.dev/v1alpha1`.
    pub api_version: Option<String>,
    /// `Guardrail`.
    pub kind: Option<String>,
    /// The metadata; only the name is used.
    pub metadata: Metadata,
    /// The rules.
    pub spec: Spec,
    /// Written by attache, and not read.
    #[schemars(skip)]
    #[serde(default, rename = "status")]
    _status: IgnoredAny,
}

// === impl GuardrailFile ===

impl GuardrailFile {
    /// An object with this metadata and spec.
    pub(crate) fn new(metadata: Metadata, spec: Spec) -> Self {
        Self {
            api_version: None,
            kind: None,
            metadata,
            spec,
            _status: IgnoredAny,
        }
    }
}

/// The metadata of a guardrail.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Metadata {
    /// The name, which findings mention.
    pub name: String,
}

/// The rules, and the effective policies that must fulfil them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// The targets that it applies to.
    #[serde(default, rename = "match")]
    pub matches: TargetMatch,
    /// The policy kind whose effective policy the rules are about. If absent, `effective` is a map from `Kind.group` to
    /// the effective policy, of all kinds of which something is in force.
    pub policy_kind: Option<GroupKind>,
    /// The rules. Each of them must hold on every path.
    #[schemars(length(min = 1))]
    pub rules: Vec<RuleFile>,
    /// Targets to which it does not apply until a day.
    #[serde(default)]
    pub except: Vec<ExceptionFile>,
    /// Users who may write exceptions into the annotation `attache.dev/guardrail-exceptions` of a target. Nobody if
    /// absent: the annotation has no effect then.
    #[serde(default)]
    pub except_by: Suppressors,
    /// The reaction to a change that breaks a rule.
    pub action: Action,
    /// The reaction to a change after which a rule cannot be evaluated.
    #[serde(default)]
    pub on_error: OnError,
}

/// The targets of a guardrail. All conditions must hold.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TargetMatch {
    /// The kinds of the targets: `HTTPRoute`, `Service`, or `Kind.group`. All kinds of routes if absent.
    pub kinds: Option<Vec<String>>,
    /// The Gateways through which requests reach the target. Only paths through one of them count; all paths if absent.
    pub gateways: Option<Vec<GatewayMatch>>,
    /// The labels of the target's Namespace.
    #[serde(default, deserialize_with = "selector::strict")]
    #[schemars(schema_with = "selector::schema")]
    pub namespace_selector: Option<Selector>,
}

/// Gateways. All fields that are given must match.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GatewayMatch {
    /// The namespace.
    pub namespace: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The labels.
    #[serde(default, deserialize_with = "selector::strict")]
    #[schemars(schema_with = "selector::schema")]
    pub selector: Option<Selector>,
    /// The name of the `GatewayClass`.
    pub class: Option<String>,
}

/// A rule.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleFile {
    /// A CEL expression that must be true.
    #[schemars(length(max = MAX_EXPRESSION_CHARACTERS))]
    pub require: String,
    /// A CEL expression for the message to the user, a string.
    #[schemars(length(max = MAX_EXPRESSION_CHARACTERS))]
    pub message: Option<String>,
}

/// A target to which a guardrail does not apply for some time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExceptionFile {
    /// The target.
    pub target: ExceptionTarget,
    /// The last day of the exception (UTC): `2027-03-31`.
    #[schemars(extend("format" = "date"))]
    pub until: String,
    /// The reason.
    pub reason: String,
}

/// The target of an exception.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExceptionTarget {
    /// The kind: `HTTPRoute`, `Service`, or `Kind.group`. Any kind if absent.
    pub kind: Option<String>,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

/// The reaction to a change that breaks a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "GuardrailAction")]
pub enum Action {
    /// It is refused.
    Deny,
    /// The user gets a warning.
    Warn,
    /// Nothing; `attache check` and `attache guardrails` report it.
    Audit,
}

/// The reaction to a change after which a rule cannot be evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// The user gets a warning.
    #[default]
    Warn,
    /// It is refused, if the action is `deny` too.
    Deny,
}

// === impl Action ===

impl Action {
    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Warn => "warn",
            Self::Audit => "audit",
        }
    }
}
