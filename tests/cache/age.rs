//! Stale data: the time since the last message about a kind, and the warnings in reviews that rest on it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use attache::cache::sync::KindState;
use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::finding::Code;
use attache::engine::admission::request::{Operation, Request};
use attache::engine::admission::review::review;
use attache::engine::admission::verdict::Verdict;
use attache::engine::model::ids::{GroupKind, ObjectKey};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::under::*;
use testing::api_server::*;

/// The default.
const LIMIT: Duration = Duration::from_mins(5);

fn gateways() -> GroupKind {
    GroupKind::gateway_api("Gateway")
}

async fn watching(server: &Server) -> Under {
    let under = Under::test(server);
    under.until_ready().await;
    eventually("watched", || {
        [GATEWAYS, RETRIES, CRDS, SERVICES, NAMESPACES]
            .iter()
            .all(|path| server.is_watched(path))
    })
    .await;
    under
}

/// The verdict on a new object, with the warnings about stale data.
fn said(under: &Under, gk: &GroupKind, object: &Value) -> Verdict {
    let text = to_raw_value(object).unwrap();
    let request = Request {
        operation: Operation::Create,
        gk: gk.clone(),
        namespace: object["metadata"]["namespace"].as_str().unwrap(),
        name: object["metadata"]["name"].as_str().unwrap(),
        subresource: "",
        object: Some(&text),
        old: None,
    };
    let snapshot = under.cluster.snapshot.load();
    let verdict = review(&snapshot, &request, &Evidence::Cached);
    let old = under.cluster.sync.stale_kinds(LIMIT);
    old.annotate(verdict, &snapshot, &request.key())
}

fn of_policy(under: &Under) -> Vec<String> {
    said(
        under,
        &retry_gk(),
        &policy("RetryPolicy", "infra", "mine", "edge"),
    )
    .warnings()
}

fn of_gateway(under: &Under) -> Vec<String> {
    said(under, &gateways(), &gateway("infra", "mine")).warnings()
}

fn is_old(under: &Under, gk: &GroupKind, limit: Duration) -> bool {
    let snapshot = under.cluster.snapshot.load();
    let key = ObjectKey::new(gk.clone(), "infra", "any");
    let verdict = Verdict::new(Vec::new(), &Evidence::Cached);
    let staleness = under
        .cluster
        .sync
        .stale_kinds(limit)
        .annotate(verdict, &snapshot, &key);
    !staleness.findings.is_empty()
}

#[tokio::test(start_paused = true)]
async fn a_quiet_cluster_is_never_stale() {
    let server = Server::with_kinds();
    let under = watching(&server).await;
    for _ in 0..600 {
        sleep(Duration::from_secs(7)).await;
        let old = under.cluster.sync.stale_kinds(Duration::from_secs(70));
        assert_eq!(old, FromIterator::from_iter([]));
    }
    assert!(of_gateway(&under).iter().all(|line| !line.contains(" old")));
}

/// The time of the last message about Gateways, as scraped.
fn heard(under: &Under) -> f64 {
    let series = "attache_cache_last_event_timestamp_seconds{kind=\"Gateway\"}";
    under.metric(series).expect("it is scraped")
}

/// The time of day, as in metrics.
fn now() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_secs_f64()
}

