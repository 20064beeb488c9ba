//! Live reads: short, shared between requests, and explicit about failures.

use std::sync::Arc;
use std::time::Duration;

use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::engine::model::object::Node;
use tokio::time::{Instant, sleep};

use crate::under::*;
use testing::api_server::*;

const EDGE: &str = "/apis/gateway.networking.k8s.io/v1/namespaces/infra/gateways/edge";

async fn ready(server: &Server) -> Under {
    let under = Under::test(server);
    under.until_ready().await;
    under
}

#[tokio::test(start_paused = true)]
async fn reads_the_object_as_it_is_now() {
    let server = Server::with_kinds();
    let under = ready(&server).await;
    let read = under
        .cluster
        .confirm
        .read(gateway_key("infra", "edge"))
        .await;
    let object = read.unwrap().unwrap();
    assert!(matches!(object.node, Node::Gateway { .. }));
    assert_eq!(object.key, gateway_key("infra", "edge"));
}

#[tokio::test(start_paused = true)]
async fn says_that_there_is_no_such_object() {
    let server = Server::with_kinds();
    let under = ready(&server).await;
    let read = under
        .cluster
        .confirm
        .read(gateway_key("infra", "none"))
        .await;
    assert!(read.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn gives_up_after_its_time_without_a_second_attempt() {
    let server = Server::with_kinds();
    let under = ready(&server).await;
    server.hold(EDGE);
    let start = Instant::now();
    let read = under
        .cluster
        .confirm
        .read(gateway_key("infra", "edge"))
        .await;
    assert_eq!(read.unwrap_err(), "timed out after 300 ms");
    assert!(start.elapsed() < Duration::from_millis(310));
    assert_eq!(server.requests(EDGE), 1);
    server.release(EDGE);
    let read = under
        .cluster
        .confirm
        .read(gateway_key("infra", "edge"))
        .await;
    assert!(read.unwrap().is_some(), "the next question is asked anew");
}

#[tokio::test(start_paused = true)]
async fn refusals_and_failures_are_no_answer() {
    let server = Server::with_kinds();
    let under = ready(&server).await;
    let read = || under.cluster.confirm.read(gateway_key("infra", "edge"));
    server.refuse(EDGE, 403);
    assert_eq!(read().await.unwrap_err(), "forbidden");
    server.refuse(EDGE, 503);
    assert_eq!(read().await.unwrap_err(), "the API server answered 503");
    assert_eq!(server.requests(EDGE), 2, "one attempt each");
    server.down(true);
    assert_eq!(read().await.unwrap_err(), "connection refused");
    let other = GroupKind::new(retry_gk().group.clone(), "TimeoutPolicy");
    let other = ObjectKey::new(other, "infra", "retries");
    let why = under.cluster.confirm.read(other).await.unwrap_err();
    assert_eq!(why, "TimeoutPolicy.example.dev is not watched");
}

#[tokio::test(start_paused = true)]
async fn one_read_serves_all_who_ask_at_the_same_time() {
    let server = Server::with_kinds();
    let under = ready(&server).await;
    server.hold(EDGE);
    let confirm = Arc::clone(&under.cluster.confirm);
    let asks = (0..50).map(|_| {
        let confirm = Arc::clone(&confirm);
        tokio::spawn(async move { confirm.read(gateway_key("infra", "edge")).await })
    });
    let asks: Vec<_> = asks.collect();
    eventually("asked", || server.requests(EDGE) > 0).await;
    server.release(EDGE);
    for ask in asks {
        assert!(ask.await.unwrap().unwrap().is_some());
    }
    assert_eq!(server.requests(EDGE), 1);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_live_read_leaves_nothing_behind() {
    let server = Server::with_kinds();
    let under = ready(&server).await;
    server.hold(EDGE);
    let confirm = Arc::clone(&under.cluster.confirm);
    let ask = tokio::spawn(async move { confirm.read(gateway_key("infra", "edge")).await });
    eventually("asked", || server.requests(EDGE) > 0).await;
    ask.abort();
    assert!(ask.await.unwrap_err().is_cancelled());
    sleep(Duration::from_secs(5)).await;
    server.release(EDGE);
    let read = under
        .cluster
        .confirm
        .read(gateway_key("infra", "edge"))
        .await;
    assert!(
        read.unwrap().is_some(),
        "not the timeout of the dropped one"
    );
}

#[tokio::test(start_paused = true)]
async fn names_that_no_object_has_are_not_asked_for() {
    let server = Server::with_kinds();
    let under = ready(&server).await;
    for name in ["../secrets/x", "a/b", "", "..", "a%2fb", "a?x=1", "UPPER"] {
        let read = under.cluster.confirm.read(gateway_key("infra", name)).await;
        assert!(read.unwrap().is_none(), "{name}");
    }
    let read = under.cluster.confirm.read(gateway_key("a/b", "edge")).await;
    assert!(read.unwrap().is_none());
    let listed_and_watched = server.requests(GATEWAYS);
    assert!(listed_and_watched <= 2, "{listed_and_watched}");
}

/// Those who ask while a list is under way share the next one: an object may have come since the first began.
#[tokio::test(start_paused = true)]
async fn a_list_begins_after_the_question_and_serves_all_who_wait_for_it() {
    let server = Server::with_kinds();
    let under = ready(&server).await;
    let before = server.requests(RETRIES);
    server.hold(RETRIES);
    let confirm = Arc::clone(&under.cluster.confirm);
    let ask = || {
        let confirm = Arc::clone(&confirm);
        tokio::spawn(async move { confirm.list(retry_gk()).await })
    };
    let first = ask();
    eventually("asked", || server.requests(RETRIES) > before).await;
    let others: Vec<_> = (0..50).map(|_| ask()).collect();
    // They have begun to wait.
    sleep(Duration::from_millis(10)).await;
    server.put(RETRIES, policy("RetryPolicy", "infra", "new", "edge"));
    server.release(RETRIES);
    let known = first.await.unwrap().unwrap().len();
    for other in others {
        let found = other.await.unwrap().unwrap();
        assert!(found.iter().any(|object| *object.key.name == *"new"));
        assert!(found.len() >= known);
    }
    assert_eq!(server.requests(RETRIES), before + 2);
}

#[tokio::test(start_paused = true)]
async fn a_list_gives_up_after_its_time() {
    let server = Server::with_kinds();
    let under = ready(&server).await;
    server.hold(RETRIES);
    let start = Instant::now();
    let listed = under.cluster.confirm.list(retry_gk()).await;
    assert_eq!(listed.unwrap_err(), "timed out after 3 s");
    assert!(start.elapsed() < Duration::from_secs(4));
    server.release(RETRIES);
    assert!(under.cluster.confirm.list(retry_gk()).await.is_ok());
}
