//! `attache diff`: directories, revisions of git, clusters.

mod states;

use std::fs;
use std::path::Path;
use std::process::Command;

use attache::answer;
use attache::answer::difference::Difference;
use serde_json::Value;
use tempfile::TempDir;
use testing::git::{commit, git};

use crate::check::cluster::{Lists, serve};
use crate::run::{Ran, fits, holds, root, run, run_with, session};

const BEFORE: &str = "examples/migration/before";
const AFTER: &str = "examples/migration/after";
const MAP: &str = "--map=Gateway/infra/old=Gateway/infra/new";

#[test]
fn directories_are_compared() {
    let lines = [
        format!("diff {BEFORE} {AFTER}"),
        format!("diff {BEFORE} {AFTER} {MAP} --exit-code"),
        format!("diff {BEFORE} {AFTER} {MAP} -n infra --exit-code"),
        format!("diff {AFTER} {BEFORE} --map gateway/infra/new=gateway/infra/old"),
        format!("diff {BEFORE} {BEFORE} --exit-code"),
        format!("diff {BEFORE} {AFTER} -o name"),
        format!("diff {BEFORE} {AFTER} {MAP} -o markdown"),
    ];
    holds("diff/directories.txt", &session(&lines));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let lines = [
        format!("diff {BEFORE}"),
        format!("diff {BEFORE} examples/migration/no-such"),
        format!("diff {BEFORE} ../no-such"),
        format!("diff {BEFORE} no-such-revision:deploy"),
        "diff no-such-revision..HEAD".to_owned(),
        format!("diff {BEFORE} HEAD:no-such-directory"),
        format!("diff {BEFORE} tests/commands/documents"),
        format!("diff {BEFORE} cluster:"),
        "diff - -".to_owned(),
        format!("diff {BEFORE} {AFTER} --map Gateway/infra/old"),
        format!("diff {BEFORE} {AFTER} --map Gateway/infra/odl=Gateway/infra/new"),
        format!("diff {BEFORE} {AFTER} --map old=new"),
        format!("diff {BEFORE} {AFTER} --map Gateway/infra/old=HTTPRoute/shop/cart"),
        format!("diff {BEFORE} {AFTER} --map Gateway/infra/old#https=Gateway/infra/new"),
        format!("diff {BEFORE} {AFTER} --map GatewayClass/x/envoy=GatewayClass/envoy-next"),
        format!("diff {BEFORE} {AFTER} --map HTTPRoute/shop/cart=HTTPRoute/shop/catalog"),
    ];
    holds("diff/errors.txt", &session(&lines));
}

/// A wider hostname of a listener brings a route nothing that it does not name, and rules without names may change places.
#[test]
fn requests_that_stay_the_same_are_not_reported() {
    let directory = "tests/commands/diff/same-requests";
    let lines = ["wider-listener", "swapped-rules"]
        .map(|after| format!("diff {directory}/before.yaml {directory}/{after}.yaml"));
    holds("diff/same-requests.txt", &session(&lines));
}

/// A match that names a method leaves the others to other rules; one by regular expression takes requests of prefixes; one of a
/// more specific hostname takes requests with any path.
#[test]
fn requests_with_other_methods_and_of_expressions_are_compared() {
    let directory = "tests/commands/diff/methods";
    let lines = [
        format!("diff {directory}/a {directory}/b"),
        format!("diff {directory}/a {directory}/c"),
        "diff tests/commands/diff/hosts/a tests/commands/diff/hosts/b".to_owned(),
        "diff tests/commands/diff/hosts/set-a tests/commands/diff/hosts/set-b".to_owned(),
    ];
    holds("diff/methods.txt", &session(&lines));
    let directory = "tests/commands/diff/expressions";
    let lines = [
        format!("diff {directory}/a {directory}/b"),
        format!("diff {directory}/a {directory}/c"),
    ];
    holds("diff/expressions.txt", &session(&lines));
}

#[test]
fn a_default_that_a_file_leaves_out_is_no_difference() {
    let directory = "tests/commands/diff/defaults";
    let lines = [
        format!("describe httproute/cart -n shop --from {directory}/left-out"),
        format!("diff {directory}/left-out {directory}/written --exit-code"),
    ];
    holds("diff/defaults.txt", &session(&lines));
}

