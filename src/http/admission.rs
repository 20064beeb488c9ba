//! Reviews requests: calls the engine, and confirms by live reads the absence of objects for which
//! it would refuse a request.

use std::collections::BTreeSet;
use std::sync::Arc;

use arc_swap::ArcSwap;
use futures::future::join_all;
use jiff::civil::Date;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::bodies::BodyBudget;
use super::call::{Call, Endpoint};
use super::dependencies::{Dependencies, MayGet};
use super::envelope::{Envelope, Malformed};
use super::limits::Limits;
use super::live_reads::LiveReads;
use super::reviewed::Reviewed;
use crate::engine::admission::disclosure::{conceal, policies_named};
use crate::engine::admission::evidence::Evidence;
use crate::engine::admission::finding::Finding;
use crate::engine::admission::mutate::mutate;
use crate::engine::admission::request::Request;
use crate::engine::admission::review::{review, states};
use crate::engine::admission::settings::ReviewSettings;
use crate::engine::admission::severities::Requester;
use crate::engine::admission::staleness::StaleKinds;
use crate::engine::admission::suppress::Suppressions;
use crate::engine::admission::verdict::Verdict;
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::object::{IGNORE, Incoming};
use crate::engine::state::snapshot::{Snapshot, namespace_key};
use crate::metrics::{Metrics, requested_kind};
use crate::telemetry::traces::{SpanKind, Trace};
use crate::today::today;

/// The most access reviews in a review: twice the number of warnings that can be shown.
const MAX_ACCESS: usize = 20;

