//! Watches that die silently, lists that fail in the middle, servers that are restored to an older state.

use std::time::Duration;

use attache::cache::sync::KindState;
use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::Node;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::under::*;
use testing::api_server::*;

fn gateways() -> GroupKind {
    GroupKind::gateway_api("Gateway")
}

async fn watching(server: &Server) -> Under {
    let under = Under::test(server);
    under.until_ready().await;
    eventually("watched", || {
        [GATEWAYS, RETRIES, CRDS]
            .iter()
            .all(|path| server.is_watched(path))
    })
    .await;
    under
}

fn is_failing(under: &Under) -> bool {
    matches!(under.state(&gateways()), Some(KindState::Failing(..)))
}

#[tokio::test(start_paused = true)]
async fn events_missed_by_a_dead_watch_arrive_within_65_seconds() {
    let server = Server::with_kinds();
    let under = watching(&server).await;
    for round in 0..3 {
        let name = format!("missed-{round}");
        server.black_hole(GATEWAYS);
        let dead = Instant::now();
        server.put(GATEWAYS, gateway("infra", &name));
        let missed = gateway_key("infra", &name);
        eventually("known", || under.get(&missed).is_some()).await;
        let took = dead.elapsed();
        assert!(took <= Duration::from_millis(65_100), "{took:?}");
        assert!(under.ready());
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_with_an_older_state_is_listed_again() {
    let server = Server::with_kinds();
    for name in ["a", "b", "c"] {
        server.put(GATEWAYS, gateway("infra", name));
    }
    let under = watching(&server).await;
    server.down(true);
    eventually("noticed", || is_failing(&under)).await;
    // Restored from a backup: some objects do not exist yet, others exist again, and versions continue from an earlier
    // one.
    server.restore(1);
    for name in ["a", "b", "edge"] {
        server.forget(GATEWAYS, name);
    }
    server.put(GATEWAYS, gateway("infra", "older"));
    sleep(Duration::from_secs(20)).await;
    assert_eq!(
        under.count(&gateways()),
        4,
        "kept as long as nothing else is known"
    );
    server.down(false);
    let older = gateway_key("infra", "older");
    eventually("listed anew", || under.get(&older).is_some()).await;
    assert_eq!(under.count(&gateways()), 2, "c and older");
    assert_eq!(under.state(&gateways()), Some(KindState::Synced));
    // From then on it is watched.
    eventually("watched", || server.is_watched(GATEWAYS)).await;
    server.delete(GATEWAYS, "older");
    eventually("gone", || under.get(&older).is_none()).await;
    assert!(under.ready());
}

#[tokio::test(start_paused = true)]
async fn a_short_break_is_gone_on_from_without_a_list() {
    let server = Server::with_kinds();
    let under = watching(&server).await;
    let lists = server.lists(GATEWAYS);
    server.down(true);
    server.put(GATEWAYS, gateway("infra", "meanwhile"));
    server.down(false);
    let meanwhile = gateway_key("infra", "meanwhile");
    eventually("known", || under.get(&meanwhile).is_some()).await;
    assert_eq!(server.lists(GATEWAYS), lists);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_list_restarts_and_is_never_half_visible() {
    let services = GroupKind::core("Service");
    for code in [429, 500, 503] {
        let server = Server::with_kinds();
        for n in 0..1_200 {
            server.put(SERVICES, service(n));
        }
        server.refuse_pages(SERVICES, code);
        let under = Under::test(&server);
        sleep(Duration::from_mins(2)).await;
        assert!(!under.ready(), "{code}");
        assert_eq!(
            under.count(&services),
            0,
            "{code}: the first page is no state"
        );
        let check = under.check("cache:Service");
        assert!(check.detail.contains("no more pages"), "{code}: {check:?}");
        server.allow(SERVICES);
        under.until_ready().await;
        assert_eq!(under.count(&services), 1_200, "{code}");

        // Also later: the known data stays complete.
        eventually("watched", || server.is_watched(SERVICES)).await;
        server.refuse_pages(SERVICES, code);
        server.forget(SERVICES, "s7");
        server.expire(SERVICES);
        sleep(Duration::from_mins(2)).await;
        assert_eq!(under.count(&services), 1_200, "{code}");
        assert!(under.ready(), "{code}");
        server.allow(SERVICES);
        eventually("listed anew", || under.count(&services) == 1_199).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_busy_or_broken_server_is_asked_with_backoff() {
    for code in [429, 500, 502, 504] {
        let server = Server::with_kinds();
        server.refuse(GATEWAYS, code);
        let under = Under::test(&server);
        sleep(Duration::from_mins(5)).await;
        assert!(!under.ready() && is_failing(&under), "{code}");
        let times = server.times(GATEWAYS);
        assert!(times.len() < 20, "{code}: {} requests", times.len());
        let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.max() <= Some(Duration::from_secs(31)), "{code}");
        server.allow(GATEWAYS);
        under.until_ready().await;
        assert!(under.get(&gateway_key("infra", "edge")).is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_revoked_right_is_reported_and_the_known_state_is_kept() {
    let server = Server::with_kinds();
    let under = watching(&server).await;
    server.refuse(RETRIES, 403);
    // The API server ends watches after a minute, and so does a client that hears nothing.
    server.black_hole(RETRIES);
    let why = format!("refused: {RETRIES}");
    let denied = KindState::Denied(why.clone());
    eventually("named", || under.state(&retry_gk()) == Some(denied.clone())).await;
    sleep(Duration::from_mins(10)).await;
    assert!(under.ready());
    let check = under.check("cache:RetryPolicy.example.dev");
    assert_eq!(
        (check.ok, check.required, check.detail),
        (false, false, why)
    );
    assert_eq!(under.count(&retry_gk()), 1);
    // The other kinds are watched.
    server.put(GATEWAYS, gateway("infra", "other"));
    let other = gateway_key("infra", "other");
    eventually("followed", || under.get(&other).is_some()).await;

    server.put(RETRIES, policy("RetryPolicy", "infra", "new", "edge"));
    server.allow(RETRIES);
    eventually("caught up", || under.count(&retry_gk()) == 2).await;
    assert_eq!(under.state(&retry_gk()), Some(KindState::Synced));
}

#[tokio::test(start_paused = true)]
async fn repeated_and_late_events_change_nothing() {
    let server = Server::with_kinds();
    let under = watching(&server).await;
    let edge = gateway_key("infra", "edge");
    let known = under.get(&edge).unwrap();
    server.say(GATEWAYS, "DELETED", gateway("infra", "never-there"));
    for _ in 0..3 {
        server.say(GATEWAYS, "ADDED", gateway("infra", "edge"));
        server.say(GATEWAYS, "MODIFIED", gateway("infra", "edge"));
    }
    // A MODIFIED event for an unknown object adds it.
    server.say(GATEWAYS, "MODIFIED", gateway("infra", "last"));
    let last = gateway_key("infra", "last");
    eventually("all have come", || under.get(&last).is_some()).await;
    assert_eq!(under.count(&gateways()), 2);
    assert!(under.get(&edge).unwrap().is_same(&known));
    server.say(GATEWAYS, "DELETED", gateway("infra", "last"));
    server.say(GATEWAYS, "DELETED", gateway("infra", "last"));
    eventually("gone", || under.get(&last).is_none()).await;
    assert_eq!(under.count(&gateways()), 1);
}

/// Deleted and recreated while the watch was broken: a later creation time and new contents.
#[tokio::test(start_paused = true)]
async fn another_object_of_the_same_name_takes_its_place() {
    let server = Server::with_kinds();
    let made = |uid: &str, created: &str, listener: &str| {
        let mut gateway = gateway("infra", "edge");
        gateway["metadata"]["uid"] = json!(uid);
        gateway["metadata"]["creationTimestamp"] = json!(created);
        gateway["spec"]["listeners"][0]["name"] = json!(listener);
        gateway
    };
    server.put(GATEWAYS, made("1", "2026-01-01T00:00:00Z", "http"));
    let under = watching(&server).await;
    let edge = gateway_key("infra", "edge");
    let first = under.get(&edge).unwrap();
    server.say(GATEWAYS, "ADDED", made("2", "2026-02-01T00:00:00Z", "web"));
    eventually("the other", || {
        under.get(&edge).unwrap().meta.created > first.meta.created
    })
    .await;
    let Node::Gateway { listeners, .. } = &under.get(&edge).unwrap().node else {
        panic!("no Gateway");
    };
    assert_eq!(&*listeners[0].name, "web");
    assert_eq!(under.count(&gateways()), 1);
}
