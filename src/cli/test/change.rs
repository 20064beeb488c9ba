//! A test of a change: each object is a request to the webhook, in order, and the allowed ones are
//! applied.

use std::collections::BTreeMap;
use std::path::Path;

use attache_guardrails::is_guardrail;
use json_patch::patch;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::file::{ChangeTest, OneOrMore, User};
use super::finding::judge;
use super::subject;
use super::test_result::TestResult;
use super::test_state::{self, TestState, relative_to};
use crate::answer::tested::TestFailure;
use crate::cache::directory::{Links, Loaded};
use crate::cache::manifest::{Manifest, Manifests, Problem};
use crate::engine::admission::finding::Finding;
use crate::engine::admission::settings::ReviewSettings;
use crate::engine::admission::validate::form;
use crate::engine::admission::verdict::{Verdict, escape};
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::literal;
use crate::engine::state::snapshot::{Change, Snapshot};
use crate::http::admission::decide;
use crate::http::call::Endpoint;

/// The state while the objects of a change are applied.
struct Applied<'a> {
    test_state: &'a TestState,
    user: Option<&'a User>,
    snapshot: Snapshot,
    settings: ReviewSettings,
    /// The objects that are applied so far, as they are written; `None` if they are deleted.
    written: BTreeMap<ObjectKey, Option<Box<RawValue>>>,
    findings: Vec<Finding>,
}

/// A request to the API server.
struct ApiRequest<'a> {
    key: &'a ObjectKey,
    api_version: &'a str,
    operation: &'static str,
    object: Option<Value>,
    old: Option<Value>,
}

/// Runs the test, which is in `file`.
pub(super) fn run(
    test_state: &TestState,
    file: &Path,
    links: Links,
    test: &ChangeTest,
) -> TestResult {
    let mut applied = Applied {
        test_state,
        user: test.user.as_ref(),
        snapshot: test_state.snapshot.clone(),
        settings: test_state.settings.clone(),
        written: BTreeMap::new(),
        findings: Vec::new(),
    };
    for path in test.apply.iter().flat_map(OneOrMore::all) {
        let path = relative_to(file, Path::new(path));
        for manifest in manifests(&path, links)? {
            applied.apply(manifest)?;
        }
    }
    for object in test.delete.iter().flat_map(OneOrMore::all) {
        let place = subject::named(test_state, object)?;
        if place.section.is_some() {
            return Err(format!(
                "delete: {object}: a section is not deleted by itself; apply the object without it"
            )
            .into());
        }
        applied.delete(&place.object)?;
    }
    judge(test, &applied.findings)
}

/// The objects of a file or directory.
fn manifests(path: &Path, links: Links) -> Result<Vec<Manifest>, TestFailure> {
    let shown = escape(&path.display().to_string());
    if !path.exists() {
        return Err(format!("apply: {shown} does not exist").into());
    }
    let read = test_state::manifests(&[path.to_owned()], links)?;
    if let Some(problem) = read.problems.first() {
        return Err(format!("apply: {problem}").into());
    }
    if read.objects.is_empty() {
        return Err(format!("apply: there are no objects in {shown}").into());
    }
    Ok(read.objects)
}

// === impl Applied ===