#[tokio::test(start_paused = true)]
async fn when_something_was_heard_is_scraped() {
    let started = now();
    let server = Server::with_kinds();
    let under = watching(&server).await;
    let listed = heard(&under);
    assert!((started..=now()).contains(&listed), "{listed}");
    let bookmark =
        json!({"kind": "Gateway", "apiVersion": "gateway.networking.k8s.io/v1", "metadata": {}});
    server.say(GATEWAYS, "BOOKMARK", bookmark);
    eventually("the bookmark counts", || heard(&under) > listed).await;
    server.down(true);
    eventually("it is away", || {
        matches!(under.state(&gateways()), Some(KindState::Failing(..)))
    })
    .await;
    let last = heard(&under);
    sleep(LIMIT).await;
    assert!(
        heard(&under).to_bits() == last.to_bits(),
        "nothing was heard"
    );
    server.down(false);
    eventually("it is back", || heard(&under) > last).await;
    assert!(heard(&under) <= now());
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_counts_as_an_event() {
    let server = Server::with_kinds();
    let under = watching(&server).await;
    sleep(Duration::from_secs(40)).await;
    let second = Duration::from_secs(1);
    assert!(is_old(&under, &gateways(), second));
    let bookmark =
        json!({"kind": "Gateway", "apiVersion": "gateway.networking.k8s.io/v1", "metadata": {}});
    let before = under.cluster.snapshot.load_full();
    for path in [GATEWAYS, SERVICES, NAMESPACES, CRDS, RETRIES] {
        server.say(path, "BOOKMARK", bookmark.clone());
    }
    eventually("heard", || !is_old(&under, &gateways(), second)).await;
    let after = under.cluster.snapshot.load_full();
    assert!(std::sync::Arc::ptr_eq(&before, &after), "and nothing else");
}

#[tokio::test(start_paused = true)]
async fn state_from_before_an_outage_is_reported_as_stale() {
    let server = Server::with_kinds();
    let under = watching(&server).await;
    let away = Instant::now();
    server.down(true);
    sleep(LIMIT.checked_sub(Duration::from_secs(1)).unwrap()).await;
    assert!(
        of_policy(&under)
            .iter()
            .all(|line| !line.starts_with("unverified"))
    );
    eventually("old", || of_policy(&under)[0].starts_with("unverified")).await;
    assert!(
        away.elapsed() <= LIMIT + Duration::from_secs(1),
        "{:?}",
        away.elapsed()
    );
    sleep(Duration::from_mins(20)).await;
    for lines in [of_policy(&under), of_gateway(&under)] {
        let warnings: Vec<_> = lines
            .iter()
            .filter(|line| line.starts_with("unverified: "))
            .collect();
        assert_eq!(warnings.len(), 1, "{lines:?}");
        assert!(warnings[0].contains(" in 25 minutes; "), "{warnings:?}");
        assert_eq!(
            &lines[0], warnings[0],
            "first, for it says how to take the rest"
        );
    }
    // Wrong in any state, but the CRDs that say so are stale.
    let mut wrong = policy("RetryPolicy", "infra", "mine", "edge");
    wrong["spec"]["targetRefs"] = json!([]);
    assert!(said(&under, &retry_gk(), &wrong).allowed());
    assert!(under.ready(), "nobody would be left to answer");

    server.down(false);
    eventually("young again", || {
        of_policy(&under)
            .iter()
            .all(|line| !line.starts_with("unverified"))
    })
    .await;
    assert!(under.ready());
}

/// For example a load balancer without backends, or a stopped server: connections are accepted, and nothing is
/// answered.
#[tokio::test(start_paused = true)]
async fn a_silent_server_counts_as_stale() {
    let server = Server::with_kinds();
    let under = watching(&server).await;
    server.hold(GATEWAYS);
    server.black_hole(GATEWAYS);
    let silent = Instant::now();
    eventually("old", || is_old(&under, &gateways(), LIMIT)).await;
    let took = silent.elapsed();
    // The watch was renewed at most a minute before.
    assert!(took <= LIMIT + Duration::from_secs(1), "{took:?}");
    let lines = of_gateway(&under);
    assert!(
        lines[0].contains("no update for Gateway in 5 minutes"),
        "{lines:?}"
    );
    server.release(GATEWAYS);
    eventually("heard again", || !is_old(&under, &gateways(), LIMIT)).await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_whose_right_was_revoked_becomes_stale_alone() {
    let server = Server::with_kinds();
    server.install(&policy_crd("example.dev", "LimitPolicy"));
    let under = watching(&server).await;
    let limits = GroupKind::new("example.dev", "LimitPolicy");
    server.refuse(RETRIES, 403);
    server.black_hole(RETRIES);
    eventually("old", || is_old(&under, &retry_gk(), LIMIT)).await;
    assert!(matches!(
        under.state(&retry_gk()),
        Some(KindState::Denied(_))
    ));
    // Reviews of this kind and of its targets rest on it; policies of other kinds do not interact with it.
    assert!(of_policy(&under)[0].contains("no update for RetryPolicy.example.dev in "));
    assert!(of_gateway(&under)[0].contains("no update for RetryPolicy.example.dev in "));
    let other = policy("LimitPolicy", "infra", "mine", "edge");
    let lines = said(&under, &limits, &other).warnings();
    assert!(
        lines.iter().all(|line| !line.starts_with("unverified")),
        "{lines:?}"
    );
    // Data that was never known cannot be stale.
    let fresh = Server::with_kinds();
    fresh.refuse(RETRIES, 403);
    let under = Under::test(&fresh);
    under.until_ready().await;
    sleep(3 * LIMIT).await;
    assert!(!is_old(&under, &retry_gk(), LIMIT));

    server.allow(RETRIES);
}

#[tokio::test(start_paused = true)]
async fn a_list_slower_than_the_history_gets_larger_pages() {
    let services = GroupKind::core("Service");
    let server = Server::with_kinds();
    for n in 0..4_200 {
        server.put(SERVICES, service(n));
    }
    // Nine pages of 500 are too many; three of 2,000 are not.
    server.shorten_history(SERVICES, 3);
    let under = Under::test(&server);
    under.until_ready().await;
    assert_eq!(under.count(&services), 4_200);
    assert_eq!(under.state(&services), Some(KindState::Synced));

    // Also later. If even the largest pages are too many, the known data stays and is reported as stale.
    eventually("watched", || server.is_watched(SERVICES)).await;
    for n in 4_200..8_100 {
        server.put(SERVICES, service(n));
    }
    eventually("followed", || under.count(&services) == 8_100).await;
    server.shorten_history(SERVICES, 1);
    server.forget(SERVICES, "s7");
    server.expire(SERVICES);
    eventually("old", || is_old(&under, &services, LIMIT)).await;
    assert_eq!(under.count(&services), 8_100);
    assert!(under.ready());
    server.allow(SERVICES);
    eventually("listed anew", || under.count(&services) == 8_099).await;
    assert!(!is_old(&under, &services, LIMIT));
}

#[tokio::test(start_paused = true)]
async fn an_unlisted_kind_is_not_empty() {
    let server = Server::with_kinds();
    server.hold(GATEWAYS);
    let under = Under::test(&server);
    eventually("policies are known", || under.knows(&retry_gk())).await;
    sleep(Duration::from_mins(1)).await;
    let nowhere = policy("RetryPolicy", "infra", "mine", "nowhere");
    let codes = |under: &Under| -> Vec<Code> {
        let verdict = said(under, &retry_gk(), &nowhere);
        verdict
            .findings
            .iter()
            .map(|finding| finding.code)
            .collect()
    };
    assert!(!codes(&under).contains(&Code::TargetNotFound));
    server.release(GATEWAYS);
    under.until_ready().await;
    assert!(codes(&under).contains(&Code::TargetNotFound));
}