/// A directory often has no CRDs. The facts about a policy kind do not differ between two states.
#[test]
fn a_definition_that_one_state_has_holds_for_both() {
    let folder = TempDir::new().unwrap();
    for file in fs::read_dir(root().join("examples/quickstart")).unwrap() {
        let file = file.unwrap().path();
        let text = fs::read_to_string(&file).unwrap_or_default();
        let is_manifest = file.extension().is_some_and(|end| end == "yaml");
        if is_manifest && !text.contains("kind: CustomResourceDefinition") {
            fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
        }
    }
    let directory = folder.path().to_str().unwrap();
    for [a, b] in [
        ["examples/quickstart", directory],
        [directory, "examples/quickstart"],
    ] {
        let ran = run(&["diff", a, b, "--exit-code"]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
}

/// A Gateway with two listeners, a timeout on each, and a route.
fn two_listeners(gateway: &str, plain: &str, secure: &str) -> String {
    let timeout = |listener: &str, timeout: &str| {
        format!(
            "---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {{name: {gateway}-{listener}, namespace: infra}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: {gateway}, sectionName: {listener}}}]
  timeout: {{http: {{requestTimeout: {timeout}}}}}
"
        )
    };
    format!(
        "apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: {gateway}, namespace: infra}}
spec:
  gatewayClassName: envoy
  listeners:
  - {{name: {plain}, port: 80, protocol: HTTP}}
  - {{name: {secure}, port: 443, protocol: HTTPS}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: cart, namespace: infra}}
spec:
  parentRefs: [{{name: {gateway}}}]
  rules: [{{name: all}}]
{}{}",
        timeout(plain, "20s"),
        timeout(secure, "10s")
    )
}

/// A route that moves to another Gateway is compared through the listener with the same port, whatever its name.
#[test]
fn listeners_are_compared_by_their_ports() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let before = file("before.yaml", &two_listeners("old", "web", "tls"));
    let after = file("after.yaml", &two_listeners("new", "a", "b"));
    let answer = run(&["diff", &before, &after, "-o", "json"]).json();
    assert_eq!(answer["changes"], serde_json::json!([]), "{answer:#}");
    let mut map = vec!["diff", &before, &after, "--exit-code"];
    map.extend(["--map", "Gateway/infra/old=Gateway/infra/new"]);
    let ran = run(&map);
    assert_eq!(ran.code, 0, "{}", ran.all());
}

