//! Wire <-> engine: judges a request, and confirms by live reads what a refusal rests on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arc_swap::ArcSwap;
use futures::future::{BoxFuture, join_all};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::envelope::{Envelope, Malformed};
use crate::engine::conduct::Conduct;
use crate::engine::disclosure::{Subject, conceal, told_of};
use crate::engine::finding::{Code, Finding, Severity};
use crate::engine::ids::ObjectKey;
use crate::engine::mutate::mutate;
use crate::engine::object::Object;
use crate::engine::review::{Evidence, Reading, Request, review};
use crate::engine::severities::Asker;
use crate::engine::snapshot::{Change, Snapshot, namespace_key};
use crate::engine::verdict::Verdict;
use crate::metrics::{Metrics, requested_kind};

/// Most live reads of one review; what rests on more is told as not verified.
const MAX_READS: usize = 4;

/// Most access reviews of one review, twice as many as there are lines to show.
const MAX_ACCESS: usize = 20;

/// Reads an object from the API server: none when it is not there, an error when that is not known.
pub type Confirm =
    Arc<dyn Fn(ObjectKey) -> BoxFuture<'static, Result<Option<Object>, String>> + Send + Sync>;

/// What judges requests: [`review`], or less than it where the cost of the rest is measured.
pub type Judge = fn(&Snapshot, &Request<'_>, &Evidence) -> Verdict;

/// Whether a user may `get` an object; an error is a no.
pub type MayGet = Arc<dyn Fn(Arc<Subject>, ObjectKey) -> BoxFuture<'static, bool> + Send + Sync>;

/// Notes that a policy was let through: the policy, the code of the finding, the line that was told.
pub type Note = Arc<dyn Fn(ObjectKey, &'static str, String) + Send + Sync>;

/// What can be asked beyond the snapshot. Nothing, when the snapshot is the truth and whoever runs the server may
/// read all of it (a directory of files).
#[derive(Clone, Default)]
pub struct Outside {
    /// Live reads of single objects.
    pub confirm: Option<Confirm>,
    /// Access reviews.
    pub may_get: Option<MayGet>,
    /// Where what was let through is noted.
    pub note: Option<Note>,
}

/// What handlers share.
pub struct App {
    judge: Judge,
    snapshot: Arc<ArcSwap<Snapshot>>,
    conduct: Arc<ArcSwap<Conduct>>,
    outside: Outside,
    pub(super) metrics: Arc<Metrics>,
    pub(super) limits: super::router::Limits,
    pub(super) permits: Semaphore,
}

/// Which of the two webhooks is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// Refusals and warnings.
    Validate,
    /// Patches.
    Mutate,
}

// === impl App ===

impl App {
    /// Judges by [`review`].
    pub fn new(
        snapshot: Arc<ArcSwap<Snapshot>>,
        conduct: Arc<ArcSwap<Conduct>>,
        outside: Outside,
        metrics: Arc<Metrics>,
        limits: super::router::Limits,
    ) -> Arc<Self> {
        Self::judged_by(review, snapshot, conduct, outside, metrics, limits)
    }

    /// The same with another judge.
    pub fn judged_by(
        judge: Judge,
        snapshot: Arc<ArcSwap<Snapshot>>,
        conduct: Arc<ArcSwap<Conduct>>,
        outside: Outside,
        metrics: Arc<Metrics>,
        limits: super::router::Limits,
    ) -> Arc<Self> {
        Arc::new(Self {
            judge,
            snapshot,
            conduct,
            outside,
            metrics,
            limits,
            permits: Semaphore::new(limits.max_in_flight),
        })
    }

    /// Answers a body, live reads included; they end with the deadline at the latest.
    ///
    /// # Errors
    /// When the body is not a review.
    pub(super) async fn respond(
        &self,
        endpoint: Endpoint,
        body: &[u8],
        deadline: Instant,
    ) -> Result<Vec<u8>, Malformed> {
        let started = Instant::now();
        let envelope = Envelope::parse(body)?;
        let snapshot = self.snapshot.load_full();
        let conduct = self.conduct.load_full();
        let first = match self.outside.confirm {
            Some(_) => Evidence::Cached,
            None => Evidence::Authoritative,
        };
        let mut verdict =
            self::verdict(self.judge, &snapshot, &conduct, &first, endpoint, &envelope);
        let rests_on = verdict.rests_on();
        if let (Some(confirm), false) = (&self.outside.confirm, rests_on.is_empty()) {
            let (fresh, readings) = self.read(confirm, &snapshot, rests_on, deadline).await;
            let evidence = Evidence::Live(readings);
            verdict = self::verdict(self.judge, &fresh, &conduct, &evidence, endpoint, &envelope);
        }
        let hidden = match &self.outside.may_get {
            Some(may_get) => hidden(may_get, &verdict, &envelope, deadline).await,
            None => BTreeSet::new(),
        };
        if !(hidden.is_empty() && conduct.levels.is_empty()) {
            verdict = conceal(verdict, envelope.namespace(), &hidden, &conduct.levels);
        }
        let answer = envelope.answer(&verdict).map_err(Malformed::from)?;
        self.note(&snapshot, &envelope, &verdict, started);
        if let (Some(note), false) = (&self.outside.note, envelope.dry_run()) {
            for (policy, code, line) in verdict.let_through() {
                note(policy, code, line);
            }
        }
        Ok(answer)
    }

    /// Reads objects live, side by side; gives the snapshot that holds what was read.
    async fn read(
        &self,
        confirm: &Confirm,
        snapshot: &Snapshot,
        keys: Vec<ObjectKey>,
        deadline: Instant,
    ) -> (Snapshot, BTreeMap<ObjectKey, Reading>) {
        let reads = keys.into_iter().take(MAX_READS).map(|key| async move {
            let answer = timeout_at(deadline, confirm(key.clone())).await;
            (
                key,
                answer.unwrap_or_else(|_| Err("no time left".to_owned())),
            )
        });
        let mut fresh = snapshot.clone();
        let mut readings = BTreeMap::new();
        for (key, answer) in join_all(reads).await {
            let (result, reading) = match answer {
                Ok(Some(object)) => {
                    fresh = fresh.apply(Change::Applied(Box::new(object)));
                    ("found", Reading::Answered)
                }
                Ok(None) => {
                    fresh = fresh.apply(Change::Deleted(key.clone()));
                    ("absent", Reading::Answered)
                }
                Err(why) => ("failed", Reading::Failed(why)),
            };
            self.metrics.live_reads.with_label_values(&[result]).inc();
            readings.insert(key, reading);
        }
        (fresh, readings)
    }

    /// Counts and logs one review: names for the log, closed sets for the metrics, objects for neither.
    fn note(
        &self,
        snapshot: &Snapshot,
        envelope: &Envelope<'_>,
        verdict: &Verdict,
        since: Instant,
    ) {
        let metrics = &self.metrics;
        let allowed = verdict.allowed();
        let decision = match (allowed, verdict.findings.is_empty()) {
            (false, _) => "denied",
            (true, false) => "warned",
            (true, true) => "allowed",
        };
        let gk = envelope.gk();
        let kind = requested_kind(snapshot, &gk);
        metrics
            .request_duration
            .with_label_values(&[envelope.operation_label(), &*kind, decision])
            .observe(since.elapsed().as_secs_f64());
        let dry_run = envelope.dry_run();
        metrics
            .requests
            .with_label_values(&[decision, if dry_run { "true" } else { "false" }])
            .inc();
        for finding in &verdict.findings {
            let told = match finding.severity {
                Severity::Deny => &metrics.denials,
                Severity::Warn => &metrics.warnings,
            };
            told.with_label_values(&[finding.code.as_str()]).inc();
            if finding.code == Code::Unverified {
                let reason = if finding.rests_on.is_some() {
                    "live-read"
                } else {
                    "request"
                };
                metrics.unverified.with_label_values(&[reason]).inc();
            }
        }
        let findings = verdict.findings.len();
        let (uid, ns, name) = (&*envelope.uid, envelope.namespace(), envelope.name());
        let (kind, op) = (&*gk.kind, &*envelope.operation);
        if allowed {
            tracing::debug!(
                uid, kind, ns, name, op, dry_run, allowed, findings, "reviewed"
            );
        } else {
            let refused = verdict
                .findings
                .iter()
                .filter(|f| f.severity == Severity::Deny);
            let mut codes: Vec<&str> = refused.map(|f| f.code.as_str()).collect();
            codes.dedup();
            tracing::info!(
                uid,
                kind,
                ns,
                name,
                op,
                dry_run,
                allowed,
                findings,
                ?codes,
                "denied"
            );
        }
    }
}

/// The policies that the user may not read. Those beyond the first few are hidden unasked: as many lines as there
/// are will not be shown.
async fn hidden(
    may_get: &MayGet,
    verdict: &Verdict,
    envelope: &Envelope<'_>,
    deadline: Instant,
) -> BTreeSet<ObjectKey> {
    let policies = told_of(verdict);
    if policies.is_empty() {
        return BTreeSet::new();
    }
    let subject = envelope.subject();
    let asked = policies.into_iter().enumerate().map(|(i, policy)| {
        let subject = subject.filter(|_| i < MAX_ACCESS).cloned();
        async move {
            let may = match subject {
                Some(subject) => timeout_at(deadline, may_get(subject, policy.clone())).await,
                None => Ok(false),
            };
            (!may.unwrap_or(false)).then_some(policy)
        }
    });
    join_all(asked).await.into_iter().flatten().collect()
}

/// Answers a body from a snapshot, without live reads. Pure: what a table of bodies or a fuzzer drives.
///
/// # Errors
/// When the body is not a review.
pub fn respond(
    snapshot: &Snapshot,
    conduct: &Conduct,
    evidence: &Evidence,
    endpoint: Endpoint,
    body: &[u8],
) -> Result<Vec<u8>, Malformed> {
    let envelope = Envelope::parse(body)?;
    let verdict = verdict(review, snapshot, conduct, evidence, endpoint, &envelope);
    Ok(envelope.answer(&verdict)?)
}

fn verdict(
    judge: Judge,
    snapshot: &Snapshot,
    conduct: &Conduct,
    evidence: &Evidence,
    endpoint: Endpoint,
    envelope: &Envelope<'_>,
) -> Verdict {
    let verdict = match envelope.request() {
        Ok(request) if endpoint == Endpoint::Mutate => {
            mutate(snapshot, &conduct.mutations, &request)
        }
        // The validating endpoint is asked too; one answer to what cannot be understood is enough.
        Err(_) if endpoint == Endpoint::Mutate => Verdict::default(),
        Ok(request) => judge(snapshot, &request, evidence),
        Err(why) => {
            let object = ObjectKey::new(envelope.gk(), envelope.namespace(), envelope.name());
            let finding = Finding::new(Code::Unverified, &object, format!("not checked: {why}"));
            Verdict::new(vec![finding], evidence)
        }
    };
    if verdict.findings.is_empty() {
        return verdict;
    }
    let namespace = snapshot.get(&namespace_key(&envelope.namespace().into()));
    let (field_manager, gk) = (envelope.field_manager(), envelope.gk());
    let asker = Asker {
        dry_run: envelope.dry_run(),
        namespace: envelope.namespace(),
        namespace_labels: namespace.map(|namespace| &namespace.meta.labels),
        subject: envelope.subject().map(Arc::as_ref),
        field_manager: &field_manager,
        gk: &gk,
    };
    conduct.severities.judge(verdict, &asker)
}