impl Applied<'_> {
    /// Asks the webhook about an object, and applies it unless it is refused.
    fn apply(&mut self, mut manifest: Manifest) -> Result<(), TestFailure> {
        let test_state = self.test_state;
        let key = test_state::key(&manifest, &test_state.names, &test_state.namespace);
        let mut object = literal::from_str(manifest.json.get()).map_err(|why| why.to_string())?;
        let old = self.stored(&key)?;
        placed(&mut object, &key, self.created(&key));
        let mut asked = ApiRequest {
            key: &key,
            api_version: &manifest.api_version,
            operation: if old.is_some() { "UPDATE" } else { "CREATE" },
            object: Some(object),
            old,
        };
        let mutated = self.ask(&asked, Endpoint::Mutate)?;
        if let Some(object) = &mut asked.object {
            patch(object, &mutated.patch).map_err(|why| why.to_string())?;
            let text = serde_json::to_string(object).map_err(|why| why.to_string())?;
            manifest.json = RawValue::from_string(text).map_err(|why| why.to_string())?;
        }
        let verdict = self.ask(&asked, Endpoint::Validate)?;
        let json = manifest.json.clone();
        let mut one = Manifests::default();
        one.objects.push(manifest);
        let loaded = Loaded::on(
            Some(&self.snapshot),
            one,
            &test_state.rules,
            &test_state.namespace,
        );
        let refused: Vec<Problem> = loaded.refused().collect();
        if let Some(problem) = loaded.problems.iter().find(|problem| !problem.foreign) {
            return Err(format!("apply: {problem}").into());
        }
        // The findings of the API server itself: rules of the CRD, and fields that the CRD does not
        // have.
        let mut findings = verdict.findings;
        findings.extend(loaded.departures.into_values().flatten());
        if let Some(policy) = loaded.snapshot.policy(&key) {
            findings.extend(form(policy));
        }
        let is_refused = !refused.is_empty() || findings.iter().any(Finding::refuses);
        for finding in findings {
            if !self.findings.contains(&finding) {
                self.findings.push(finding);
            }
        }
        if !is_refused {
            self.snapshot = loaded.snapshot;
            self.store(key, Some(json));
        }
        Ok(())
    }

    /// Asks the webhook about the deletion of an object, and deletes it unless that is refused.
    fn delete(&mut self, key: &ObjectKey) -> Result<(), TestFailure> {
        let Some(old) = self.stored(key)? else {
            return Err(subject::exists(self.test_state, key)
                .err()
                .unwrap_or_else(|| {
                    format!(
                        "{} is not written in the manifests",
                        escape(&key.to_string())
                    )
                })
                .into());
        };
        let api_version = old
            .get("apiVersion")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let asked = ApiRequest {
            key,
            api_version: &api_version,
            operation: "DELETE",
            object: None,
            old: Some(old),
        };
        let verdict = self.ask(&asked, Endpoint::Validate)?;
        let is_refused = verdict.findings.iter().any(Finding::refuses);
        self.findings.extend(verdict.findings);
        if !is_refused {
            self.snapshot = self.snapshot.apply(Change::Deleted(key.clone()));
            self.store(key.clone(), None);
        }
        Ok(())
    }

    /// Stores an object, or its deletion. A guardrail is in use from then on.
    fn store(&mut self, key: ObjectKey, object: Option<Box<RawValue>>) {
        let changes_rules = is_guardrail(&key.gk);
        self.written.insert(key, object);
        if !changes_rules {
            return;
        }
        let test_state = self.test_state;
        let kept = test_state.written.iter();
        let kept = kept.filter(|(key, _)| !self.written.contains_key(*key));
        let applied = self.written.iter();
        let applied = applied.filter_map(|(key, object)| Some((key, object.as_ref()?)));
        let all = kept.chain(applied).filter(|(key, _)| is_guardrail(&key.gk));
        self.settings = test_state.guarded_by(all.map(|(_, object)| &**object));
    }

    /// The object as it is stored now.
    fn stored(&self, key: &ObjectKey) -> Result<Option<Value>, TestFailure> {
        let text = match self.written.get(key) {
            Some(applied) => applied.as_ref(),
            None => self.test_state.written.get(key),
        };
        let Some(text) = text else {
            return Ok(None);
        };
        let mut value = literal::from_str(text.get()).map_err(|why| why.to_string())?;
        placed(&mut value, key, self.created(key));
        Ok(Some(value))
    }

    /// The creation time of a stored object. For objects from files, only the order of these times
    /// has a meaning.
    fn created(&self, key: &ObjectKey) -> Option<String> {
        let object = self.snapshot.get(key)?;
        object.meta.created.map(|created| created.to_string())
    }

    fn ask(&self, asked: &ApiRequest<'_>, endpoint: Endpoint) -> Result<Verdict, TestFailure> {
        let (group, version) = match asked.api_version.split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", asked.api_version),
        };
        let key = asked.key;
        let user = self
            .user
            .map(|user| json!({"username": user.user, "groups": user.groups}));
        let review = json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": "attache-test",
                "kind": {"group": group, "version": version, "kind": &*key.gk.kind},
                "operation": asked.operation,
                "namespace": &*key.namespace,
                "name": &*key.name,
                "object": asked.object,
                "oldObject": asked.old,
                "userInfo": user,
            },
        });
        let body = serde_json::to_vec(&review).map_err(|why| why.to_string())?;
        let test_state = self.test_state;
        decide(
            &self.snapshot,
            &self.settings,
            test_state.today,
            endpoint,
            &body,
        )
        .map_err(|why| why.to_string().into())
    }
}

/// Adds the metadata that the API server adds.
fn placed(object: &mut Value, key: &ObjectKey, created: Option<String>) {
    let meta = object.get_mut("metadata").and_then(Value::as_object_mut);
    let Some(meta) = meta else {
        return;
    };
    if key.namespace.is_empty() {
        meta.remove("namespace");
    } else {
        meta.insert("namespace".to_owned(), json!(&*key.namespace));
    }
    if let Some(created) = created {
        meta.entry("creationTimestamp")
            .or_insert_with(|| json!(created));
    }
}
