//! The list of all metrics: what each measures, and when to look at it.

use super::described::{About, Label, Maker};
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
        let mut m = Maker::new();
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
                "Reviews answered.",
                "first: how much is asked, of which kinds, and what comes of it. None at all with traffic in the \
                 cluster means that the API server does not ask",
            )?,
            request_duration: m.histograms(
                "request_duration_seconds",
                &[Label::endpoint(), Label::operation(), Label::decision()],
                &ANSWER,
                "Time from the arrival of a request to its answer, waiting for a place included.",
                "when `kubectl apply` is slow. Above `timeoutSeconds` the API server has given up",
            )?,
            engine_duration: m.histograms(
                "engine_duration_seconds",
                &[Label::endpoint()],
                &ENGINE,
                "Time in the engine, without the wire and without questions to the API server.",
                "when answers are slow: if this is not, it is the wait for a place, the body, or the API server",
            )?,
            request_body: m.histogram(
                "request_body_bytes",
                &BODY,
                "Size of the bodies of requests.",
                "when memory grows: a body is held until it is answered",
            )?,
            in_flight: m.gauge(
                "in_flight",
                "Requests under way, those that wait for a place included.",
                "when requests are shed: `limits.reviews` is how many there may be beside those that wait",
            )?,
            queued: m.gauge(
                "queued",
                "Requests that wait for a place, three times `limits.reviews` at most.",
                "when answers are slow: in health it is 0",
            )?,
            shed: m.counter(
                "shed_total",
                "Requests turned away: too many under way.",
                "always: more replicas or more CPU are needed",
            )?,
            timeouts: m.counter(
                "timeouts_total",
                "Requests whose body did not come in time.",
                "when the API server says that calls fail: the network between the two is slow",
            )?,
            panics: m.counter(
                "panics_total",
                "Requests that ended in a panic.",
                "always: it is a bug. The log has the place",
            )?,
            malformed: m.counters(
                "malformed_total",
                &[one_of("reason", &MALFORMED)],
                "Requests that are no review.",
                "when it grows: somebody else than the API server calls",
            )?,
            findings: m.on(About::Findings).counters(
                "findings_total",
                &[Label::code(), one_of("severity", &["warn", "deny"])],
                "Findings that were told (`warn`) or that refused a request (`deny`).",
                "to see what users run into; findings.md has the codes",
            )?,
            unverified: m.counters(
                "unverified_total",
                &[one_of("reason", &["live-read", "request", "age"])],
                "Findings that could not be confirmed (`live-read`), requests that could not be understood \
                 (`request`), and reviews that rest on what is known for too long (`age`); all were let through.",
                "always: what attache is there to refuse may get through",
            )?,
            mutations: m.counters(
                "mutations_total",
                &[Label::mutation()],
                "Patches sent, by each mutation that is in them.",
                "after one was switched on: how many objects it changes. mutations.md has the names",
            )?,
            connections: m.on(About::Server).gauge(
                "connections",
                "Open connections on the webhook port and the admin port.",
                "when connections fail: 1024 on the webhook port and 64 on the admin port are the most",
            )?,
            connection_errors: m.counters(
                "connection_errors_total",
                &[one_of(
                    "reason",
                    &["tls", "tls-timeout", "limit", "accept", "evicted", "flood", "unread"],
                )],
                "Connections that ended before a request.",
                "when the API server says that calls fail: `tls` means that it does not trust the certificate",
            )?,
            cert_reload: m.counters(
                "cert_reload_total",
                &[is(&["loaded", "failed"])],
                "Attempts to load a changed serving certificate.",
                "when `failed` grows: the pair in the Secret cannot be used, and the one before goes on",
            )?,
            cert_current: m.gauges(
                "cert_current",
                &[one_of("file", &["serving", "client-ca"])],
                "1 when the newest certificate files are in use, 0 when they cannot be used and those before go on.",
                "always: what is in use ends some day",
            )?,
            client_ca_reload: m.counters(
                "client_ca_reload_total",
                &[is(&["loaded", "failed"])],
                "Attempts to load a changed client CA, with `--client-ca`.",
                "when `failed` grows: the file cannot be used, and the one before goes on",
            )?,
            callers_refused: m.counters(
                "callers_refused_total",
                &[one_of("reason", &["missing", "untrusted", "expired", "name", "no-ca"])],
                "Callers refused for their certificate, with `--client-ca`.",
                "when the API server says that calls fail, and after somebody else has called",
            )?,
            cert_not_after: m.time(
                "cert_not_after_timestamp_seconds",
                "When the serving certificate ends, in seconds since 1970; 0 before there is one.",
                "always: after that the API server cannot call",
            )?,
            config_loads: m.counters(
                "config_loads_total",
                &[is(&["loaded", "failed"])],
                "Changed configurations that were read.",
                "after a change: whether it has come",
            )?,
            config_current: m.gauge(
                "config_current",
                "1 when the newest configuration is in use, 0 when it is broken and the one before goes on.",
                "always: a restart with a broken configuration ends at once",
            )?,
            spans: m.counters(
                "spans_total",
                &[is(&["exported", "failed", "dropped"])],
                "Spans of traces: taken by the collector, refused by it or lost on the way, and those for which \
                 there was no room.",
                "when traces are missing. Reviews never wait for them",
            )?,
            live_reads: m.on(About::Cluster).counters(
                "live_reads_total",
                &[is(&["found", "absent", "failed"])],
                "Objects read live before a refusal.",
                "when findings are `unverified`: `failed` ones are let through",
            )?,
            live_read_duration: m.histogram(
                "live_read_duration_seconds",
                &QUESTION,
                "Time of a live read.",
                "when refusals are slow, or `failed` grows: `limits.liveReadMillis` is the most",
            )?,
            sar: m.counters(
                "sar_total",
                &[
                    is(&["allowed", "denied", "failed"]),
                    one_of("cached", &["true", "false"]),
                ],
                "Access reviews (SubjectAccessReviews) for what a warning would show; `cached`: the answer was \
                 remembered.",
                "when warnings say less than they should: after `failed` nothing is shown",
            )?,
            sar_duration: m.histogram(
                "sar_duration_seconds",
                &QUESTION,
                "Time of an access review that was not remembered.",
                "when warnings are slow: `limits.accessMillis` is the most",
            )?,
            cache_objects: m.gauges(
                "cache_objects",
                &[Label::watched()],
                "Objects known.",
                "when a policy is said not to be there: compare it with `kubectl get`",
            )?,
            cache_synced: m.gauges(
                "cache_synced",
                &[Label::watched()],
                "1 when the kind has been listed.",
                "when a pod is not ready, or a kind is judged by what it says itself",
            )?,
            cache_last_event: m.times(
                "cache_last_event_timestamp_seconds",
                &[Label::watched()],
                "When the API server last vouched for what is known of the kind, in seconds since 1970: with a whole list, or \
                 with anything on a watch, bookmarks included.",
                "always: `time()` less this is the age of the cache. Over two minutes the watch is broken; from \
                 `limits.cacheAgeSeconds` on reviews say so",
            )?,
            snapshot_applies: m.counters(
                "snapshot_applies_total",
                &[Label::watched()],
                "Changes applied: an object, or a list of all objects of the kind.",
                "when CPU is used without reviews: which kind changes so much",
            )?,
            snapshot_publishes: m.counter(
                "snapshot_publishes_total",
                "Snapshots published.",
                "together with the changes: how many came in one go",
            )?,
            watch_errors: m.counters(
                "watch_errors_total",
                &[
                    Label::watched(),
                    Label::of("code", "status codes of the API server; `none` where it did not answer"),
                ],
                "Failed lists and watches. 410 is part of life.",
                "when the cache is old: 403 is a missing right, 404 a kind that is not served, `none` the network",
            )?,
            unwatched_kinds: m.gauges(
                "unwatched_kinds",
                &[one_of("reason", &["limit", "denied", "failing"])],
                "Kinds that should be watched and are not: beyond `limits.policyKinds`, not to be listed (no right, \
                 or not served), and failing at the moment.",
                "always: what attache says of these kinds is less than it could",
            )?,
            skipped_objects: m.gauges(
                "skipped_objects",
                &[Label::watched()],
                "Objects that cannot be read, and are taken for absent.",
                "always: at `debug` the log names them",
            )?,
            status_disagreements: m.gauges(
                "status_disagreements",
                &[Label::watched(), one_of("sort", &["rejected", "accepted", "not-enforced", "overridden"])],
                "Policies whose status says something else than attache expects: `rejected` by their controller, `accepted` \
                 though attache takes them for not attached, or accepted and `not-enforced` or `overridden`. Counted once a \
                 minute, when something has changed.",
                "when users say that a policy does not act: `attache check --notices` names them",
            )?,
            events: m.counters(
                "events_total",
                &[is(&["written", "failed"])],
                "Events written, where `events` is switched on.",
                "when Events are missing",
            )?,
            webhook_current: m.gauges(
                "webhook_current",
                &[one_of("configuration", &["validating", "mutating"])],
                "1 when the webhook configuration is as it should be; there with `--manage-webhooks` only.",
                "always: new kinds are not asked about",
            )?,
            webhook_updates: m.counters(
                "webhook_updates_total",
                &[
                    one_of("configuration", &["validating", "mutating"]),
                    is(&["applied", "failed"]),
                ],
                "Attempts to bring a webhook configuration up to date.",
                "when it grows without new kinds: somebody else writes the same fields",
            )?,
            described: Vec::new(),
            registry: m.registry.clone(),
        };
        let help = "Log lines that nobody took in time.";
        let look =
            "when lines are missing: what collects the log is slow. Reviews never wait for it";
        if let Some(lost) = &*LOST_LOG_LINES {
            m.on(About::Server)
                .shared(lost, "log_lines_lost_total", help, look)?;
        }
        m.on(About::Process)
            .gauges(
                "build_info",
                &[Label::of("version", "the version that runs")],
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
