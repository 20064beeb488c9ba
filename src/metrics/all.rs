//! The list of all metrics, with their meaning and when to look at them.

use super::described::{About, Label, MetricRegistry};
use super::process::Process;
use super::{LOST_LOG_LINES, Metrics};

/// Seconds. The engine takes tens of microseconds and must not take milliseconds; `timeoutSeconds` is from 1 to 30, and
/// 5 in attache's manifests.
const ANSWER: [f64; 20] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
    1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 30.0,
];

/// Seconds in the engine: its budgets are 50 us, 500 us and 20 ms.
const ENGINE: [f64; 12] = [
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.005, 0.02, 0.05, 0.1, 0.5,
];

/// Seconds of a request to the API server: reviews wait 200 or 300 ms for one.
const QUESTION: [f64; 10] = [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 1.0];

/// Bytes. An object may have 3 MiB, a body 7 MiB.
const BODY: [f64; 9] = [
    1024.0,
    4096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    3_145_728.0,
    6_291_456.0,
    7_340_032.0,
];

/// The states of a policy.
const STATES: [&str; 9] = [
    "Enforced",
    "PartiallyEnforced",
    "Overridden",
    "Conflicted",
    "Rejected",
    "Invalid",
    "TargetNotFound",
    "NoEffect",
    "Unknown",
];

/// Why a request is not a review.
const MALFORMED: [&str; 11] = [
    "size",
    "media-type",
    "slow",
    "body",
    "empty",
    "utf8",
    "json",
    "shape",
    "version",
    "request",
    "uid",
];

