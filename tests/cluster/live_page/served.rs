//! `attache serve --ui`: each reader sees what they may list.

use serde_json::json;
use testing::browser::Browser;
use testing::eventually::{becomes, eventually};
use testing::page::Page;

use super::{CONFIGURATION, QUESTIONS, cluster, page_of, policies, set, tells_nothing};
use crate::harness::manifests::{collect_policies, service_account, switched_on};
use crate::harness::{Attache, Cluster, Kubectl};

#[tokio::test(flavor = "multi_thread")]
async fn in_the_cluster_each_reader_sees_what_they_may_list() {
    let Some((cluster, kubectl)) = cluster("live-page-served") else {
        return;
    };
    let attache = served(&cluster, &kubectl);
    let page = |user: &str| Page::in_cluster(attache.admin(), &cluster.token_of(user));
    let (alice, bob) = (page("alice"), page("bob"));

    without_a_token(&alice).await;
    signs_in(&alice.url, &cluster.token_of("alice"));
    assert_eq!(policies(&bob).await, ["hidden-retries", "patience"]);
    let state = bob.data("state").await;
    assert_eq!(state["user"], "bob");
    // The manifests give attache no right to the policy kinds of this project.
    let problems = state["problems"].as_array().expect("problems");
    let [problem] = &problems[..] else {
        panic!("{problems:?}")
    };
    let problem = problem.as_str().expect("a line");
    assert!(
        problem.contains("ShadePolicy.policies.controller.io"),
        "{problem}"
    );
    assert!(
        problem.contains("attache itself has no complete list"),
        "{problem}"
    );
    let hidden = bob
        .data("object?name=retrypolicy/infra/hidden-retries")
        .await;
    assert!(
        hidden["yaml"]
            .as_str()
            .expect("YAML")
            .contains("retries: 3")
    );

    assert_eq!(policies(&alice).await, ["patience"]);
    let state = alice.data("state").await;
    assert_eq!(state["user"], "alice");
    let problems = state["problems"].to_string();
    for part in [
        "you may list them only in namespace shop",
        "you may not list them",
    ] {
        assert!(problems.contains(part), "{problems}");
    }
    let own = alice.data("object?name=httproute/shop/cart").await;
    assert!(
        own["yaml"]
            .as_str()
            .expect("YAML")
            .contains("shop.example.com")
    );
    tells_nothing(&alice, "/ui").await;

    // The same as with her own credentials.
    let more = ["-n", "shop", "--config", CONFIGURATION];
    let with_kubeconfig = page_of(&cluster.kubeconfig_of("alice"), &more);
    for path in [
        "policies",
        "object?name=retrypolicy/shop/patience",
        "explain?url=http://shop.example.com/",
    ] {
        let (mut one, mut other) = (alice.data(path).await, with_kubeconfig.data(path).await);
        for answer in [&mut one, &mut other] {
            answer.as_object_mut().expect("an object").remove("yaml");
        }
        assert_eq!(one, other, "{path}");
    }
    let (one, other) = (
        alice.data("graph").await,
        with_kubeconfig.data("graph").await,
    );
    assert_eq!(one["graph"], other["graph"]);

    // A change of an object that she may not read gives no event; a change of one that she may read
    // gives one.
    let (mut of_alice, mut of_bob) = (alice.events().await, bob.events().await);
    let (before, others) = (of_alice.next().await, of_bob.next().await);
    set(&kubectl, "infra", "hidden-retries", "\"retries\": 5");
    assert!(of_bob.next().await > others);
    set(&kubectl, "shop", "patience", "\"timeout\": \"7s\"");
    assert_eq!(of_alice.next().await, before + 1);
    let history = alice.get("/ui/api/history").await;
    assert!(
        history.body.contains("shop/patience") && !history.body.contains("hidden"),
        "{}",
        history.body
    );
    becomes("bob has both in the history", async || {
        let history = bob.get("/ui/api/history").await.body;
        let has_both =
            history.contains("infra/hidden-retries") && history.contains("shop/patience");
        has_both.then_some(()).ok_or(history)
    })
    .await;
}