/// Reviews a request: [`review`], or only part of it in benchmarks that measure the rest.
pub type ReviewFn = fn(&Snapshot, &Request<'_>, &Evidence) -> Verdict;

/// State that the handlers share.
pub struct App {
    judge: ReviewFn,
    snapshot: Arc<ArcSwap<Snapshot>>,
    settings: Arc<ArcSwap<ReviewSettings>>,
    pub(super) dependencies: Dependencies,
    pub(super) metrics: Arc<Metrics>,
    pub(super) limits: Limits,
    /// Limits concurrent reviews.
    pub(super) permits: Semaphore,
    /// Limits the requests that wait for one.
    pub(super) waiting: Semaphore,
    pub(super) bodies: Arc<BodyBudget>,
}

// === impl App ===

impl App {
    /// Uses [`review`].
    pub fn new(
        snapshot: Arc<ArcSwap<Snapshot>>,
        review_settings: Arc<ArcSwap<ReviewSettings>>,
        dependencies: Dependencies,
        metrics: Arc<Metrics>,
        limits: Limits,
    ) -> Arc<Self> {
        Self::judged_by(
            review,
            snapshot,
            review_settings,
            dependencies,
            metrics,
            limits,
        )
    }

    /// Like [`App::new`], with another review function.
    pub fn judged_by(
        judge: ReviewFn,
        snapshot: Arc<ArcSwap<Snapshot>>,
        review_settings: Arc<ArcSwap<ReviewSettings>>,
        dependencies: Dependencies,
        metrics: Arc<Metrics>,
        limits: Limits,
    ) -> Arc<Self> {
        Arc::new(Self {
            judge,
            snapshot,
            settings: review_settings,
            dependencies,
            metrics,
            limits,
            permits: semaphore(limits.max_in_flight),
            waiting: semaphore(limits.waiting()),
            bodies: BodyBudget::new(limits.body_memory),
        })
    }

    /// Answers a request body, with live reads up to the deadline.
    ///
    /// # Errors
    /// Fails if the body is not an `AdmissionReview`.
    pub(super) async fn respond(
        &self,
        call: Call,
        body: &[u8],
        trace: &mut Trace,
    ) -> Result<Vec<u8>, Malformed> {
        let parsing = trace.part("parse", SpanKind::Internal);
        let envelope = Envelope::parse(body)?;
        drop(parsing);
        let snapshot = self.snapshot.load_full();
        let review_settings = self.settings.load_full();
        let first = match self.dependencies.confirm {
            Some(_) => Evidence::Cached,
            None => Evidence::Authoritative,
        };
        let old = self.dependencies.age.as_ref().map(|age| age());
        let old = old.unwrap_or_default();
        let judge = |snapshot: &Snapshot, evidence: &Evidence| {
            let _part = trace.part("engine", SpanKind::Internal);
            let durations = &self.metrics.engine_duration;
            let duration = durations.with_label_values(&[call.endpoint.word()]);
            let _timer = duration.start_timer();
            verdict(
                self.judge,
                snapshot,
                &review_settings,
                (evidence, &old, today()),
                call.endpoint,
                &envelope,
            )
        };
        let mut verdict = judge(&snapshot, &first);
        let (mut objects, kinds) = (verdict.absences(), verdict.refuting_kinds());
        // Those that must be there come last: without them, the cache decides.
        let present = verdict.refuting_absences().into_iter();
        let present = present.filter(|key| !objects.contains(key));
        objects.extend(present.collect::<Vec<_>>());
        if !(objects.is_empty() && kinds.is_empty()) {
            let read = LiveReads {
                dependencies: &self.dependencies,
                metrics: &self.metrics,
                deadline: call.deadline,
                trace,
            };
            let (fresh, readings) = read.objects_and_kinds(&snapshot, objects, kinds).await;
            verdict = judge(&fresh, &Evidence::Live(readings));
        }
        let hidden = match &self.dependencies.may_get {
            Some(may_get) => hidden(may_get, &verdict, &envelope, call.deadline, trace).await,
            None => BTreeSet::new(),
        };
        if !(hidden.is_empty() && review_settings.levels.is_empty()) {
            verdict = conceal(
                verdict,
                envelope.namespace(),
                &hidden,
                &review_settings.levels,
            );
        }
        let answer = envelope.answer(&verdict).map_err(Malformed::from)?;
        let reviewed = Reviewed {
            call,
            envelope: &envelope,
            kind: requested_kind(&snapshot, &envelope.gk()),
            verdict: &verdict,
        };
        reviewed.count(&self.metrics);
        reviewed.trace(trace);
        reviewed.log(trace.id());
        if let (Some(note), false) = (&self.dependencies.note, envelope.dry_run()) {
            for (policy, code, line) in verdict.downgraded() {
                note(policy, code, line);
            }
        }
        Ok(answer)
    }
}

/// A semaphore with `limit` permits, up to the maximum that tokio supports.
fn semaphore(limit: usize) -> Semaphore {
    Semaphore::new(limit.min(Semaphore::MAX_PERMITS))
}

/// The policies that the user may not read. Those beyond the limit are hidden without an access review, since that many
/// warnings are not shown anyway.
async fn hidden(
    may_get: &MayGet,
    verdict: &Verdict,
    envelope: &Envelope<'_>,
    deadline: Instant,
    trace: &Trace,
) -> BTreeSet<ObjectKey> {
    let policies = policies_named(verdict);
    if policies.is_empty() {
        return BTreeSet::new();
    }
    let subject = envelope.subject();
    let asked = policies.into_iter().enumerate().map(|(i, policy)| {
        let subject = subject.filter(|_| i < MAX_ACCESS).cloned();
        async move {
            let mut part = trace.part("access review", SpanKind::Client);
            let may = match subject {
                Some(subject) => timeout_at(deadline, may_get(subject, policy.clone())).await,
                None => Ok(false),
            };
            let may = may.unwrap_or(false);
            part.note("attache.allowed", || may);
            (!may).then_some(policy)
        }
    });
    join_all(asked).await.into_iter().flatten().collect()
}

/// Answers a request body from a snapshot, without live reads, for tests and fuzzing. It is pure: without a clock,
/// every suppression with an end date has expired.
///
/// # Errors
/// Fails if the body is not an `AdmissionReview`.
pub fn respond(
    snapshot: &Snapshot,
    review_settings: &ReviewSettings,
    evidence: &Evidence,
    endpoint: Endpoint,
    body: &[u8],
) -> Result<Vec<u8>, Malformed> {
    let envelope = Envelope::parse(body)?;
    let now = (evidence, &StaleKinds::default(), Date::MAX);
    let verdict = verdict(review, snapshot, review_settings, now, endpoint, &envelope);
    Ok(envelope.answer(&verdict)?)
}

/// The verdict on a request body, on a complete state at a date. Everything that it mentions may be shown.
///
/// # Errors
/// Fails if the body is not an `AdmissionReview`.
pub fn decide(
    snapshot: &Snapshot,
    review_settings: &ReviewSettings,
    today: Date,
    endpoint: Endpoint,
    body: &[u8],
) -> Result<Verdict, Malformed> {
    let envelope = Envelope::parse(body)?;
    let now = (&Evidence::Authoritative, &StaleKinds::default(), today);
    Ok(verdict(
        review,
        snapshot,
        review_settings,
        now,
        endpoint,
        &envelope,
    ))
}

fn verdict(
    judge: ReviewFn,
    snapshot: &Snapshot,
    review_settings: &ReviewSettings,
    (evidence, old, today): (&Evidence, &StaleKinds, Date),
    endpoint: Endpoint,
    envelope: &Envelope<'_>,
) -> Verdict {
    let verdict = match envelope.request() {
        Ok(request) if endpoint == Endpoint::Mutate => {
            mutate(snapshot, &review_settings.mutations, &request)
        }
        // The validating webhook is called too, and its warning about an unreadable request is enough.
        Err(_) if endpoint == Endpoint::Mutate => Verdict::default(),
        Ok(request) => {
            let verdict = judge(snapshot, &request, evidence);
            let guarded = guarded(review_settings, snapshot, &request, (envelope, today));
            let verdict = verdict.and(guarded.into_iter(), evidence);
            old.annotate(verdict, snapshot, &request.key())
        }
        Err(why) => {
            let object = ObjectKey::new(envelope.gk(), envelope.namespace(), envelope.name());
            Verdict::unreadable(&object, format!("not checked: {why}"))
        }
    };
    let namespace = || snapshot.get(&namespace_key(&envelope.namespace().into()));
    let own = suppressions(envelope, endpoint);
    let verdict = match &own {
        Some(own) => verdict.and(own.faults.iter().cloned(), evidence),
        None => verdict,
    };
    let mut verdict = review_settings.severities.judge(verdict, || Requester {
        dry_run: envelope.dry_run(),
        namespace: envelope.namespace(),
        namespace_labels: namespace().map(|namespace| &namespace.meta.labels),
        subject: envelope.subject().map(Arc::as_ref),
        field_manager: envelope.field_manager(),
        gk: envelope.gk(),
    });
    if let Some(own) = own {
        let may = review_settings
            .suppressors
            .has(envelope.subject().map(Arc::as_ref));
        let findings = std::mem::take(&mut verdict.findings);
        verdict.findings = own.apply(findings, today, may);
    }
    verdict
}

/// The findings of the guardrails.
fn guarded(
    review_settings: &ReviewSettings,
    snapshot: &Snapshot,
    request: &Request<'_>,
    (envelope, today): (&Envelope<'_>, Date),
) -> Vec<Finding> {
    let Some(guard) = &review_settings.guard else {
        return Vec::new();
    };
    let mut findings = guard.on_rule(snapshot, request, today);
    if guard.is_empty() {
        return findings;
    }
    let Some(states) = states(snapshot, request) else {
        return findings;
    };
    let subject = envelope.subject().map(Arc::as_ref);
    findings.extend(guard.findings(&states, request.operation, subject, today));
    findings
}

/// The suppressions in the annotation of the request's object, if it has one.
fn suppressions(envelope: &Envelope<'_>, endpoint: Endpoint) -> Option<Suppressions> {
    let request = envelope.request().ok()?;
    let text = request.object.filter(|_| endpoint == Endpoint::Validate)?;
    // Hardly any object has it, so search before parsing.
    if !text.get().contains(IGNORE) {
        return None;
    }
    let incoming = Incoming::parse(text).ok()?;
    Some(Suppressions::parse(
        &request.key(),
        &incoming.header.meta.annotations,
    ))
}