/// A Service, with a policy that is direct on one of its ports.
fn service(name: &str, port: &str) -> String {
    format!(
        "apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: shop}}
spec: {{ports: [{{name: {port}, port: 443}}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {{name: tls, namespace: shop}}
spec:
  targetRefs: [{{group: '', kind: Service, name: {name}, sectionName: {port}}}]
  validation: {{hostname: shop.example.com, wellKnownCACertificates: System}}
"
    )
}

#[test]
fn a_section_is_compared_with_another_one() {
    let folder = TempDir::new().unwrap();
    let before = folder.path().join("before.yaml");
    let after = folder.path().join("after.yaml");
    fs::write(&before, service("cart", "https")).unwrap();
    fs::write(&after, service("cart-v2", "tls")).unwrap();
    let files = [before.to_str().unwrap(), after.to_str().unwrap()];
    for (map, code) in [
        ("Service/shop/cart=Service/shop/cart-v2", 1),
        ("Service/shop/cart#https=Service/shop/cart-v2#tls", 0),
    ] {
        let ran = run(&["diff", files[0], files[1], "--map", map, "--exit-code"]);
        assert_eq!(ran.code, code, "{map}: {}", ran.all());
    }
}

#[test]
fn programs_read_the_same() {
    let args = ["diff", BEFORE, AFTER, MAP, "-o", "json"];
    let text = run(&args).clean();
    assert_eq!(text, run(&args).clean());
    holds("diff/migration.json", &text);
    let value: Value = serde_json::from_str(&text).unwrap();
    fits(&value, &answer::schema::<Difference>());
}

/// A kustomization, and the base that it reads from elsewhere in the repository.
fn estate(folder: &Path, timeout: &str) {
    let write = |name: &str, text: &str| {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    let infra = fs::read_to_string(root().join(BEFORE).join("infra.yaml")).unwrap();
    let shop = fs::read_to_string(root().join(BEFORE).join("shop.yaml")).unwrap();
    write("base/infra.yaml", &infra.replace("15s", timeout));
    write("base/shop.yaml", &shop);
    write(
        "base/kustomization.yaml",
        "resources: [infra.yaml, shop.yaml]\n",
    );
    write(
        "overlays/prod/kustomization.yaml",
        "resources: [../../base]\n",
    );
}

/// A repository: release `v1`, then a branch `main` on which the timeout changes, and another branch from `v1` on.
fn repository() -> TempDir {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    estate(at, "15s");
    commit(at);
    git(at, &["tag", "v1"]);
    git(at, &["checkout", "-q", "-b", "feature"]);
    fs::write(at.join("README.md"), "none of it is a manifest\n").unwrap();
    git(at, &["add", "."]);
    git(at, &["commit", "-q", "-m", "feature"]);
    git(at, &["checkout", "-q", "-B", "main", "v1"]);
    estate(at, "30s");
    git(at, &["commit", "-q", "-a", "-m", "main"]);
    folder
}

/// Runs the program in a directory.
fn at(folder: &Path, args: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_attache"))
        .arg("diff")
        .args(args)
        .current_dir(folder)
        .env_remove("KUBECONFIG")
        .env("HOME", folder)
        .output()
        .unwrap();
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}

/// The timeouts before and after, and the names of both states.
fn timeouts(ran: Ran) -> String {
    let answer = ran.json();
    let changes = answer["changes"].as_array().unwrap().iter();
    let fields = changes.flat_map(|change| change["fields"].as_array().unwrap());
    let mut fields: Vec<String> = fields
        .map(|field| format!("{} -> {}", field["before"], field["after"]))
        .collect();
    fields.sort();
    fields.dedup();
    let (a, b) = (answer["a"].as_str().unwrap(), answer["b"].as_str().unwrap());
    format!("{a} {b} {}", fields.join(", "))
}

#[test]
fn revisions_are_read_without_a_worktree() {
    let repository = repository();
    let top = repository.path();
    let json =
        |folder: &Path, args: &[&str]| timeouts(at(folder, &[args, &["-o", "json"]].concat()));
    for (args, message) in [
        (&["v1..main"][..], "v1 main \"15s\" -> \"30s\""),
        (&["v1.."], "v1 HEAD \"15s\" -> \"30s\""),
        (&["main..v1"], "main v1 \"30s\" -> \"15s\""),
        (&["v1", "main"], "v1 main \"15s\" -> \"30s\""),
        (
            &["v1..main", "overlays/prod"],
            "v1:overlays/prod main:overlays/prod \"15s\" -> \"30s\"",
        ),
        (
            &["v1:overlays/prod", "main:base"],
            "v1:overlays/prod main:base \"15s\" -> \"30s\"",
        ),
        // The working directory is the state that counts there.
        (&["v1:base", "base"], "v1:base base \"15s\" -> \"30s\""),
        (
            &["v1:base/infra.yaml", "v1:base/infra.yaml"],
            "v1:base/infra.yaml v1:base/infra.yaml ",
        ),
        (&["v1..feature"], "v1 feature "),
        // The newest commit with this text in its message.
        (&[":/^main", "v1"], ":/^main v1 \"30s\" -> \"15s\""),
        (&[":/^main..v1"], ":/^main v1 \"30s\" -> \"15s\""),
        (&["main..feature"], "main feature \"30s\" -> \"15s\""),
    ] {
        assert_eq!(json(top, args), message, "{args:?}");
    }
    // Since they parted, only main changed.
    let answer = json(top, &["main...feature"]);
    assert!(answer.ends_with(" feature "), "{answer}");
    let answer = json(top, &["feature...main"]);
    assert!(answer.ends_with(" main \"15s\" -> \"30s\""), "{answer}");
    // As in git, a path of a revision starts at the top unless it says otherwise.
    let inside = top.join("overlays");
    let answer = json(&inside, &["v1:base", "main:./prod"]);
    assert_eq!(answer, "v1:base main:overlays/prod \"15s\" -> \"30s\"");
    let answer = json(&inside, &["v1..main", "../base"]);
    assert_eq!(answer, "v1:base main:base \"15s\" -> \"30s\"");
    let status = Command::new("git")
        .args(["status", "--porcelain", "--ignored"])
        .current_dir(top)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(status.stdout).unwrap(), "");
}

#[test]
fn messages_name_the_files_of_a_revision() {
    let repository = repository();
    let top = repository.path();
    fs::write(top.join("base/shop.yaml"), "kind: [\n").unwrap();
    git(top, &["commit", "-q", "-a", "-m", "broken"]);
    git(top, &["tag", "broken"]);
    let output = at(top, &["v1..broken"]).failure();
    assert!(output.contains("broken:base/"), "{output}");
    assert!(
        output.contains("what cannot be read cannot be compared"),
        "{output}"
    );
    assert!(
        !output.contains(std::env::temp_dir().to_str().unwrap()),
        "{output}"
    );
    let output = at(top, &["v1..main", "../.."]).failure();
    assert!(output.contains("not inside the git repository"), "{output}");
    let output = at(top, &[":base/infra.yaml", "main"]).failure();
    assert!(output.contains("the index of git is not read"), "{output}");
    let output = at(top, &[":/no such text", "main"]).failure();
    assert!(output.contains("git knows no revision"), "{output}");
    let output = at(top, &["v1..main", "no-such"]).failure();
    assert_eq!(output, "attache: v1:no-such does not exist\n");
    let nowhere = TempDir::new().unwrap();
    let output = at(nowhere.path(), &["v1..main"]).failure();
    assert!(output.contains("not a git repository"), "{output}");
}

/// The files of a hostile repository are not written outside of the directory that it gets.
#[test]
fn links_of_a_revision_lead_nowhere() {
    let repository = repository();
    let top = repository.path();
    let elsewhere = TempDir::new().unwrap();
    fs::write(elsewhere.path().join("secret.yaml"), "kind: Secret\n").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), top.join("base/out")).unwrap();
    git(top, &["add", "."]);
    git(top, &["commit", "-q", "-m", "link"]);
    git(top, &["tag", "linked"]);
    let ran = at(top, &["v1..linked", "base"]);
    assert!(!ran.all().contains("Secret"), "{}", ran.all());
    let entries = fs::read_dir(elsewhere.path()).unwrap();
    assert_eq!(entries.count(), 1);
}

/// A kubeconfig with the clusters of two servers.
fn two_clusters(change: impl FnOnce(&mut Lists)) -> TempDir {
    let folder = TempDir::new().unwrap();
    let dirs = [("a", serve(|_| {})), ("b", serve(change))];
    let mut kubeconfig = serde_json::json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "clusters": [], "contexts": [], "users": [{"name": "test", "user": {}}],
    });
    for (name, dir) in dirs {
        let text = fs::read_to_string(dir.path().join("config")).unwrap();
        let one: Value = serde_json::from_str(&text).unwrap();
        let mut cluster = one["clusters"][0].clone();
        cluster["name"] = name.into();
        let context = serde_json::json!({
            "name": name, "context": {"cluster": name, "user": "test", "namespace": "infra"},
        });
        kubeconfig["clusters"].as_array_mut().unwrap().push(cluster);
        kubeconfig["contexts"].as_array_mut().unwrap().push(context);
    }
    fs::write(folder.path().join("config"), kubeconfig.to_string()).unwrap();
    folder
}

