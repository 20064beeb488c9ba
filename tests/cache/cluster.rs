//! Lists and watches become snapshots, and readiness is accurate.

use std::time::Duration;

use attache::cache::sync::KindState;
use attache::engine::model::ids::{GroupKind, ObjectKey};
use serde_json::json;
use tokio::time::sleep;

use crate::under::*;
use testing::api_server::*;

#[tokio::test(start_paused = true)]
async fn objects_that_are_there_are_known_when_ready() {
    let server = Server::with_kinds();
    let under = Under::test(&server);
    assert!(!under.ready());
    under.until_ready().await;
    assert!(under.get(&gateway_key("infra", "edge")).is_some());
    let policy = ObjectKey::new(retry_gk(), "infra", "retries");
    let snapshot = under.cluster.snapshot.load();
    assert!(snapshot.policy(&policy).is_some(), "read by its CRD");
    assert_eq!(
        snapshot
            .policies_naming(&gateway_key("infra", "edge"))
            .count(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn not_ready_before_every_list_is_in_the_snapshot() {
    let server = Server::with_kinds();
    server.hold(GATEWAYS);
    let under = Under::test(&server);
    let policies = retry_gk();
    eventually("policies listed", || {
        under.state(&policies) == Some(KindState::Synced)
    })
    .await;
    sleep(Duration::from_mins(5)).await;
    assert!(!under.ready());
    let check = under.check("cache:Gateway");
    assert_eq!((check.ok, check.required), (false, true));
    assert_eq!(check.detail, "not listed yet");

    server.release(GATEWAYS);
    eventually("ready", || {
        let ready = under.ready();
        assert!(!ready || under.get(&gateway_key("infra", "edge")).is_some());
        ready
    })
    .await;
    assert!(under.check("cache:Gateway").ok);
}

#[tokio::test(start_paused = true)]
async fn changes_are_followed() {
    let server = Server::with_kinds();
    let under = Under::test(&server);
    under.until_ready().await;
    eventually("watched", || server.is_watched(GATEWAYS)).await;
    let (edge, other) = (gateway_key("infra", "edge"), gateway_key("infra", "other"));

    server.put(GATEWAYS, gateway("infra", "other"));
    eventually("added", || under.get(&other).is_some()).await;
    let mut labelled = gateway("infra", "edge");
    labelled["metadata"]["labels"] = json!({"tier": "front"});
    server.put(GATEWAYS, labelled);
    eventually("changed", || {
        under
            .get(&edge)
            .is_some_and(|it| !it.meta.labels.is_empty())
    })
    .await;
    server.delete(GATEWAYS, "other");
    eventually("deleted", || under.get(&other).is_none()).await;
    let text = under.metrics.text().unwrap();
    assert!(
        text.contains("attache_cache_objects{kind=\"Gateway\"} 1"),
        "{text}"
    );
    assert!(
        text.contains("attache_cache_synced{kind=\"Gateway\"} 1"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn long_lists_come_in_pages() {
    let server = Server::with_kinds();
    for n in 0..1_200 {
        server.put(SERVICES, service(n));
    }
    let under = Under::test(&server);
    under.until_ready().await;
    assert_eq!(under.count(&GroupKind::core("Service")), 1_200);
    let asked = server.requests(SERVICES);
    assert!((3..=4).contains(&asked), "three pages and a watch: {asked}");
}

#[tokio::test(start_paused = true)]
async fn a_new_list_after_410_keeps_the_old_state_until_it_is_complete() {
    let server = Server::with_kinds();
    let under = Under::test(&server);
    under.until_ready().await;
    eventually("watched", || server.is_watched(GATEWAYS)).await;
    let (edge, other) = (gateway_key("infra", "edge"), gateway_key("infra", "other"));

    server.hold(GATEWAYS);
    server.put(GATEWAYS, gateway("infra", "other"));
    eventually("added", || under.get(&other).is_some()).await;
    server.forget(GATEWAYS, "edge");
    let before = server.requests(GATEWAYS);
    server.expire(GATEWAYS);
    eventually("asked for a list", || server.requests(GATEWAYS) > before).await;
    sleep(Duration::from_secs(30)).await;
    assert!(under.get(&edge).is_some() && under.get(&other).is_some());
    assert_eq!(
        under.state(&edge.gk),
        Some(KindState::Synced),
        "410 is no failure"
    );

    server.release(GATEWAYS);
    eventually("listed anew", || under.get(&edge).is_none()).await;
    assert!(under.get(&other).is_some());
}

#[tokio::test(start_paused = true)]
async fn of_an_object_that_cannot_be_read_the_name_is_known_and_it_is_counted() {
    let server = Server::with_kinds();
    let mut odd = gateway("infra", "odd");
    odd["metadata"]["labels"] = json!({"n": 1});
    server.put(GATEWAYS, odd);
    let mut odder = gateway("infra", "odder");
    odder["spec"]["listeners"] = json!("none");
    server.put(GATEWAYS, odder);
    let under = Under::test(&server);
    under.until_ready().await;
    // Unusual objects are still counted.
    assert_eq!(under.count(&GroupKind::gateway_api("Gateway")), 3);
    let skipped = |n: usize| {
        let line = format!("attache_skipped_objects{{kind=\"Gateway\"}} {n}\n");
        under.metrics.text().unwrap().contains(&line)
    };
    assert!(skipped(2));

    eventually("watched", || server.is_watched(GATEWAYS)).await;
    let edge = gateway_key("infra", "edge");
    let mut broken = gateway("infra", "edge");
    broken["spec"]["listeners"] = json!(7);
    server.put(GATEWAYS, broken);
    eventually("what it was is not said any more", || {
        under.get(&edge).is_some_and(|edge| {
            edge.unread.is_some() && edge.sections().is_some_and(|names| names.is_empty())
        })
    })
    .await;
    assert!(skipped(3));
    server.put(GATEWAYS, gateway("infra", "edge"));
    server.put(GATEWAYS, gateway("infra", "odd"));
    eventually("mended", || {
        under.get(&edge).is_some_and(|edge| edge.unread.is_none()) && skipped(1)
    })
    .await;
    server.delete(GATEWAYS, "odder");
    eventually("gone", || skipped(0)).await;
}

#[tokio::test(start_paused = true)]
async fn items_that_are_no_objects_break_no_list() {
    let server = Server::with_kinds();
    server.put(GATEWAYS, json!("a string"));
    let under = Under::test(&server);
    under.until_ready().await;
    assert_eq!(under.count(&GroupKind::gateway_api("Gateway")), 1);
}