impl Metrics {
    /// Creates all metrics, at zero.
    ///
    /// # Errors
    /// Fails if two metrics have the same name; a test ensures that they do not.
    #[allow(clippy::too_many_lines)] // A list.
    pub fn new() -> prometheus::Result<Self> {
        let mut m = MetricRegistry::new();
        let (is, one_of) = (Label::result, Label::one_of);
        let made = Self {
            requests: m.on(About::Reviews).counters(
                "requests_total",
                &[
                    Label::endpoint(),
                    Label::operation(),
                    Label::requested(),
                    Label::decision(),
                    one_of("dry_run", &["true", "false"]),
                ],
                "Reviews that were answered.",
                "first: how many reviews, of which kinds, with which decisions. If there are none although the \
                 cluster changes, the API server does not call attache",
            )?,
            request_duration: m.histograms(
                "request_duration_seconds",
                &[Label::endpoint(), Label::operation(), Label::decision()],
                &ANSWER,
                "Time from the arrival of a request to its answer, including the wait for a free slot.",
                "when `kubectl apply` is slow. Above `timeoutSeconds` the API server has given up",
            )?,
            engine_duration: m.histograms(
                "engine_duration_seconds",
                &[Label::endpoint()],
                &ENGINE,
                "Time in the engine, without the network and without requests to the API server.",
                "when answers are slow: if this time is short, the wait for a slot, the body or the API server is \
                 slow",
            )?,
            request_body: m.histogram(
                "request_body_bytes",
                &BODY,
                "Size of request bodies.",
                "when memory grows: attache holds a body until it has answered",
            )?,
            in_flight: m.gauge(
                "in_flight",
                "Requests in progress, including those that wait for a slot.",
                "when requests are answered with 503: `limits.reviews` is the number that may run at once",
            )?,
            queued: m.gauge(
                "queued",
                "Requests that wait for a slot; at most three times `limits.reviews`.",
                "when answers are slow: normally it is 0",
            )?,
            shed: m.counter(
                "shed_total",
                "Requests answered with 503 because too many were in progress.",
                "always: attache needs more replicas or more CPU",
            )?,
            timeouts: m.counter(
                "timeouts_total",
                "Requests whose body did not arrive in time.",
                "when the API server reports failed calls: the network between the two is slow",
            )?,
            panics: m.counter(
                "panics_total",
                "Requests that ended in a panic.",
                "always: it is a bug. The log has the location",
            )?,
            malformed: m.counters(
                "malformed_total",
                &[one_of("reason", &MALFORMED)],
                "Requests that are not an AdmissionReview.",
                "when it grows: something other than the API server calls attache",
            )?,
            findings: m.on(About::Findings).counters(
                "findings_total",
                &[Label::code(), one_of("severity", &["warn", "deny"])],
                "Findings that were reported (`warn`) or that refused a request (`deny`).",
                "to see which mistakes users make; findings.md lists the codes",
            )?,
            unverified: m.counters(
                "unverified_total",
                &[one_of("reason", &["live-read", "request", "age"])],
                "Findings that could not be confirmed (`live-read`), requests that could not be parsed \
                 (`request`), and reviews based on stale state (`age`). All of them were admitted.",
                "always: objects that attache should refuse may be admitted",
            )?,
            mutations: m.counters(
                "mutations_total",
                &[Label::mutation()],
                "Patches that were sent, by each mutation in them.",
                "after you enable a mutation: how many objects it changes. mutations.md lists the names",
            )?,
            current_findings: m.on(About::CurrentState).gauges(
                "standing_findings",
                &[
                    Label::code(),
                    one_of("severity", &["warn", "deny"]),
                    Label::new(
                        "namespace",
                        "the 100 namespaces with the most findings; `(others)` for all other namespaces, and \
                         `(cluster)` for objects without a namespace",
                    ),
                ],
                "The current findings: those of `attache check --cluster`, without notices and suppressed findings.",
                "always: each is a policy or a route that does not do what it says. `attache check --cluster -n \
                 NAMESPACE` lists them",
            )?,
            policies: m.gauges(
                "policies",
                &[
                    Label::watched(),
                    one_of("state", &STATES),
                ],
                "Policies by state, for each kind that has policies.",
                "when policies seem to have no effect: `attache policies -A --state Conflicted` lists those of a state",
            )?,
            status_disagreements: m.gauges(
                "status_disagreements",
                &[Label::watched(), one_of("sort", &["rejected", "accepted", "not-enforced", "overridden"])],
                "Policies whose status differs from what attache expects: `rejected` by their controller, \
                 `accepted` although attache considers them not attached, or accepted and `not-enforced` or \
                 `overridden`.",
                "when users report that a policy has no effect: `attache check --cluster --notices` names them",
            )?,
            guardrail_targets: m.gauges(
                "guardrail_targets",
                &[
                    Label::new("guardrail", "names of guardrails"),
                    is(&["fulfilled", "broken", "error", "excepted"]),
                ],
                "Targets of each guardrail: those that fulfil it, that break it, for which a rule cannot be evaluated, \
                 and those with an exception.",
                "before a guardrail is switched from `audit` to `deny`, and when `broken` rises: `attache guardrails` \
                 names the targets",
            )?,
            guardrail_exceptions: m.gauges(
                "guardrail_exceptions",
                &[one_of("state", &["lasting", "ending", "ended"])],
                "Exceptions from guardrails: those that hold for more than 30 days, that end within them, and that \
                 have ended and can be removed.",
                "weekly: `attache check --cluster --notices` names those that end",
            )?,
            report_writer: m.gauges(
                "report_writer",
                &[one_of("api", &["openreports.io", "wgpolicyk8s.io", "none"])],
                "1 on the replica that writes reports and 0 on the others, with the API that the API server serves; only with \
                 `--reports`.",
                "when reports are missing: `none` means that the CRDs of reports are not installed, and one replica must \
                 have 1",
            )?,
            report_writes: m.counters(
                "report_writes_total",
                &[
                    one_of("operation", &["apply", "delete"]),
                    is(&["done", "failed"]),
                ],
                "Reports written and removed, with `--reports`.",
                "when reports are old: the log has the reason of what failed",
            )?,
            judging_pass: m.seconds(
                "standing_pass_seconds",
                "The CPU time that judging the current state took the last time.",
                "when attache uses CPU without reviews: it judges again when something has changed, with at most a \
                 twentieth of a core",
            )?,
            connections: m.on(About::Server).gauge(
                "connections",
                "Open connections on the webhook port and the admin port.",
                "when connections fail: the limits are 1024 on the webhook port and 64 on the admin port",
            )?,
            connection_errors: m.counters(
                "connection_errors_total",
                &[one_of(
                    "reason",
                    &["tls", "tls-timeout", "limit", "accept", "evicted", "flood", "unread"],
                )],
                "Connections that ended before a request.",
                "when the API server reports failed calls: `tls` means that it does not trust the certificate",
            )?,
            cert_reload: m.counters(
                "cert_reload_total",
                &[is(&["loaded", "failed"])],
                "Attempts to load a changed serving certificate.",
                "when `failed` grows: the pair in the Secret cannot be used, and the previous one stays in use",
            )?,
            cert_current: m.gauges(
                "cert_current",
                &[one_of("file", &["serving", "client-ca"])],
                "1 when the newest certificate files are in use, 0 when they cannot be used and the previous ones \
                 stay in use.",
                "always: the certificate in use expires some day",
            )?,
            client_ca_reload: m.counters(
                "client_ca_reload_total",
                &[is(&["loaded", "failed"])],
                "Attempts to load a changed client CA, with `--client-ca`.",
                "when `failed` grows: the file cannot be used, and the previous CA stays in use",
            )?,
            callers_refused: m.counters(
                "callers_refused_total",
                &[one_of("reason", &["missing", "untrusted", "expired", "name", "no-ca"])],
                "Callers refused for their certificate, with `--client-ca`.",
                "when the API server reports failed calls, or to see who else calls",
            )?,
            cert_not_after: m.time(
                "cert_not_after_timestamp_seconds",
                "When the serving certificate expires, in seconds since 1970; 0 before one is loaded.",
                "always: after that the API server cannot call attache",
            )?,
            config_loads: m.counters(
                "config_loads_total",
                &[is(&["loaded", "failed"])],
                "Changed configuration files that were read.",
                "after a change: whether attache has read it",
            )?,
            config_current: m.gauge(
                "config_current",
                "1 when the newest configuration is in use, 0 when it is invalid and the previous one stays in \
                 use.",
                "always: attache does not start with an invalid configuration",
            )?,
            spans: m.counters(
                "spans_total",
                &[is(&["exported", "failed", "dropped"])],
                "Spans of traces: accepted by the collector (`exported`), rejected or lost on the way (`failed`), \
                 or without room in the queue (`dropped`).",
                "when traces are missing. Reviews never wait for them",
            )?,
            live_reads: m.on(About::Cluster).counters(
                "live_reads_total",
                &[is(&["found", "absent", "failed"])],
                "Objects read from the API server before a refusal.",
                "when findings are `unverified`: after `failed`, the request is admitted",
            )?,
            live_read_duration: m.histogram(
                "live_read_duration_seconds",
                &QUESTION,
                "Time of a live read.",
                "when refusals are slow, or `failed` grows: `limits.liveReadMillis` is the timeout",
            )?,
            sar: m.counters(
                "sar_total",
                &[
                    is(&["allowed", "denied", "failed"]),
                    one_of("cached", &["true", "false"]),
                ],
                "Access reviews (SubjectAccessReviews) for policies that a warning would name; `cached`: whether \
                 the answer was in the cache.",
                "when warnings name fewer policies than expected: after `failed` they name none",
            )?,
            sar_duration: m.histogram(
                "sar_duration_seconds",
                &QUESTION,
                "Time of an access review whose answer was not in the cache.",
                "when warnings are slow: `limits.accessMillis` is the timeout",
            )?,
            cache_objects: m.gauges(
                "cache_objects",
                &[Label::watched()],
                "Objects in the cache.",
                "when attache reports a missing policy: compare the number with `kubectl get`",
            )?,
            cache_synced: m.gauges(
                "cache_synced",
                &[Label::watched()],
                "1 when the kind has been listed.",
                "when a pod is not ready, or attache reviews a policy only by its own content",
            )?,
            cache_last_event: m.times(
                "cache_last_event_timestamp_seconds",
                &[Label::watched()],
                "When the API server last confirmed the state of the kind, in seconds since 1970: with a complete \
                 list, or with any data on a watch, including bookmarks.",
                "always: `time()` minus this is the age of the cache. Over two minutes, the watch is broken; above \
                 `limits.cacheAgeSeconds`, reviews say so",
            )?,
            snapshot_applies: m.counters(
                "snapshot_applies_total",
                &[Label::watched()],
                "Changes applied: an object, or a list of all objects of the kind.",
                "when attache uses CPU without reviews: which kind changes that often",
            )?,
            snapshot_publishes: m.counter(
                "snapshot_publishes_total",
                "Snapshots published.",
                "together with the changes: how many of them a snapshot contains",
            )?,
            watch_errors: m.counters(
                "watch_errors_total",
                &[
                    Label::watched(),
                    Label::new("code", "status codes of the API server; `none` if it did not answer"),
                ],
                "Failed lists and watches. 410 is normal.",
                "when the cache is old: 403 is a missing permission, 404 a kind that is not served, `none` the network",
            )?,
            unwatched_kinds: m.gauges(
                "unwatched_kinds",
                &[one_of("reason", &["limit", "denied", "failing"])],
                "Kinds that attache should watch and does not: beyond `limits.policyKinds` (`limit`), not listable \
                 for lack of permission or because they are not served (`denied`), and failing at the moment \
                 (`failing`).",
                "always: attache knows less about these kinds than it should",
            )?,
            skipped_objects: m.gauges(
                "skipped_objects",
                &[Label::watched()],
                "Objects that attache cannot read in full. Policies among them count as missing; of others it uses the parts that it can read.",
                "always: at `debug` the log names them",
            )?,
            stored_guardrails: m.gauges(
                "stored_guardrails",
                &[one_of("state", &["usable", "unusable"])],
                "`Guardrail` objects of the cluster, by whether attache can use them.",
                "always: an unusable one protects nothing; its status says why",
            )?,
            status_writes: m.counters(
                "status_writes_total",
                &[is(&["written", "removed", "waiting", "failed"])],
                "Objects whose conditions `<Kind>Affected` were written or removed, that wait for their controller, or that \
                 the API server did not let attache write; only with `--write-status`.",
                "when conditions are missing. `failed`: the permissions in manifests/status-writer",
            )?,
            status_writer_leads: m.gauge(
                "status_writer_leads",
                "1 on the replica that writes these conditions, 0 on the others.",
                "when nothing is written: one replica must have 1",
            )?,
            events: m.counters(
                "events_total",
                &[is(&["written", "failed"])],
                "Events written, if `events` is enabled.",
                "when Events are missing",
            )?,
            webhook_current: m.gauges(
                "webhook_current",
                &[one_of("configuration", &["validating", "mutating"])],
                "1 when the webhook configuration is up to date; only with `--manage-webhooks`.",
                "always: while it is 0, the API server does not ask about new kinds",
            )?,
            webhook_updates: m.counters(
                "webhook_updates_total",
                &[
                    one_of("configuration", &["validating", "mutating"]),
                    is(&["applied", "failed"]),
                ],
                "Attempts to update a webhook configuration.",
                "when it grows without new kinds: something else writes the same fields",
            )?,
            described: Vec::new(),
            registry: m.registry.clone(),
        };
        let help = "Log lines that nothing read in time.";
        let look = "when lines are missing: the log collector is slow. Reviews never wait for it";
        if let Some(lost) = &*LOST_LOG_LINES {
            m.on(About::Server)
                .shared(lost, "log_lines_lost_total", help, look)?;
        }
        m.on(About::Process)
            .gauges(
                "build_info",
                &[Label::new("version", "the running version")],
                "1, with the version as a label.",
                "during an update: which versions run",
            )?
            .with_label_values(&[env!("CARGO_PKG_VERSION")])
            .set(1);
        Process::register(&mut m)?;
        let described = m.described;
        Ok(Self { described, ..made })
    }
}
