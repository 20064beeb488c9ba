//! Directories of manifests.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use attache::cache::directory::{Links, Loaded, load};
use attache::cache::guardrails::GuardrailsInUse;
use attache::cache::reload::{Directory, Fingerprint, watch_directory};
use attache::engine::kinds::profile::ProfileRules;
use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::metrics::Metrics;
use tempfile::TempDir;
use tokio::sync::watch;

use crate::under::eventually;
use testing::api_server::gateway_key;

const CRD: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: retrypolicies.example.dev
  labels: {gateway.networking.k8s.io/policy: Direct}
spec:
  group: example.dev
  scope: Namespaced
  names: {kind: RetryPolicy, plural: retrypolicies}
  versions: [{name: v1, served: true, storage: true}]
";

fn gateway(name: &str, more: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata:\n  name: {name}\n  \
         namespace: infra\n{more}spec:\n  gatewayClassName: test\n  listeners: []\n"
    )
}

fn policy(name: &str) -> String {
    format!(
        "apiVersion: example.dev/v1\nkind: RetryPolicy\nmetadata: {{name: {name}}}\nspec:\n  \
         targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: edge}}]\n"
    )
}

fn dir(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        write(&dir, name, text);
    }
    dir
}

fn write(dir: &TempDir, name: &str, text: &str) {
    let path = dir.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(dir: &TempDir) -> Loaded {
    let paths = [dir.path().to_owned()];
    load(&paths, &Arc::new(ProfileRules::default()), "default")
}

/// The problems, without the directory's own path.
fn problems(dir: &TempDir, loaded: &Loaded) -> Vec<String> {
    let prefix = format!("{}/", dir.path().display());
    let texts = loaded.problems.iter().map(ToString::to_string);
    texts.map(|text| text.replace(&prefix, "")).collect()
}

fn has(loaded: &Loaded, name: &str) -> bool {
    loaded.snapshot.get(&gateway_key("infra", name)).is_some()
}

#[test]
fn all_endings_and_nested_directories_are_read_in_order() {
    let json = r#"{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "t"}}"#;
    let dir = dir(&[
        ("b.yaml", &gateway("b", "")),
        (
            "a/c.yml",
            &format!("{}---\n{}", gateway("c", ""), gateway("d", "")),
        ),
        ("z.json", json),
        ("notes.txt", "not: read"),
        ("crd.yaml", CRD),
        ("policies.yaml", &policy("p")),
    ]);
    let loaded = read(&dir);
    assert_eq!(problems(&dir, &loaded), Vec::<String>::new());
    let names: Vec<_> = loaded.objects.iter().map(|o| &*o.key.name).collect();
    let crd = "retrypolicies.example.dev";
    assert_eq!(
        names,
        ["c", "d", "b", crd, "p", "s", "t", "default", "infra"]
    );
    assert_eq!(loaded.crds.len(), 1);
    let gk = GroupKind::new("example.dev", "RetryPolicy");
    let key = ObjectKey::new(gk, "default", "p");
    assert!(loaded.snapshot.policy(&key).is_some(), "read by its CRD");
    let origin = &loaded.origins[&ObjectKey::new(GroupKind::core("Service"), "default", "t")];
    assert!(origin.file.ends_with("z.json"));
    assert_eq!(origin.line, 2);
    let summary = loaded.counts.summary("there");
    assert_eq!(
        summary,
        "3 Gateways, 0 routes, 1 policy of 1 kind from there"
    );
}

#[test]
fn a_document_that_cannot_be_read_is_named_and_loses_only_itself() {
    let text = format!(
        "# first\n{}---\nkind: Gateway\nmetadata: {{name: [}}\n---\n{}",
        gateway("one", ""),
        gateway("two", "")
    );
    let dir = dir(&[
        ("a.yaml", &text),
        ("b.json", "{\"apiVersion\": \"v1\",\n  oops"),
    ]);
    let loaded = read(&dir);
    assert!(has(&loaded, "one") && has(&loaded, "two"));
    let problems = problems(&dir, &loaded);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(
        problems[0],
        "a.yaml:12:18: mismatched bracket '[' closed by '}'"
    );
    assert!(problems[1].starts_with("b.json:2:3: "), "{problems:?}");
    assert!(
        problems
            .iter()
            .all(|problem| !problem.contains(" at line ")),
        "{problems:?}"
    );
}

#[test]
fn documents_without_an_object_are_named_by_line() {
    let dir = dir(&[
        ("a.yaml", "---\n# just a comment\n---\n\nkind: Deployment\n"),
        // Files of other tools.
        ("values.yaml", "replicas: 3\n"),
        ("settings.yaml", "replicas: 3\n"),
        ("odd.yaml", &gateway("odd", "  labels: {n: 1}\n")),
        ("listeners.yaml", &gateway("l", "").replace("[]", "none")),
    ]);
    let loaded = read(&dir);
    let problems = problems(&dir, &loaded);
    assert!(
        problems
            .iter()
            .all(|problem| !problem.contains(" at line ")),
        "{problems:?}"
    );
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert_eq!(
        problems[0],
        "a.yaml:5: not a Kubernetes manifest, so it is skipped: it has a kind and no apiVersion"
    );
    assert!(
        problems[1].starts_with("listeners.yaml:1: Gateway infra/l: "),
        "{problems:?}"
    );
    assert!(
        problems[2].starts_with("odd.yaml:1: Gateway infra/odd: "),
        "{problems:?}"
    );
}

#[test]
fn lists_in_lists_are_refused_as_kubectl_refuses_them() {
    let inner = gateway("deep", "").replace('\n', "\n      ");
    let text = format!(
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: GatewayList\n  items:\n    - {inner}\n"
    );
    let dir = dir(&[("list.yaml", &text)]);
    let loaded = read(&dir);
    assert!(!has(&loaded, "deep"));
    let problems = problems(&dir, &loaded);
    assert!(problems[0].contains("a list in a list"), "{problems:?}");
}

#[test]
fn other_files_are_ignored_silently() {
    let dir = dir(&[
        (
            "config.yaml",
            "apiVersion: attache.dev/v1\nkind: Configuration\n",
        ),
        (
            "secret.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
        ),
        (
            "review.json",
            r#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}"#,
        ),
        ("kustomization.yaml", "resources: [a.yaml]\n"),
        (".hidden/a.yaml", &gateway("hidden", "")),
        ("empty.yaml", ""),
    ]);
    let loaded = read(&dir);
    assert_eq!(problems(&dir, &loaded), Vec::<String>::new());
    assert!(loaded.objects.is_empty(), "{:?}", loaded.objects);
}

#[test]
fn age_is_the_timestamp_and_else_the_order() {
    let stamp = |t: &str| format!("  creationTimestamp: \"{t}\"\n");
    let dir = dir(&[
        ("1.yaml", &gateway("first", "")),
        ("2.yaml", &gateway("second", "  creationTimestamp: null\n")),
        ("3.yaml", &gateway("dated", &stamp("2024-05-01T00:00:00Z"))),
    ]);
    let loaded = read(&dir);
    let created = |name| {
        let object = loaded.snapshot.get(&gateway_key("infra", name)).unwrap();
        object.meta.created.unwrap()
    };
    assert!(created("dated") < created("first"));
    assert!(created("first") < created("second"));
}

#[test]
fn namespaces_are_as_the_api_server_would_have_them() {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: infra, labels: {a: b}}\n";
    let class = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: test}\n\
                 spec: {controllerName: a/b}\n";
    let dir = dir(&[
        ("gw.yaml", &gateway("edge", "")),
        ("class.yaml", class),
        ("ns.yaml", namespace),
        ("policy.yaml", &policy("p")),
    ]);
    let loaded = read(&dir);
    let get = |gk, name| loaded.snapshot.get(&ObjectKey::new(gk, "", name));
    assert!(get(GroupKind::gateway_api("GatewayClass"), "test").is_some());
    let infra = get(GroupKind::core("Namespace"), "infra").unwrap();
    let labels: Vec<_> = infra
        .meta
        .labels
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    assert_eq!(labels, ["a=b", "kubernetes.io/metadata.name=infra"]);
    let default = get(GroupKind::core("Namespace"), "default");
    assert!(default.is_some(), "objects live in it, so it is there");
    assert_eq!(
        loaded.counts.kinds.get(&GroupKind::core("Namespace")),
        Some(&1)
    );
}

