//! Findings as results of reports, one report for each namespace, in the formats of openreports.io and wgpolicyk8s.io.

use std::collections::BTreeMap;
use std::sync::Arc;

use attache_guardrails::BrokenRule;
use serde::Serialize;
use serde_json::{Value, json};

use super::report::{ReportedFinding, address, namespace_of, rule};
use crate::engine::admission::disclosure::{DisclosureLevels, conceal, policies_named};
use crate::engine::admission::evidence::Evidence;
use crate::engine::admission::finding::{Code, Finding, Severity};
use crate::engine::admission::verdict::Verdict;
use crate::engine::model::ids::ObjectKey;
use crate::engine::state::snapshot::Snapshot;

mod api;
mod category;
mod subject;

pub use api::Api;
use category::category;
use subject::{Subject, Versions};

/// The name of each report, the source of its results, and who manages it.
pub const NAME: &str = "attache";
/// The label of reports that attache writes.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The annotation with the number of results that are left out.
pub const LEFT_OUT: &str = "attache.dev/left-out";
/// The property that identifies a result.
pub const FINGERPRINT: &str = "fingerprint";
/// The most results in a report.
const RESULTS: usize = 1_000;
/// The most bytes of results in a report: etcd takes objects of 1.5 MiB.
const BYTES: usize = 1_000_000;

/// The policies of other namespaces that reports name. Users who may read a report need not be
/// allowed to read these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyNames {
    /// None.
    Own,
    /// All.
    All,
}

/// The findings of a state as reports.
#[derive(Debug)]
pub struct Reports {
    policy_names: PolicyNames,
    levels: DisclosureLevels,
    versions: Versions,
    /// By namespace; `None` for objects without one.
    by_namespace: BTreeMap<Option<Arc<str>>, Collected>,
}

/// The results of one report, the most severe first.
#[derive(Debug, Default)]
struct Collected {
    results: BTreeMap<Order, ReportResult>,
    summary: Summary,
    dropped: usize,
}

type Order = (u8, Code, ObjectKey, String);

/// One result.
#[derive(Clone, Debug, Serialize)]
struct ReportResult {
    source: &'static str,
    policy: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    category: &'static str,
    severity: &'static str,
    result: &'static str,
    resources: Vec<Subject>,
    message: String,
    properties: BTreeMap<&'static str, String>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Summary {
    pass: usize,
    fail: usize,
    warn: usize,
    error: usize,
    skip: usize,
}

// === impl Reports ===

impl Reports {
    /// No findings yet. `levels` are the most that anybody learns about policies.
    pub fn new(snapshot: &Snapshot, policy_names: PolicyNames, levels: DisclosureLevels) -> Self {
        Self {
            policy_names,
            levels,
            versions: Versions::from_snapshot(snapshot),
            by_namespace: BTreeMap::new(),
        }
    }

    /// Adds a finding. Notices are left out, except for broken guardrails that only audit.
    pub fn add(&mut self, snapshot: &Snapshot, finding: Finding) {
        let broken = BrokenRule::from_finding(&finding);
        let is_notice = finding.notice && finding.severity == Severity::Warn;
        if is_notice && broken.is_none() {
            return;
        }
        let key = finding.object.clone();
        let namespace = namespace_of(&key).cloned();
        let severity = finding.severity;
        let Some(finding) = self.concealed(finding, namespace.as_deref()) else {
            return;
        };
        let reported = ReportedFinding::new(&finding, None, None);
        let (rank, severity, result) = match (severity, is_notice) {
            (Severity::Deny, _) => (0, "high", "fail"),
            (Severity::Warn, false) => (1, "medium", "warn"),
            (Severity::Warn, true) => (2, "low", "warn"),
        };
        let is_error = broken.as_ref().is_some_and(|broken| broken.is_error);
        let (policy, rule) = match broken {
            Some(broken) => (
                broken.guardrail,
                Some(format!("spec.rules[{}]", broken.rule)),
            ),
            None => (finding.code.as_str().to_owned(), None),
        };
        let order = (
            rank,
            finding.code,
            key.clone(),
            reported.fingerprint.clone(),
        );
        let subject = reported.object.is_some();
        let subject = subject.then(|| Subject::new(snapshot, &self.versions, &key));
        let result = ReportResult {
            source: NAME,
            policy,
            rule,
            category: category(finding.code),
            severity,
            result: if is_error { "error" } else { result },
            resources: subject.into_iter().collect(),
            properties: properties(&reported),
            message: reported.message,
        };
        let collected = self.by_namespace.entry(namespace).or_default();
        collected.add(order, result);
    }

