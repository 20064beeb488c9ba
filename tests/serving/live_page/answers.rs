//! Tests of answers: the same as the commands print, and never more than a refusal for anything
//! else.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use testing::page::Page;
use testing::serving::quickstart;

use super::{copy, page};

/// The output of a command with `-o json`.
fn command(directory: &Path, args: &[&str]) -> Value {
    let mut command = Command::new(testing::program());
    command
        .args(args)
        .args(["-o", "json", "--from"])
        .arg(directory);
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{args:?}: {error}: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

#[tokio::test]
async fn each_answer_is_that_of_the_command() {
    let (page, state) = (page(), quickstart());
    for (path, args) in [
        ("policies", &["policies", "-A"][..]),
        ("kinds", &["kinds"]),
        (
            "explain?url=https://shop.example.com/cart",
            &["explain", "https://shop.example.com/cart"],
        ),
        (
            "explain?url=https://shop.example.com/&method=post&header=a%3Ab&header=c:d",
            &[
                "explain",
                "https://shop.example.com/",
                "-X",
                "post",
                "-H",
                "a:b",
                "-H",
                "c:d",
            ],
        ),
    ] {
        assert_eq!(page.data(path).await, command(&state, args), "{path}");
    }
    let graph = command(&state, &["graph"]);
    let shown = page.data("graph").await;
    assert_eq!(shown["graph"]["nodes"], graph["nodes"]);
    assert_eq!(shown["graph"]["edges"], graph["edges"]);
    assert_eq!(shown["from"][0], "--from");
    for (name, args) in [
        (
            "httproute/shop/cart",
            &["describe", "httproute/cart", "-n", "shop"][..],
        ),
        (
            "httproute/cart",
            &["describe", "httproute/cart", "-n", "shop"],
        ),
        (
            "gateway/infra/edge%23https",
            &["describe", "gateway/edge#https", "-n", "infra"],
        ),
        (
            "gatewayclass/example",
            &["describe", "gatewayclass/example"],
        ),
        (
            "retrypolicies/shop/shop-retries",
            &["describe", "retrypolicies/shop-retries", "-n", "shop"],
        ),
        ("namespace/shop", &["describe", "namespace/shop"]),
    ] {
        let mut shown = page.data(&format!("object?name={name}")).await;
        shown.as_object_mut().unwrap().remove("yaml");
        assert_eq!(shown, command(&state, args), "{name}");
    }
}

/// A directory may define an object twice; which of the two counts is on the page.
#[tokio::test]
async fn an_object_that_is_defined_twice_is_a_problem() {
    let (_folder, state) = copy();
    let page = Page::of(&state);
    let problems = page.data("state").await["problems"].to_string();
    assert!(!problems.contains("more than once"), "{problems}");
    let policies = fs::read_to_string(state.join("50-policies.yaml")).unwrap();
    let again = policies.replace("retries: 3", "retries: 7");
    fs::write(state.join("60-again.yaml"), again).unwrap();
    let page = Page::of(&state);
    let problems = page.data("state").await["problems"].to_string();
    assert!(problems.contains("defined more than once"), "{problems}");
    assert!(problems.contains("60-again.yaml"), "{problems}");
}

/// The effect of a change on guardrails: a deleted one judges nothing, and an applied one reports
/// how many targets break it.
#[tokio::test]
async fn a_change_of_guardrails_shows_what_they_are_afterwards() {
    let (_folder, state) = copy();
    let guardrail = "apiVersion: attache.dev/v1alpha1\nkind: Guardrail\nmetadata: {name: never}\nspec:\n  \
        match: {kinds: [HTTPRoute]}\n  rules:\n  - require: 'false'\n  action: deny\n";
    fs::write(state.join("60-guardrail.yaml"), guardrail).unwrap();
    let page = Page::of(&state);
    let post = async |path: &str, body: &str| {
        let answer = page.send(page.own("POST", path), body.to_owned()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    };
    let deleted = post("/api/change?delete=true", guardrail).await;
    let names = |at: &str| deleted["guardrails"][at]["guardrails"].to_string();
    assert!(names("before").contains("never"), "{deleted:#}");
    assert!(!names("after").contains("never"), "{deleted:#}");
    let same = post("/api/change", guardrail).await;
    assert!(
        !same["findings"].to_string().contains("break it now"),
        "{same:#}"
    );
    let other = guardrail.replace("never", "other");
    let applied = post("/api/change", &other).await;
    let findings = applied["findings"].to_string();
    assert!(findings.contains("targets break it now"), "{findings}");
    assert!(applied["guardrails"]["after"].to_string().contains("other"));
}

#[tokio::test]
async fn a_method_that_no_request_has_is_refused() {
    let page = page();
    let path = "/api/explain?url=https://shop.example.com/&method=G%20ET";
    let answer = page.send(page.own("GET", path), String::new()).await;
    assert_eq!(answer.status, 400, "{}", answer.body);
    assert!(
        answer.body.contains("is not an HTTP method"),
        "{}",
        answer.body
    );
}

#[tokio::test]
async fn guardrails_and_a_change_are_those_of_the_commands() {
    let (_folder, state) = copy();
    let guardrail = "apiVersion: attache.dev/v1alpha1\nkind: Guardrail\nmetadata: {name: retried}\nspec:\n  \
        match: {kinds: [HTTPRoute]}\n  policyKind: {group: policies.example.com, kind: RetryPolicy}\n  rules:\n  \
        - require: has(effective.spec.retries)\n    message: \"'every route has retries'\"\n  action: warn\n";
    fs::write(state.join("60-guardrail.yaml"), guardrail).unwrap();
    let page = Page::of(&state);
    let mut shown = page.data("guardrails").await;
    // Which team owns which target, for the page.
    let teams = shown.as_object_mut().unwrap().remove("teams");
    assert!(teams.is_some_and(|teams| teams.is_object()));
    let guardrails = command(&state, &["guardrails"]);
    assert_eq!(shown, guardrails);
    let change = fs::read_to_string(state.join("50-policies.yaml")).unwrap();
    let change = change.replace("retries: 3", "retries: 7");
    let file = state.parent().unwrap().join("change.yaml");
    fs::write(&file, &change).unwrap();
    let file = file.to_str().unwrap();
    for (path, args) in [
        ("/api/change", &["impact", file][..]),
        (
            "/api/change?delete=true",
            &["impact", "--delete", "-f", file],
        ),
    ] {
        let answer = page.send(page.own("POST", path), change.clone()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let answer = answer.json();
        assert_eq!(answer["impact"], command(&state, args), "{path}");
        assert_eq!(answer["guardrails"]["before"], guardrails);
        assert_ne!(answer["guardrails"]["after"], Value::Null);
        assert_eq!(answer["findings"]["kind"], "Report");
    }
    let mut answer = page
        .send(page.own("POST", "/api/change"), change)
        .await
        .json();
    let mut checked = command(&state, &["check", file]);
    // The file has another name in a body.
    for report in [&mut answer["findings"], &mut checked] {
        for finding in report["findings"].as_array_mut().unwrap() {
            finding.as_object_mut().unwrap().remove("file");
        }
    }
    assert_eq!(answer["findings"], checked);
    // Nothing was written.
    assert_eq!(
        page.data("policies").await,
        command(&state, &["policies", "-A"])
    );
    assert_eq!(page.data("state").await["generation"], 1);
}

#[tokio::test]
async fn the_yaml_of_an_object_is_that_of_its_file_and_a_secret_is_not_shown() {
    let (_folder, state) = copy();
    let more = "apiVersion: v1\nkind: Secret\nmetadata: {name: hidden, namespace: shop}\nspec: {password: hunter2}\n\
        stringData: {password: hunter2}\n---\napiVersion: v1\nkind: Service\nmetadata:\n  name: plain\n  namespace: shop\n  \
        managedFields: [{manager: m}]\nspec: {ports: [{port: 80}]}\n";
    fs::write(state.join("70-more.yaml"), more).unwrap();
    let page = Page::of(&state);
    let service = page.data("object?name=service/shop/plain").await;
    assert_eq!(
        service["yaml"],
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: plain\n  namespace: shop\nspec:\n  ports:\n  - port: 80\n"
    );
    let answer = page.get("/api/object?name=secret/shop/hidden").await;
    assert!(!answer.body.contains("hunter2"), "{}", answer.body);
    for path in ["graph", "policies", "state", "history"] {
        let answer = page.get(&format!("/api/{path}")).await;
        assert!(!answer.body.contains("hunter2"), "{path}");
    }
}

#[tokio::test]
async fn a_question_that_is_wrong_is_refused_with_what_to_do() {
    let page = page();
    for (path, status, message) in [
        ("object", 400, "?name="),
        ("object?name=", 400, "?name="),
        ("object?name=cart", 404, "KIND/NAME"),
        (
            "object?name=httproute/shop/cat",
            404,
            "did you mean \"cart\"?",
        ),
        ("object?name=htproute/shop/cart", 404, "did you mean"),
        (
            "object?name=gatewayclass/shop/example",
            404,
            "cluster-scoped",
        ),
        (
            "object?name=httproute/shop/cart&name=b",
            400,
            "more than once",
        ),
        ("object?name=%ff", 400, "UTF-8"),
        ("object?nam=a", 400, "?name="),
        ("policies?namespace=shop", 400, "no parameter \"namespace\""),
        ("details?object=HTTPRoute/shop/no", 404, "the graph has no"),
        ("explain", 400, "?url="),
        ("explain?url=ftp://a", 400, "ftp"),
        ("explain?url=https://a&header=b", 400, "NAME:VALUE"),
        ("nothing", 404, "no such path"),
    ] {
        let answer = page.get(&format!("/api/{path}")).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert!(answer.error().contains(message), "{path}: {}", answer.body);
    }
    for (body, status, message) in [
        ("", 422, "no objects"),
        ("just text", 422, "no objects"),
        ("a: [b", 422, "standard input:1"),
        (
            "apiVersion: v1\nkind: Service\nmetadata: {name: 7}\n",
            422,
            "metadata",
        ),
        ("apiVersion: v1\nkind: Service\n", 422, "metadata"),
    ] {
        let answer = page.send(page.own("POST", "/api/change"), body).await;
        assert_eq!(answer.status, status, "{body:?}: {}", answer.body);
        assert!(
            answer.error().contains(message),
            "{body:?}: {}",
            answer.body
        );
        assert!(!answer.body.contains("attache:"), "{}", answer.body);
    }
    let answer = page
        .send(page.own("POST", "/api/change?delete=yes"), "a: 1")
        .await;
    assert_eq!(answer.status, 400);
    let answer = page
        .send(page.own("POST", "/api/change"), vec![0xff, 0xfe])
        .await;
    assert_eq!(answer.status, 422);
}

#[tokio::test]
async fn a_change_is_no_larger_than_the_api_server_takes() {
    let page = page();
    let large = vec![b'#'; 3 * 1024 * 1024 + 1];
    let answer = page
        .send(page.own("POST", "/api/change"), large.clone())
        .await;
    assert_eq!(answer.status, 413);
    assert!(answer.error().contains("3 MiB"));
    // As many bytes as are allowed, and nothing in them.
    let answer = page
        .send(page.own("POST", "/api/change"), large[1..].to_vec())
        .await;
    assert_eq!(answer.status, 422, "{}", answer.body);
    // Few bytes that would be many: attache reads them as kubectl would, with a limit.
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..9 {
        let before = vec![format!("*a{}", level - 1); 10].join(",");
        writeln!(bomb, "a{level}: &a{level} [{before}]").unwrap();
    }
    let answer = page.send(page.own("POST", "/api/change"), bomb).await;
    assert_eq!(answer.status, 422, "{}", answer.body);
}

#[tokio::test]
async fn hostile_names_stay_data() {
    let (_folder, state) = copy();
    let hostile = "</script><script>alert(1)</script>";
    let route = format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata:\n  name: hostile\n  namespace: shop\n  \
         labels: {{a: \"{hostile}\"}}\nspec:\n  parentRefs: [{{name: edge, namespace: infra}}]\n  hostnames: [\"{hostile}\"]\n  \
         rules: [{{name: \"{hostile}\", matches: [{{path: {{value: \"/\\u202e{hostile}\"}}}}]}}]\n"
    );
    fs::write(state.join("80-hostile.yaml"), route).unwrap();
    let page = Page::of(&state);
    for path in [
        "graph",
        "object?name=httproute/shop/hostile",
        "policies",
        "state",
    ] {
        let answer = page.get(&format!("/api/{path}")).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert!(
            !answer.body.contains('\u{202e}'),
            "{path}: a hidden character"
        );
    }
    let name = "object?name=httproute/shop/%3Cscript%3E%E2%80%AE";
    let answer = page.get(&format!("/api/{name}")).await;
    assert_eq!(answer.status, 404);
    assert!(!answer.body.contains('\u{202e}'), "{}", answer.body);
    assert_eq!(answer.header("content-type"), "application/json");
}

#[tokio::test]
async fn answers_are_compressed_and_named_by_a_tag_while_the_state_is_the_same() {
    let page = page();
    let request = page
        .own("GET", "/api/graph")
        .header("accept-encoding", "gzip");
    let answer = page.send(request, "").await;
    assert_eq!(answer.header("content-encoding"), "gzip");
    let answer = page.get("/api/graph").await;
    assert_eq!(answer.header("attache-generation"), "1");
    let tag = answer.header("etag").to_owned();
    let request = page.own("GET", "/api/graph").header("if-none-match", &tag);
    let answer = page.send(request, "").await;
    assert_eq!((answer.status, &*answer.body), (304, ""));
    // Another process has other tags.
    let other = super::page();
    assert_ne!(other.get("/api/graph").await.header("etag"), tag);
}

#[test]
fn standard_input_is_not_followed() {
    let mut command = Command::new(testing::program());
    command.args(["ui", "--from", "-"]).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("use a directory"), "{text}");
}