const POLICIES: &str = "/apis/policies.example.com/v1/retrypolicies";
const GATEWAYS: &str = "/apis/gateway.networking.k8s.io/v1/gateways";

fn compared(folder: &TempDir, args: &[&str]) -> Ran {
    let config = folder.path().join("config");
    let access = [
        "diff",
        "--kubeconfig",
        config.to_str().unwrap(),
        "-o",
        "json",
    ];
    run(&[&access[..], args].concat())
}

#[test]
fn clusters_are_compared() {
    let without = |lists: &mut Lists| {
        let policies = lists.get_mut(POLICIES).unwrap().as_mut().unwrap();
        policies.retain(|policy| policy["metadata"]["name"] != "whole");
    };
    let folder = two_clusters(without);
    let same = compared(&folder, &["cluster", "cluster:a", "--exit-code"]);
    assert_eq!(same.code, 0, "{}", same.all());
    let answer = compared(&folder, &["cluster", "cluster:b"]).json();
    let changes = answer["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{answer:#}");
    assert_eq!(changes[0]["object"]["name"], "web");
    assert_eq!(changes[0]["fields"][0]["before"], 4);
    let other = compared(&folder, &["cluster:a", "cluster:b", "--exit-code"]);
    assert_eq!(other.code, 1, "{}", other.all());
    let unknown = compared(&folder, &["cluster:a", "cluster:c"]).failure();
    assert!(unknown.contains("cluster:c: "), "{unknown}");
}

/// Nothing is said to be gone because it may not be read.
#[test]
fn what_may_not_be_read_is_not_compared() {
    let folder = two_clusters(|lists| drop(lists.insert(POLICIES.to_owned(), None)));
    let answer = compared(&folder, &["cluster:a", "cluster:b"]).json();
    assert_eq!(answer["changes"].as_array().unwrap().len(), 0, "{answer:#}");
    let left_out = &answer["notCompared"][0];
    assert_eq!(left_out["policyKind"]["kind"], "RetryPolicy");
    assert_eq!(left_out["state"], "cluster:b");
    let folder = two_clusters(|lists| drop(lists.insert(GATEWAYS.to_owned(), None)));
    let output = compared(&folder, &["cluster:a", "cluster:b"]).failure();
    assert!(
        output.contains("cluster:b: the Gateways cannot all be read"),
        "{output}"
    );
}

#[test]
fn manifests_may_come_from_standard_input() {
    let text = ["infra.yaml", "shop.yaml"]
        .map(|name| fs::read_to_string(root().join(BEFORE).join(name)).unwrap());
    let ran = run_with(&["diff", BEFORE, "-", "--exit-code"], &text.join("---\n"));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(
        ran.stdout
            .contains("The same settings are in force in A and in B.")
    );
}
