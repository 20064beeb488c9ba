//! A guardrail whose expressions are compiled.

use attache_engine::admission::suppress::Suppressors;
use attache_engine::model::ids::{GroupKind, ObjectKey};
use attache_engine::model::object::plain;
use attache_engine::state::snapshot::Snapshot;
use jiff::civil::Date;
use serde_json::Value;

use crate::annotated::Annotated;
use crate::definition::spec_schema;
use crate::exception::Exception;
use crate::expression::Expression;
use crate::file::{Action, GuardrailFile, Metadata, OnError, RuleFile};
use crate::matching::Matcher;
use crate::{selector, shape};

/// The version of the API.
pub(crate) const API_VERSION: &str = "attache.dev/v1alpha1";

const GROUP: &str = "attache.dev";
const KIND: &str = "Guardrail";

/// The kind of guardrail objects.
pub fn guardrail_kind() -> GroupKind {
    GroupKind::new(GROUP, KIND)
}

/// Whether a kind is that of guardrail objects. It is asked of every request.
pub fn is_guardrail(gk: &GroupKind) -> bool {
    *gk.group == *GROUP && *gk.kind == *KIND
}

/// A guardrail.
#[derive(Debug)]
pub struct Guardrail {
    /// Its name.
    pub name: String,
    /// The policy kind that it is about; `None` for all kinds together.
    pub policy_kind: Option<GroupKind>,
    /// The action on a change that breaks a rule.
    pub action: Action,
    /// The action if a rule cannot be evaluated.
    pub on_error: OnError,
    /// Targets that it does not apply to.
    pub exceptions: Vec<Exception>,
    /// Users who may write exceptions into an annotation of a target.
    pub except_by: Suppressors,
    pub(crate) matcher: Matcher,
    pub(crate) rules: Vec<Rule>,
}

/// A rule.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) require: Expression,
    pub(crate) message: Option<Expression>,
}

/// Why a guardrail cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("guardrail {name:?}: {field}: {why}")]
pub struct GuardrailError {
    /// The name of the guardrail.
    pub name: String,
    /// The field: `spec.rules[0].require`.
    pub field: String,
    /// The mistake and its remedy.
    pub why: String,
}

// === impl Guardrail ===

impl Guardrail {
    /// Compiles a guardrail.
    ///
    /// # Errors
    /// Names the guardrail and the field that is wrong.
    pub fn compile(file: &GuardrailFile) -> Result<Self, GuardrailError> {
        let name = &file.metadata.name;
        let error = |field: &str, why: String| GuardrailError {
            name: name.clone(),
            field: field.to_owned(),
            why,
        };
        versions(file.api_version.as_deref(), file.kind.as_deref())
            .map_err(|(field, why)| error(field, why))?;
        if !is_name(name) {
            return Err(error("metadata.name", NAME.to_owned()));
        }
        let spec = &file.spec;
        let matcher = Matcher::from_file(&spec.matches)
            .map_err(|(field, why)| error(&format!("spec.match.{field}"), why))?;
        if spec.rules.is_empty() {
            return Err(error("spec.rules", "it needs at least one rule".to_owned()));
        }
        let mut rules = Vec::with_capacity(spec.rules.len());
        for (i, rule) in spec.rules.iter().enumerate() {
            let rule = Rule::compile(rule, spec.policy_kind.is_some());
            rules.push(rule.map_err(|(f, why)| error(&format!("spec.rules[{i}].{f}"), why))?);
        }
        let kind = spec.policy_kind.as_ref();
        let mut exceptions = Vec::with_capacity(spec.except.len());
        for (i, file) in spec.except.iter().enumerate() {
            let exception = Exception::from_file(file);
            exceptions
                .push(exception.map_err(|(f, why)| error(&format!("spec.except[{i}].{f}"), why))?);
        }
        Ok(Self {
            name: name.clone(),
            policy_kind: kind.map(|kind| GroupKind::new(&*kind.group, &*kind.kind)),
            action: spec.action,
            on_error: spec.on_error,
            exceptions,
            except_by: spec.except_by.clone(),
            matcher,
            rules,
        })
    }

    /// Reads and compiles a guardrail object from its name and the text of its `spec`.
    ///
    /// # Errors
    /// Names the guardrail and the field that is wrong.
    pub fn read(name: &str, spec: &str) -> Result<Self, GuardrailError> {
        let error = |field: String, why: String| GuardrailError {
            name: name.to_owned(),
            field,
            why,
        };
        let unreadable = |why: serde_json::Error| error("spec".to_owned(), plain(&why));
        let spec: Value = serde_json::from_str(spec).map_err(unreadable)?;
        let checked = shape::check(&spec, spec_schema(), "spec").and_then(|()| selectors(&spec));
        checked.map_err(|(field, why)| error(field, why))?;
        let spec = serde_json::from_value(spec).map_err(unreadable)?;
        let metadata = Metadata {
            name: name.to_owned(),
        };
        Self::compile(&GuardrailFile::new(metadata, spec))
    }