#[test]
fn the_later_of_two_objects_with_one_name_counts() {
    let dir = dir(&[
        ("a.yaml", &gateway("edge", "  labels: {v: \"1\"}\n")),
        ("b.yaml", &gateway("edge", "  labels: {v: \"2\"}\n")),
    ]);
    let loaded = read(&dir);
    let edge = loaded.snapshot.get(&gateway_key("infra", "edge")).unwrap();
    assert_eq!(edge.meta.labels.get("v").map(|v| &**v), Some("2"));
    assert!(loaded.origins[&edge.key].file.ends_with("b.yaml"));
}

#[test]
fn hostile_files_end() {
    let mut bomb =
        String::from("apiVersion: v1\nkind: Bomb\nmetadata: {name: b}\na0: &a0 [x, x]\n");
    for n in 1..40 {
        let before = n - 1;
        writeln!(bomb, "a{n}: &a{n} [*a{before}, *a{before}, *a{before}]").unwrap();
    }
    let deep = format!(
        "apiVersion: v1\nkind: Deep\nmetadata: {{name: d}}\nspec: {}",
        "[".repeat(100_000)
    );
    let deep_json = format!("{{\"spec\": {}", "[".repeat(100_000));
    let dir = dir(&[
        ("bomb.yaml", &bomb),
        ("deep.yaml", &deep),
        ("deep.json", &deep_json),
        ("good.yaml", &gateway("edge", "")),
        ("many.yaml", &"---\n".repeat(100_000)),
    ]);
    fs::write(dir.path().join("latin.yaml"), b"a: \xff\n").unwrap();
    let loaded = read(&dir);
    assert!(has(&loaded, "edge"));
    let problems = problems(&dir, &loaded);
    let files: Vec<_> = problems
        .iter()
        .map(|p| p.split(':').next().unwrap())
        .collect();
    assert_eq!(
        files,
        ["bomb.yaml", "deep.json", "deep.yaml", "latin.yaml"],
        "{problems:?}"
    );
}