/// `attache serve --ui` with the rights of the manifests.
fn served(cluster: &Cluster, kubectl: &Kubectl) -> Attache {
    let manifests = cluster.dir().join("manifests");
    switched_on(&manifests, &["ui"]);
    let folder = manifests.to_str().expect("a path in UTF-8");
    kubectl.run(["apply", "--server-side", "-k", folder]).ok();
    // Nobody answers at its address.
    for kind in ["validating", "mutating"] {
        let configuration = format!("{kind}webhookconfigurations/attache");
        kubectl.run(["delete", &configuration]).ok();
    }
    collect_policies(kubectl);
    let kubeconfig = service_account(cluster, kubectl, "attache");
    let attache = Attache::with(cluster, "live-page-served", &kubeconfig, &["--ui"]);
    attache.wait_until_ready();
    attache
}

/// The page in a browser asks for a token until the API server accepts it, and keeps it until it is loaded again.
fn signs_in(url: &str, token: &str) {
    let Some(browser) = Browser::start() else {
        return;
    };
    let shows = |words: &str| {
        eventually(&format!("the page shows “{words}”"), || {
            let text = browser.text("body");
            text.contains(words).then_some(()).ok_or(text)
        });
    };
    let send = |token: &str| {
        browser.run("document.querySelector('input[type=password]').value = ''");
        browser.keys("input[type=password]", token);
        browser.click("button[type=submit]");
    };
    browser.post("url", &json!({"url": format!("{url}#/policies")}));
    shows("Sign in");
    send("wrong");
    shows("the API server does not accept the token");
    send(token);
    shows("patience");
    let text = browser.run("return document.documentElement.outerHTML");
    assert!(!text.to_string().contains("hidden-retries"));
    let stored = "return [document.cookie, localStorage.length ? JSON.stringify(localStorage) : '', location.href].join(' ')";
    assert!(!browser.run(stored).to_string().contains(token));
    browser.post("refresh", &json!({}));
    shows("Sign in");
}

/// The page is there for everybody, its data for nobody without a token.
async fn without_a_token(page: &Page) {
    for (path, status) in [
        ("/ui/", 200),
        ("/ui/app.js", 200),
        ("/ui", 308),
        ("/ui/nothing", 404),
    ] {
        let answer = page.send(page.request("GET", path), "").await;
        assert_eq!(answer.status, status, "{path}");
        assert!(
            answer
                .header("content-security-policy")
                .contains("default-src 'none'")
        );
    }
    let redirect = page.send(page.request("GET", "/ui"), "").await;
    assert_eq!(redirect.header("location"), "ui/");
    for path in QUESTIONS.iter().chain(&["events", "nothing"]) {
        let path = format!("/ui/api/{path}");
        for token in [None, Some("wrong"), Some("")] {
            let mut request = page.request("GET", &path);
            if let Some(token) = token {
                request = request.header("attache-token", token);
            }
            let answer = page.send(request, "").await;
            assert_eq!(answer.status, 401, "{path} with {token:?}");
            assert_eq!(answer.header("www-authenticate"), "Bearer");
            assert!(
                answer
                    .header("content-security-policy")
                    .contains("default-src 'none'")
            );
        }
    }
    // The proxy of the API server forwards this header.
    let request = page
        .request("GET", "/ui/api/state")
        .header("attache-token", &page.token);
    assert_eq!(page.send(request, "").await.status, 200);
    // An ingress passes the token on, and has a name of its own.
    let request = page.by_ingress("GET", "/ui/api/state");
    assert_eq!(page.send(request, "").await.status, 200);
    // A cookie or a parameter is not enough: another site could use it.
    let request = page
        .request("GET", "/ui/api/state")
        .header("cookie", format!("token={}", page.token));
    assert_eq!(page.send(request, "").await.status, 401);
    let path = format!("/ui/api/state?token={}", page.token);
    assert_eq!(page.send(page.request("GET", &path), "").await.status, 401);
}