    /// Reads and compiles a guardrail from the text of a whole object.
    ///
    /// # Errors
    /// Names the guardrail and the field that is wrong.
    pub fn written(text: &str) -> Result<Self, GuardrailError> {
        let object: Value = serde_json::from_str(text).unwrap_or_default();
        let metadata = object.get("metadata");
        let name = metadata.and_then(|metadata| metadata.get("name")?.as_str());
        let name = name.unwrap_or_default();
        let error = |field: &str, why: String| GuardrailError {
            name: name.to_owned(),
            field: field.to_owned(),
            why,
        };
        let fields = object
            .as_object()
            .into_iter()
            .flat_map(|object| object.keys());
        for field in fields.map(String::as_str) {
            if !FIELDS.contains(&field) {
                let why = format!("there is no such field; {}", shape::hint(field, &FIELDS));
                return Err(error(field, why));
            }
        }
        let namespace = metadata.and_then(|metadata| metadata.get("namespace"));
        if namespace.is_some_and(|namespace| !namespace.is_null()) {
            let why = "a guardrail is in no namespace; remove it".to_owned();
            return Err(error("metadata.namespace", why));
        }
        let given = ["apiVersion", "kind"].map(|field| object.get(field).and_then(Value::as_str));
        let [api_version, kind] = given;
        versions(api_version, kind).map_err(|(field, why)| error(field, why))?;
        match object.get("spec") {
            Some(spec) => Self::read(name, &spec.to_string()),
            None => Err(error("spec", "it is missing".to_owned())),
        }
    }

    /// The key of the guardrail as an object.
    pub fn key(&self) -> ObjectKey {
        ObjectKey::new(guardrail_kind(), "", &*self.name)
    }

    /// The exception for a target, if one holds on this day: one of the guardrail, or one in an annotation of the target.
    pub fn exception(
        &self,
        snapshot: &Snapshot,
        target: &ObjectKey,
        today: Date,
    ) -> Option<Exception> {
        let mut exceptions = self.exceptions.iter();
        let own = exceptions.find(|exception| exception.names(target) && !exception.is_over(today));
        own.cloned().or_else(|| {
            let mut annotated = self.annotated(snapshot, target);
            annotated.find(|exception| !exception.is_over(today))
        })
    }

    /// The exceptions in an annotation of a target whose last day is over.
    pub fn ended(
        &self,
        snapshot: &Snapshot,
        target: &ObjectKey,
        today: Date,
    ) -> impl Iterator<Item = Exception> {
        let annotated = self.annotated(snapshot, target);
        annotated.filter(move |exception| exception.is_over(today))
    }

    /// The exceptions from it in an annotation of a target; none if nobody may write them.
    pub(crate) fn annotated(
        &self,
        snapshot: &Snapshot,
        target: &ObjectKey,
    ) -> impl Iterator<Item = Exception> {
        let object = snapshot.get(target);
        let object = object.filter(|_| self.except_by.is_anybody());
        let lines = object
            .into_iter()
            .flat_map(|object| Annotated::read_all(&object.meta.annotations));
        let of_this = lines
            .filter_map(Result::ok)
            .filter(|one| one.guardrail == self.name);
        of_this.map(|one| Exception::of_annotation(target, &one))
    }

    /// The rules with the field of each, for findings on them.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = (String, &Expression)> {
        self.rules.iter().enumerate().flat_map(|(i, rule)| {
            let require = (format!("spec.rules[{i}].require"), &rule.require);
            let message = rule.message.as_ref();
            let message = message.map(|message| (format!("spec.rules[{i}].message"), message));
            std::iter::once(require).chain(message)
        })
    }
}

/// The fields of an object.
const FIELDS: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];

/// Checks version and kind, where they are given.
fn versions(api_version: Option<&str>, kind: Option<&str>) -> Result<(), (&'static str, String)> {
    for (field, given, wanted) in [
        ("apiVersion", api_version, API_VERSION),
        ("kind", kind, KIND),
    ] {
        if let Some(given) = given.filter(|given| *given != wanted) {
            return Err((field, format!("{given:?} is not known; write {wanted}")));
        }
    }
    Ok(())
}

/// The rule for names, for error messages.
const NAME: &str = "it has to be a name of Kubernetes: up to 253 lower-case letters, digits, - and ., as in \"public-routes\"";

/// Whether a name is that of an object: a DNS subdomain.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !part.is_empty()
            && part.chars().all(inside)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(is_part)
}

/// Checks the selectors of a spec.
fn selectors(spec: &Value) -> Result<(), shape::Fault> {
    let matches = &spec["match"];
    selector::check(
        &matches["namespaceSelector"],
        "spec.match.namespaceSelector",
    )?;
    let gateways = matches["gateways"].as_array();
    for (i, gateway) in gateways.into_iter().flatten().enumerate() {
        let field = format!("spec.match.gateways[{i}].selector");
        selector::check(&gateway["selector"], &field)?;
    }
    Ok(())
}

// === impl Rule ===

impl Rule {
    fn compile(file: &RuleFile, is_of_kind: bool) -> Result<Self, (&'static str, String)> {
        let require = Expression::requirement(&file.require, is_of_kind);
        let require = require.map_err(|why| ("require", why))?;
        let message = file.message.as_deref();
        let message = message.map(|text| Expression::message(text, is_of_kind));
        let message = message.transpose().map_err(|why| ("message", why))?;
        Ok(Self { require, message })
    }

    /// Whether the requirement or the message uses a variable.
    pub(crate) fn uses(&self, variable: &str) -> bool {
        self.require.uses(variable)
            || self
                .message
                .as_ref()
                .is_some_and(|message| message.uses(variable))
    }
}
