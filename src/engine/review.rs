//! `review(&Snapshot, &Request, &Evidence) -> Verdict`: the one door into the engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::affected::{Acting, acting_on};
use super::finding::{Code, Finding, Severity};
use super::ids::{GroupKind, ObjectKey, Place};
use super::object::{Node, Object, Unreadable, section_noun};
use super::policy::{Policy, is_cluster_scoped};
use super::snapshot::{Change, Snapshot};
use super::validate::{is_target_kind, validate};
use super::verdict::Verdict;

/// What is being done to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// CREATE.
    Create,
    /// UPDATE, patches included.
    Update,
    /// DELETE.
    Delete,
    /// CONNECT.
    Connect,
}

/// One admission request, as the engine sees it.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// What is being done.
    pub operation: Operation,
    /// The kind of the object.
    pub gk: GroupKind,
    /// Empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// Empty on a CREATE with `generateName`.
    pub name: &'a str,
    /// `status`, `scale`, …; empty for the object itself.
    pub subresource: &'a str,
    /// The new object.
    pub object: Option<&'a RawValue>,
    /// The stored object.
    pub old: Option<&'a RawValue>,
}

/// How much the snapshot may be trusted about what it does not hold (design 3.2).
#[derive(Clone, Debug, Default)]
pub enum Evidence {
    /// It is a cache and may lag: what rests on absence asks to be confirmed.
    #[default]
    Cached,
    /// It is the truth (a directory of files).
    Authoritative,
    /// These objects were read live a moment ago, and the snapshot holds what was read.
    Live(BTreeMap<ObjectKey, Reading>),
}

/// The outcome of a live read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The server answered; the snapshot holds its answer.
    Answered,
    /// No answer, and why (`timed out after 300 ms`, `forbidden`).
    Failed(String),
}

/// Judges a request against what is known. Never fails: what cannot be understood is a finding.
pub fn review(snapshot: &Snapshot, request: &Request<'_>, evidence: &Evidence) -> Verdict {
    let is_policy = snapshot.profile(&request.gk).is_some();
    let writes = matches!(request.operation, Operation::Create | Operation::Update);
    if !writes || !request.subresource.is_empty() || !(is_policy || is_target_kind(&request.gk)) {
        return Verdict::default();
    }
    let Some(text) = request.object else {
        return not_checked(request, "the request has no object");
    };
    let object = match request.read(text) {
        Ok(object) => object,
        Err(Unreadable(why)) => return not_checked(request, &why),
    };
    if object.meta.deleting || request.old.is_some_and(|old| Object::unchanged(old, text)) {
        return Verdict::default();
    }
    let findings = if is_policy {
        // An old object that cannot be read is no ratchet.
        let old = request.old.and_then(|text| request.read(text).ok());
        policy_findings(snapshot, object, old)
    } else {
        target_findings(snapshot, &object)
    };
    Verdict::new(findings, evidence)
}

// === impl Request ===

impl Request<'_> {
    /// The object that the request is about. The API server gives a Namespace its own name as
    /// namespace; it lives in none.
    pub fn key(&self) -> ObjectKey {
        let namespace = if is_cluster_scoped(&self.gk) {
            ""
        } else {
            self.namespace
        };
        ObjectKey::new(self.gk.clone(), namespace, self.name)
    }

    /// Reads an object of the request; the request's own name and namespace count.
    fn read(&self, text: &RawValue) -> Result<Object, Unreadable> {
        let mut object = Object::from_json(&self.gk, text)?;
        object.key = self.key();
        object.meta.namespace = object.key.namespace.clone();
        object.meta.name = object.key.name.clone();
        // The spec of a policy is not read before it is needed, and then one that cannot be read
        // passes for empty: too deep, numbers out of range, half of a character.
        if let Node::Other { spec: Some(spec) } = &object.node {
            serde_json::from_str::<Value>(spec.get())
                .map_err(|e| Unreadable(format!("spec cannot be read: {e}")))?;
        }
        Ok(object)
    }
}

fn not_checked(request: &Request<'_>, why: &str) -> Verdict {
    let message = format!("{} was not checked: {why}", request.gk);
    let finding = Finding::new(Code::Unverified, &request.key(), message);
    Verdict::new(vec![finding], &Evidence::Authoritative)
}

/// Findings on a policy. Old and new are judged on one snapshot; what the old one had already is a
/// warning (ruling 14).
fn policy_findings(snapshot: &Snapshot, object: Object, old: Option<Object>) -> Vec<Finding> {
    let Some(profile) = snapshot.profile(&object.key.gk) else {
        return Vec::new();
    };
    let judge = |object| validate(snapshot, &Policy::read(Arc::new(object), profile.clone()));
    let had = old.map(judge).unwrap_or_default();
    let mut findings = judge(object);
    for finding in &mut findings {
        let known = |f: &Finding| f.code == finding.code && f.subject == finding.subject;
        if had.iter().any(known) {
            finding.severity = Severity::Warn;
        }
    }
    findings
}

/// Findings on a target: the policies that will act on it once it is admitted.
fn target_findings(snapshot: &Snapshot, object: &Object) -> Vec<Finding> {
    let after = snapshot.apply(Change::Applied(Box::new(object.clone())));
    let acting = acting_on(&after, object);
    acting
        .iter()
        .map(|acting| affected_by(&object.key, acting))
        .collect()
}

fn affected_by(object: &ObjectKey, acting: &Acting) -> Finding {
    let mut finding = Finding::new(Code::AffectedBy, object, acting.policy.to_string());
    finding.subject.clone_from(&finding.message);
    finding.tells_of = Some(acting.policy.clone());
    let settings = acting.settings.iter();
    finding.settings = settings.map(|(path, value)| setting(path, value)).collect();
    let from: Vec<String> = acting
        .from
        .iter()
        .map(|place| origin(object, place))
        .collect();
    finding.source = match from.as_slice() {
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => String::new(),
    };
    finding
}

/// `field=value`; lists and long texts are described, not repeated.
fn setting(path: &[String], value: &Value) -> String {
    const SHOWN: usize = 40;
    let text = match value {
        Value::String(text) if text.chars().count() <= SHOWN => text.clone(),
        Value::String(text) => format!("{}…", text.chars().take(SHOWN).collect::<String>()),
        Value::Array(items) => {
            let text = value.to_string();
            if text.len() <= SHOWN {
                text
            } else {
                format!("[{} items]", items.len())
            }
        }
        value => value.to_string(),
    };
    format!("{}={text}", path.join("."))
}

/// Where a policy stands, seen from the object that is being applied.
fn origin(object: &ObjectKey, place: &Place) -> String {
    let owner = if place.object == *object {
        format!("this {}", place.object.gk.kind)
    } else {
        place.object.to_string()
    };
    match (&place.section, section_noun(&place.object.gk)) {
        (Some(section), Some(noun)) => format!("{owner} {noun} {section}"),
        (Some(section), None) => format!("{owner} {section}"),
        (None, _) => owner,
    }
}