#[test]
fn files_that_are_too_large_or_missing_are_refused_by_name() {
    let dir = dir(&[("edge.yaml", &gateway("edge", ""))]);
    let large = fs::File::create(dir.path().join("large.yaml")).unwrap();
    large.set_len((64 << 20) + 1).unwrap();
    let paths = [dir.path().to_owned(), dir.path().join("none.yaml")];
    let loaded = load(&paths, &Arc::new(ProfileRules::default()), "default");
    assert!(has(&loaded, "edge"));
    let problems = problems(&dir, &loaded);
    assert_eq!(problems[0], "large.yaml: larger than 64 MiB");
    assert!(
        problems[1].starts_with("none.yaml: cannot be read: "),
        "{problems:?}"
    );
}

/// An archive unpacked over another can keep size and time of a file.
#[test]
fn a_file_of_the_same_size_and_time_is_another_one() {
    let dir = dir(&[("a.yaml", &gateway("one", ""))]);
    let paths = [dir.path().to_owned()];
    let file = dir.path().join("a.yaml");
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    let seen = Fingerprint::from_paths(&paths, Links::Within);
    assert_eq!(seen, Fingerprint::from_paths(&paths, Links::Within));

    let other = dir.path().join("b");
    fs::write(&other, gateway("two", "")).unwrap();
    fs::File::options()
        .write(true)
        .open(&other)
        .unwrap()
        .set_modified(time)
        .unwrap();
    fs::rename(&other, &file).unwrap();
    let now = fs::metadata(&file).unwrap();
    assert_eq!(now.modified().unwrap(), time);
    assert_ne!(seen, Fingerprint::from_paths(&paths, Links::Within));
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_loops_do_not_hang() {
    use std::os::unix::fs::symlink;
    let dir = dir(&[
        ("..data/edge.yaml", &gateway("edge", "")),
        ("sub/a.yaml", &gateway("a", "")),
    ]);
    symlink("..data/edge.yaml", dir.path().join("edge.yaml")).unwrap();
    symlink("..", dir.path().join("sub/up")).unwrap();
    symlink("self", dir.path().join("self")).unwrap();
    let loaded = read(&dir);
    assert!(has(&loaded, "edge") && has(&loaded, "a"));
    let names: Vec<_> = loaded.objects.iter().map(|o| &*o.key.name).collect();
    assert_eq!(names, ["edge", "a", "infra"], "each once");
    assert_eq!(problems(&dir, &loaded), Vec::<String>::new());
}

const GUARDRAIL: &str = "
apiVersion: attache.dev/v1alpha1
kind: Guardrail
metadata: {name: owned}
spec:
  match: {kinds: [Gateway]}
  rules:
  - require: \"'owner' in target.labels\"
    message: \"'a Gateway has an owner'\"
  action: deny
";

#[tokio::test(start_paused = true)]
async fn a_changed_directory_is_read_again() {
    let dir = dir(&[("a.yaml", &gateway("a", "")), ("b.yaml", &gateway("b", ""))]);
    let directory = Directory {
        links: Links::Within,
        paths: vec![PathBuf::from(dir.path())],
        namespace: "default".to_owned(),
        rules: Arc::new(ProfileRules::default()),
    };
    let reading = directory.load();
    let published = Arc::new(ArcSwap::from_pointee(reading.loaded.snapshot));
    let guardrails = Arc::<GuardrailsInUse>::default();
    let metrics = Arc::new(Metrics::new().unwrap());
    let second = Duration::from_secs(1);
    let (rules, given) = watch::channel(directory.rules.clone());
    let task = watch_directory(
        directory,
        reading.fingerprint,
        given,
        second,
        Arc::clone(&published),
        guardrails.clone(),
        metrics,
    );
    let task = tokio::spawn(task);
    let has = |name: &str| published.load().get(&gateway_key("infra", name)).is_some();
    let first = published.load_full();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(Arc::ptr_eq(&first, &published.load()), "nothing changed");

    write(&dir, "a.yaml", "apiVersion: [");
    write(&dir, "more/c.yaml", &gateway("c", ""));
    eventually("read again", || has("c")).await;
    assert!(has("b") && !has("a"), "the broken file is left out");
    write(&dir, "a.yaml", &gateway("a", ""));
    fs::remove_file(dir.path().join("b.yaml")).unwrap();
    eventually("mended", || has("a") && !has("b")).await;

    write(&dir, "guardrails.yaml", GUARDRAIL);
    eventually("a guardrail", || !guardrails.all().is_empty()).await;
    assert_eq!(&*guardrails.stored()[0].name, "owned");
    fs::remove_file(dir.path().join("guardrails.yaml")).unwrap();
    eventually("no guardrail", || guardrails.all().is_empty()).await;

    let profile = "match: {group: example.com, kind: Widget}";
    let profile = serde_saphyr::from_str(profile).unwrap();
    rules.send_replace(Arc::new(ProfileRules::new(vec![profile], Arc::default())));
    let widget = GroupKind::new("example.com", "Widget");
    let knows = || published.load().profile(&widget).is_some();
    eventually("read by the new rules", knows).await;
    assert!(has("a"));
    task.abort();
}