    /// The namespaces with a report; `None` for objects without a namespace.
    pub fn namespaces(&self) -> impl Iterator<Item = Option<&Arc<str>>> {
        self.by_namespace.keys().map(Option::as_ref)
    }

    /// The report of a namespace as an object of an API. `None` if there are no findings.
    ///
    /// `seen` is the time, in seconds since 1970, at which a result was found first, by its fingerprint.
    pub fn object(
        &self,
        api: Api,
        namespace: Option<&Arc<str>>,
        seen: impl Fn(&str) -> Option<i64>,
    ) -> Option<Value> {
        let collected = self.by_namespace.get(&namespace.cloned())?;
        let (results, left_out) = collected.results(seen);
        let mut metadata = json!({"name": NAME, "labels": {MANAGED_BY: NAME}});
        if let Some(namespace) = namespace {
            set(&mut metadata, "namespace", json!(namespace));
        }
        if left_out > 0 {
            set(
                &mut metadata,
                "annotations",
                json!({LEFT_OUT: left_out.to_string()}),
            );
        }
        let mut object = json!({
            "apiVersion": api.api_version(),
            "kind": api.kind(namespace.is_some()),
            "metadata": metadata,
            "summary": collected.summary,
            "results": results,
        });
        if api == Api::OpenReports {
            set(&mut object, "source", json!(NAME));
            let limits = json!({"limits": {"maxResults": RESULTS}});
            set(&mut object, "configuration", limits);
        }
        Some(object)
    }

    /// The finding for users who may read only the policies in the namespace of the report.
    fn concealed(&self, finding: Finding, namespace: Option<&str>) -> Option<Finding> {
        let verdict = Verdict::new(vec![finding], &Evidence::Authoritative);
        let is_other = |named: &ObjectKey| {
            self.policy_names == PolicyNames::Own
                && (named.namespace.is_empty() || Some(&*named.namespace) != namespace)
        };
        let mut hidden = policies_named(&verdict);
        hidden.retain(is_other);
        let hidden = hidden.into_iter().collect();
        let namespace = namespace.unwrap_or_default();
        let verdict = conceal(verdict, namespace, &hidden, &self.levels);
        verdict.findings.into_iter().next()
    }
}

// === impl Collected ===

impl Collected {
    fn add(&mut self, order: Order, result: ReportResult) {
        if self.results.contains_key(&order) {
            return;
        }
        let count = match result.result {
            "fail" => &mut self.summary.fail,
            "error" => &mut self.summary.error,
            _ => &mut self.summary.warn,
        };
        *count += 1;
        self.results.insert(order, result);
        if self.results.len() > RESULTS {
            self.results.pop_last();
            self.dropped += 1;
        }
    }

    /// The results that fit into a report, and the number of the others.
    fn results(&self, seen: impl Fn(&str) -> Option<i64>) -> (Vec<Value>, usize) {
        let mut bytes = 0;
        let mut results = Vec::with_capacity(self.results.len());
        for ((.., fingerprint), result) in &self.results {
            let mut result = json!(result);
            if let Some(seconds) = seen(fingerprint) {
                let time = json!({"seconds": seconds, "nanos": 0});
                set(&mut result, "timestamp", time);
            }
            bytes += result.to_string().len();
            if bytes > BYTES {
                break;
            }
            results.push(result);
        }
        let left_out = self.dropped + self.results.len() - results.len();
        (results, left_out)
    }
}

