//! Access reviews: answered by the API server, cached for a short time, and denied without an answer.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use attache::engine::admission::disclosure::Subject;
use attache::engine::model::ids::{GroupKind, ObjectKey};
use serde_json::json;
use tokio::time::{Instant, advance};

use crate::under::*;
use testing::api_server::*;

fn policy_key(name: &str) -> ObjectKey {
    ObjectKey::new(retry_gk(), "infra", name)
}

fn alice() -> Subject {
    Subject {
        user: "alice".to_owned(),
        ..Subject::default()
    }
}

async fn ready(server: &Server) -> Under {
    let under = Under::test(server);
    under.until_ready().await;
    under
}

/// Whether alice may `get` the policy infra/retries.
async fn asks(under: &Under) -> bool {
    let access = &under.cluster.access;
    access
        .may_get(Arc::new(alice()), policy_key("retries"))
        .await
}

#[tokio::test(start_paused = true)]
async fn the_question_is_the_users_own_in_full() {
    let server = Server::with_kinds();
    server.grant(true);
    let under = ready(&server).await;
    let subject = Subject {
        user: "alice".to_owned(),
        uid: "7".to_owned(),
        groups: vec!["bakers".to_owned(), "system:authenticated".to_owned()],
        extra: [("scopes".to_owned(), vec!["read".to_owned()])].into(),
    };
    let access = &under.cluster.access;
    assert!(
        access
            .may_get(Arc::new(subject), policy_key("retries"))
            .await
    );
    let asked = server.reviews();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        asked[0]["spec"],
        json!({
            "user": "alice",
            "uid": "7",
            "groups": ["bakers", "system:authenticated"],
            "extra": {"scopes": ["read"]},
            "resourceAttributes": {
                "verb": "get",
                "group": "example.dev",
                "version": "v1",
                "resource": "retrypolicies",
                "namespace": "infra",
                "name": "retries",
            },
        })
    );
}

#[tokio::test(start_paused = true)]
async fn a_yes_is_believed_for_a_minute() {
    let server = Server::with_kinds();
    server.grant(true);
    let under = ready(&server).await;
    assert!(asks(&under).await);
    server.grant(false);
    advance(Duration::from_secs(59)).await;
    assert!(asks(&under).await);
    assert_eq!(server.reviews().len(), 1);
    advance(Duration::from_secs(2)).await;
    assert!(!asks(&under).await);
    assert_eq!(server.reviews().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_no_is_believed_for_ten_seconds() {
    let server = Server::with_kinds();
    server.grant(false);
    let under = ready(&server).await;
    assert!(!asks(&under).await);
    server.grant(true);
    advance(Duration::from_secs(9)).await;
    assert!(!asks(&under).await);
    assert_eq!(server.reviews().len(), 1);
    advance(Duration::from_secs(2)).await;
    assert!(asks(&under).await);
    assert_eq!(server.reviews().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_error_is_a_no_and_is_not_remembered() {
    let server = Server::with_kinds();
    server.grant(true);
    let under = ready(&server).await;
    for code in [403, 500, 503] {
        server.refuse(REVIEWS, code);
        assert!(!asks(&under).await, "{code}");
    }
    server.allow(REVIEWS);
    server.down(true);
    assert!(!asks(&under).await);
    server.down(false);
    assert!(asks(&under).await, "as soon as there is an answer");
    let text = under.metrics.text().unwrap();
    for counted in [
        r#"attache_sar_total{cached="false",result="failed"} 4"#,
        r#"attache_sar_total{cached="false",result="allowed"} 1"#,
    ] {
        assert!(text.contains(counted), "{counted} in\n{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_answer_within_200_ms_is_a_no_and_is_not_remembered() {
    let server = Server::with_kinds();
    server.grant(true);
    let under = ready(&server).await;
    server.hold(REVIEWS);
    let start = Instant::now();
    assert!(!asks(&under).await);
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(200), "{took:?}");
    assert!(took < Duration::from_millis(210), "{took:?}");
    server.release(REVIEWS);
    assert!(asks(&under).await);
}

/// A difference in any attribute that an authorizer can see, or in the policy, needs a new review.
#[tokio::test(start_paused = true)]
async fn answers_are_not_shared() {
    let server = Server::with_kinds();
    server.grant(true);
    let under = ready(&server).await;
    assert!(asks(&under).await);
    server.grant(false);
    let others = [
        Subject {
            user: "bob".to_owned(),
            ..alice()
        },
        Subject {
            uid: "7".to_owned(),
            ..alice()
        },
        Subject {
            groups: vec!["bakers".to_owned()],
            ..alice()
        },
        Subject {
            extra: [("scopes".to_owned(), vec!["read".to_owned()])].into(),
            ..alice()
        },
    ];
    let access = &under.cluster.access;
    for other in others {
        let who = format!("{other:?}");
        assert!(
            !access.may_get(Arc::new(other), policy_key("retries")).await,
            "{who}"
        );
    }
    assert!(
        !access
            .may_get(Arc::new(alice()), policy_key("others"))
            .await
    );
    assert!(asks(&under).await, "alice still has her answer");
    assert_eq!(server.reviews().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn no_access_review_for_a_kind_that_is_not_served() {
    let server = Server::with_kinds();
    server.grant(true);
    let under = ready(&server).await;
    let other = ObjectKey::new(
        GroupKind::new("example.dev", "TimeoutPolicy"),
        "infra",
        "retries",
    );
    let access = &under.cluster.access;
    assert!(!access.may_get(Arc::new(alice()), other).await);
    assert!(server.reviews().is_empty());
}

/// The log of this thread from now on.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let about = text.lines().filter(|line| line.contains("access review"));
        about.map(str::to_owned).collect()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn the_log_says_once_that_they_fail_and_once_that_they_work_again() {
    let log = Log::default();
    let writer = log.clone();
    let to_log = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone());
    // Without a second subscriber, log calls that other threads reach first would be disabled everywhere.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry());
    let _logging = tracing::subscriber::set_default(to_log.finish());
    let server = Server::with_kinds();
    server.grant(true);
    let under = ready(&server).await;
    let ask = async |n: usize| {
        let access = &under.cluster.access;
        let policy = policy_key(&format!("p{n}"));
        access.may_get(Arc::new(alice()), policy).await
    };
    for _ in 0..2 {
        // Some hang and some are refused; one in between is answered.
        server.hold(REVIEWS);
        for n in 0..50 {
            assert!(!ask(n).await);
        }
        server.release(REVIEWS);
        assert!(ask(0).await);
        server.refuse(REVIEWS, 503);
        for n in 1..50 {
            assert!(!ask(n).await);
        }
        server.allow(REVIEWS);
        for n in 1..50 {
            assert!(ask(n).await);
        }
        advance(Duration::from_mins(2)).await;
    }
    let lines = log.lines();
    assert_eq!(lines.len(), 4, "{lines:#?}");
    for two in lines.chunks(2) {
        let fails =
            "access reviews fail; what they are for is not shown error=\"no answer within 200ms\"";
        assert!(
            two[0].contains("WARN") && two[0].contains(fails),
            "{two:#?}"
        );
        let again = "access reviews are answered again";
        assert!(
            two[1].contains("INFO") && two[1].contains(again),
            "{two:#?}"
        );
    }
}
