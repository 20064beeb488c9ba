//! Kinds appear and disappear while the server runs.

use std::sync::Arc;
use std::time::Duration;

use attache::cache::Settings;
use attache::engine::kinds::profile::{Class, ProfileRules};
use attache::engine::model::ids::{GroupKind, ObjectKey};
use serde_json::json;
use tokio::time::sleep;

use crate::under::*;
use testing::api_server::*;

#[tokio::test(start_paused = true)]
async fn a_kind_installed_later_is_watched_and_does_not_end_readiness() {
    let server = Server::new();
    let under = Under::test(&server);
    under.until_ready().await;
    eventually("watched", || server.is_watched(CRDS)).await;
    assert!(!under.knows(&retry_gk()));

    server.hold(RETRIES);
    server.install(&policy_crd("example.dev", "RetryPolicy"));
    server.put(RETRIES, policy("RetryPolicy", "infra", "retries", "edge"));
    eventually("asked", || server.requests(RETRIES) > 0).await;
    assert!(under.ready(), "a new CRD must not take the webhook away");
    assert!(!under.check("cache:RetryPolicy.example.dev").required);
    server.release(RETRIES);
    let policy = ObjectKey::new(retry_gk(), "infra", "retries");
    eventually("known", || under.get(&policy).is_some()).await;
    assert!(under.cluster.snapshot.load().policy(&policy).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_removed_is_forgotten_and_left_alone() {
    let server = Server::with_kinds();
    let under = Under::test(&server);
    under.until_ready().await;
    eventually("watched", || server.is_watched(CRDS)).await;
    server.uninstall(&policy_crd("example.dev", "RetryPolicy"));
    eventually("forgotten", || !under.knows(&retry_gk())).await;
    eventually("no profile", || {
        under.cluster.snapshot.load().profile(&retry_gk()).is_none()
    })
    .await;
    assert_eq!(under.count(&retry_gk()), 0);
    assert_eq!(under.state(&retry_gk()), None);
    let asked = server.requests(RETRIES);
    sleep(Duration::from_mins(10)).await;
    assert_eq!(
        server.requests(RETRIES),
        asked,
        "nobody asks for it any more"
    );
    let text = under.metrics.text().unwrap();
    assert!(!text.contains("RetryPolicy"), "{text}");

    server.install(&policy_crd("example.dev", "RetryPolicy"));
    eventually("back", || under.knows(&retry_gk())).await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_removed_while_the_watch_is_cut_is_forgotten_with_the_next_list() {
    let server = Server::with_kinds();
    let under = Under::test(&server);
    under.until_ready().await;
    eventually("watched", || server.is_watched(CRDS)).await;
    server.forget(CRDS, "retrypolicies.example.dev");
    server.expire(CRDS);
    eventually("forgotten", || !under.knows(&retry_gk())).await;
    assert!(under.knows(&GroupKind::gateway_api("Gateway")));
}

#[tokio::test(start_paused = true)]
async fn kinds_are_watched_once_they_are_established() {
    let server = Server::new();
    let mut crd = policy_crd("example.dev", "RetryPolicy");
    crd["status"]["conditions"][0]["status"] = json!("False");
    server.install(&crd);
    let under = Under::test(&server);
    under.until_ready().await;
    eventually("watched", || server.is_watched(CRDS)).await;
    assert_eq!(server.requests(RETRIES), 0);
    server.install(&policy_crd("example.dev", "RetryPolicy"));
    eventually("known", || under.knows(&retry_gk())).await;
}

#[tokio::test(start_paused = true)]
async fn other_kinds_are_not_watched() {
    let server = Server::new();
    server.install(&crd("cert-manager.io", "Certificate", "certificates", "v1"));
    let under = Under::test(&server);
    under.until_ready().await;
    assert_eq!(server.requests("/apis/cert-manager.io/v1/certificates"), 0);
}

#[tokio::test(start_paused = true)]
async fn another_stored_version_is_followed_without_a_gap() {
    let server = Server::with_kinds();
    let under = Under::test(&server);
    under.until_ready().await;
    eventually("watched", || server.is_watched(CRDS)).await;
    let v2 = "/apis/example.dev/v2/retrypolicies";
    server.serve(v2);
    server.hold(v2);
    server.put(v2, policy("RetryPolicy", "infra", "retries", "edge"));
    server.put(v2, policy("RetryPolicy", "infra", "new", "edge"));
    let mut crd = policy_crd("example.dev", "RetryPolicy");
    crd["spec"]["versions"] = json!([
        {"name": "v1", "served": true, "storage": false},
        {"name": "v2", "served": true, "storage": true},
    ]);
    server.put(CRDS, crd);
    eventually("asked", || server.requests(v2) > 0).await;
    assert_eq!(under.count(&retry_gk()), 1, "the same objects, still known");
    assert!(!server.is_watched(RETRIES));
    server.release(v2);
    eventually("listed", || under.count(&retry_gk()) == 2).await;
}

#[tokio::test(start_paused = true)]
async fn too_many_policy_kinds_are_named_and_do_not_push_others_out() {
    let server = Server::new();
    server.install(&gateway_crd());
    for kind in ["MPolicy", "NPolicy"] {
        server.install(&policy_crd("example.dev", kind));
    }
    let settings = Settings {
        max_policy_kinds: 2,
        ..Settings::default()
    };
    let under = Under::with(&server, settings);
    under.until_ready().await;
    eventually("watched", || server.is_watched(CRDS)).await;
    assert!(under.check("policy-kinds-limit").ok);

    server.install(&policy_crd("example.dev", "APolicy"));
    eventually("told", || !under.check("policy-kinds-limit").ok).await;
    let check = under.check("policy-kinds-limit");
    assert_eq!(check.detail, "limit 2, not watched: APolicy.example.dev");
    assert!(!check.required);
    assert_eq!(under.unwatched("limit"), Some(1.0));
    for kind in ["MPolicy", "NPolicy"] {
        assert!(under.knows(&GroupKind::new("example.dev", kind)), "{kind}");
    }
    assert!(under.knows(&GroupKind::gateway_api("Gateway")));
    server.uninstall(&policy_crd("example.dev", "MPolicy"));
    let a = GroupKind::new("example.dev", "APolicy");
    eventually("room again", || under.knows(&a)).await;
    assert!(under.check("policy-kinds-limit").ok);
    assert_eq!(under.unwatched("limit"), Some(0.0));
}

/// New rules, as after a change of the configuration.
pub fn rules(profile: &serde_json::Value) -> Arc<ProfileRules> {
    let profile = serde_json::from_value(profile.clone()).unwrap();
    Arc::new(ProfileRules::new(vec![profile], Arc::default()))
}

#[tokio::test(start_paused = true)]
async fn the_configuration_says_otherwise_while_it_runs() {
    let server = Server::with_kinds();
    let under = Under::test(&server);
    under.until_ready().await;
    eventually("watched", || under.knows(&retry_gk())).await;
    let spec = json!({"group": "example.dev", "kind": "RetryPolicy"});

    let none = rules(&json!({"match": spec, "policy": false}));
    under.rules.send_replace(none);
    eventually("no policy kind any more", || !under.knows(&retry_gk())).await;
    assert!(under.cluster.snapshot.load().profile(&retry_gk()).is_none());
    assert!(under.ready());

    let direct = rules(&json!({"match": spec, "class": "direct"}));
    under.rules.send_replace(direct);
    eventually("watched again", || under.knows(&retry_gk())).await;
    let class = || {
        let snapshot = under.cluster.snapshot.load();
        snapshot
            .profile(&retry_gk())
            .map(|profile| profile.class.value)
    };
    eventually("as it says", || class() == Some(Class::Direct)).await;

    // Objects must keep an annotation that was dropped when they were first read, so all are listed again.
    let listed = server.requests(RETRIES);
    let annotated = json!({"match": spec, "targets": {"annotation": {
        "target": {"group": "", "kind": "Service"}, "key": "example.dev/retries"}}});
    under.rules.send_replace(rules(&annotated));
    eventually("listed again", || server.requests(RETRIES) > listed).await;
    eventually("known", || under.knows(&retry_gk())).await;
}
