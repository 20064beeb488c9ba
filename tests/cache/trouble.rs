//! An API server that refuses, fails, goes away and comes back.

use std::time::Duration;

use attache::cache::sync::KindState;
use attache::engine::model::ids::GroupKind;
use tokio::time::{Instant, sleep};

use crate::under::*;
use testing::api_server::*;

fn gateways() -> GroupKind {
    GroupKind::gateway_api("Gateway")
}

#[tokio::test(start_paused = true)]
async fn a_forbidden_kind_is_named_and_the_others_work() {
    let server = Server::with_kinds();
    server.refuse(RETRIES, 403);
    let under = Under::test(&server);
    under.until_ready().await;
    assert!(under.get(&gateway_key("infra", "edge")).is_some());
    let why = format!("refused: {RETRIES}");
    assert_eq!(
        under.state(&retry_gk()),
        Some(KindState::Denied(why.clone()))
    );
    let check = under.check("cache:RetryPolicy.example.dev");
    assert_eq!((check.ok, check.required), (false, false));
    assert_eq!(check.detail, why);
    let text = under.metrics.text().unwrap();
    let count = "attache_watch_errors_total{code=\"403\",kind=\"RetryPolicy.example.dev\"}";
    assert!(text.contains(count), "{text}");
    assert_eq!(under.unwatched("denied"), Some(1.0));

    let asked = server.requests(RETRIES);
    sleep(Duration::from_mins(10)).await;
    let asked = server.requests(RETRIES) - asked;
    assert!(asked < 40, "{asked} requests in ten minutes");

    server.allow(RETRIES);
    eventually("allowed at last", || {
        under.state(&retry_gk()) == Some(KindState::Synced)
    })
    .await;
    assert_eq!(under.count(&retry_gk()), 1);
    assert_eq!(under.unwatched("denied"), Some(0.0));
}

#[tokio::test(start_paused = true)]
async fn delays_grow_while_lists_fail_and_differ() {
    let server = Server::with_kinds();
    server.refuse(RETRIES, 503);
    server.refuse(GATEWAYS, 503);
    let under = Under::test(&server);
    sleep(Duration::from_mins(5)).await;
    assert!(!under.ready(), "503 is not an answer to rest on");
    assert!(matches!(
        under.state(&gateways()),
        Some(KindState::Failing(..))
    ));
    assert!(under.check("cache:Gateway").detail.contains("refused"));
    let gaps = |path: &str| -> Vec<Duration> {
        let times = server.times(path);
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    let gaps_here = gaps(GATEWAYS);
    assert!(gaps_here[0] >= Duration::from_millis(600), "{gaps_here:?}");
    let last = *gaps_here.last().unwrap();
    assert!((22..=31).contains(&last.as_secs()), "{gaps_here:?}");
    assert_ne!(gaps_here, gaps(RETRIES), "jitter");
    server.allow(RETRIES);
    server.allow(GATEWAYS);
    under.until_ready().await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_whose_path_is_missing_does_not_hold_readiness() {
    let server = Server::with_kinds();
    server.refuse(RETRIES, 404);
    let under = Under::test(&server);
    under.until_ready().await;
    assert!(matches!(
        under.state(&retry_gk()),
        Some(KindState::Denied(_))
    ));
}

#[tokio::test(start_paused = true)]
async fn without_crds_it_is_not_ready() {
    let server = Server::with_kinds();
    server.refuse(CRDS, 403);
    let under = Under::test(&server);
    sleep(Duration::from_mins(2)).await;
    assert!(!under.ready());
    let check = under.check("cache:CustomResourceDefinition.apiextensions.k8s.io");
    assert_eq!((check.ok, check.required), (false, true));
    assert!(
        under.knows(&GroupKind::core("Service")),
        "core kinds need no CRD"
    );
    server.allow(CRDS);
    under.until_ready().await;
}

#[tokio::test(start_paused = true)]
async fn it_waits_for_an_api_server_that_is_down_at_the_start() {
    let server = Server::with_kinds();
    server.down(true);
    let mut under = Under::test(&server);
    sleep(Duration::from_hours(1)).await;
    assert!(!under.ready());
    assert!(
        under.cluster.tasks.try_join_next().is_none(),
        "no task gave up"
    );
    let check = under.check("cache:CustomResourceDefinition.apiextensions.k8s.io");
    assert!(check.detail.contains("connection refused"), "{check:?}");
    server.down(false);
    let back = Instant::now();
    under.until_ready().await;
    assert!(back.elapsed() <= Duration::from_secs(62));
}

#[tokio::test(start_paused = true)]
async fn losing_the_api_server_keeps_the_cache_and_readiness() {
    let server = Server::with_kinds();
    let under = Under::test(&server);
    under.until_ready().await;
    eventually("watched", || server.is_watched(GATEWAYS)).await;
    server.down(true);
    eventually("noticed", || {
        matches!(under.state(&gateways()), Some(KindState::Failing(..)))
    })
    .await;
    sleep(Duration::from_mins(15)).await;
    assert!(under.ready());
    assert!(under.unwatched("failing") > Some(1.0), "all of them");
    assert!(under.get(&gateway_key("infra", "edge")).is_some());
    let check = under.check("cache:Gateway");
    assert!(
        !check.ok && !check.required && check.detail.contains("kept"),
        "{check:?}"
    );

    server.put(GATEWAYS, gateway("infra", "meanwhile"));
    server.down(false);
    eventually("watched again", || server.is_watched(GATEWAYS)).await;
    // The restart loses the history.
    server.expire(GATEWAYS);
    let meanwhile = gateway_key("infra", "meanwhile");
    eventually("caught up", || under.get(&meanwhile).is_some()).await;
    assert_eq!(under.state(&gateways()), Some(KindState::Synced));
    eventually("all are well", || under.unwatched("failing") == Some(0.0)).await;
}

#[tokio::test(start_paused = true)]
async fn a_quiet_watch_that_was_renewed_is_well_again() {
    let server = Server::with_kinds();
    let under = Under::test(&server);
    under.until_ready().await;
    eventually("watched", || server.is_watched(GATEWAYS)).await;
    server.down(true);
    eventually("noticed", || {
        matches!(under.state(&gateways()), Some(KindState::Failing(..)))
    })
    .await;
    server.down(false);
    eventually("well without any event", || {
        under.state(&gateways()) == Some(KindState::Synced)
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_falls_silent_is_renewed() {
    let server = Server::with_kinds();
    let under = Under::test(&server);
    under.until_ready().await;
    eventually("watched", || server.is_watched(GATEWAYS)).await;
    let asked = server.requests(GATEWAYS);
    // This server never ends a watch by itself, as if behind a dead connection.
    sleep(Duration::from_secs(66)).await;
    assert!(server.requests(GATEWAYS) > asked);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_cluster_ends_its_watches() {
    let server = Server::with_kinds();
    let under = Under::test(&server);
    under.until_ready().await;
    eventually("watched", || server.is_watched(RETRIES)).await;
    drop(under);
    eventually("left", || !server.is_watched(RETRIES)).await;
    let asked = server.requests(RETRIES);
    sleep(Duration::from_mins(5)).await;
    assert_eq!(server.requests(RETRIES), asked);
}