/// The facts of a finding for programs, beside the message.
fn properties(finding: &ReportedFinding) -> BTreeMap<&'static str, String> {
    let mut properties = BTreeMap::from([
        ("code", finding.code.as_str().to_owned()),
        ("fix", rule(finding.code).help.to_owned()),
        (FINGERPRINT, finding.fingerprint.clone()),
    ]);
    if let Some(field) = &finding.field {
        properties.insert("field", field.clone());
    }
    if !finding.related.is_empty() {
        let related = finding.related.iter().map(|named| named.0.to_string());
        properties.insert("related", related.collect::<Vec<_>>().join(", "));
    }
    if let Some(address) = address(finding.code) {
        properties.insert("docs", address);
    }
    properties
}

fn set(object: &mut Value, key: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::{Api, BYTES, PolicyNames, RESULTS, Reports};
    use crate::engine::admission::disclosure::DisclosureLevels;
    use crate::engine::admission::finding::{Code, Finding};
    use crate::engine::model::ids::{GroupKind, ObjectKey};
    use crate::engine::state::snapshot::Snapshot;

    fn finding(code: Code, name: &str, message: &str) -> Finding {
        let policy = GroupKind::new("p.example.com", "Color");
        Finding::new(code, &ObjectKey::new(policy, "shop", name), message)
    }

    fn report(findings: impl IntoIterator<Item = Finding>) -> Value {
        let snapshot = Snapshot::default();
        let mut reports = Reports::new(&snapshot, PolicyNames::Own, DisclosureLevels::default());
        for finding in findings {
            reports.add(&snapshot, finding);
        }
        let shop = Arc::from("shop");
        let seen = |_: &str| Some(7);
        reports.object(Api::OpenReports, Some(&shop), seen).unwrap()
    }

    #[test]
    fn the_most_severe_results_stay_and_all_are_counted() {
        let warnings = (0..RESULTS + 50)
            .map(|i| finding(Code::TargetNotFound, &format!("p-{i:04}"), "there is no a"));
        let refused = finding(Code::StrategyUnsupported, "z", "no such strategy");
        let full_report = report(warnings.chain([refused]));
        let results = full_report["results"].as_array().unwrap();
        assert_eq!(results.len(), RESULTS);
        assert_eq!(results[0]["policy"], "strategy-unsupported");
        assert_eq!(results[0]["severity"], "high");
        assert_eq!(results[0]["timestamp"], json!({"seconds": 7, "nanos": 0}));
        assert_eq!(full_report["summary"]["fail"], 1);
        assert_eq!(full_report["summary"]["warn"], RESULTS + 50);
        let left_out = &full_report["metadata"]["annotations"]["attache.dev/left-out"];
        assert_eq!(left_out, "51");
    }

    #[test]
    fn a_report_stays_below_the_limit_of_etcd() {
        let long = "x".repeat(10_000);
        let many = (0..500).map(|i| finding(Code::TargetNotFound, &format!("p-{i}"), &long));
        let full_report = report(many);
        let bytes = full_report.to_string().len();
        assert!(bytes < BYTES + 10_000 && bytes > BYTES / 2, "{bytes}");
        let count = full_report["results"].as_array().unwrap().len();
        let left_out = &full_report["metadata"]["annotations"]["attache.dev/left-out"];
        assert_eq!(*left_out, (500 - count).to_string());
    }

    #[test]
    fn notices_are_left_out() {
        let mut notice = finding(Code::Affects, "a", "applies");
        notice.notice = true;
        let snapshot = Snapshot::default();
        let mut reports = Reports::new(&snapshot, PolicyNames::Own, DisclosureLevels::default());
        reports.add(&snapshot, notice);
        assert_eq!(reports.namespaces().count(), 0);
    }
}
