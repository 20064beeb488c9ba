//! A chart, as Helm renders it: by `check`, and by every other command that reads files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::estate::counted;
use super::{check, json, root, stdout};

fn charts() -> PathBuf {
    root().join("chart")
}

/// Whether charts can be rendered here. Says so where they cannot.
fn renders() -> bool {
    let output = Command::new("helm").arg("version").output();
    let there = output.is_ok_and(|output| output.status.success());
    assert!(
        there || std::env::var_os("ATTACHE_REQUIRE_HELM").is_none(),
        "helm is not on the PATH"
    );
    if !there {
        eprintln!("SKIPPED: helm is not on the PATH");
    }
    there
}

fn run(directory: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_attache"))
        .args(args)
        .current_dir(directory)
        .output()
        .unwrap()
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// With the values of the chart the listener is right, with those of production it is not. A finding names the template,
/// that of a chart below too.
#[test]
fn charts_are_rendered_and_findings_name_the_template() {
    if !renders() {
        return;
    }
    let found = |args: &[&str]| {
        let args = [&["--helm", "shop", "-n", "web", "-o", "json"], args].concat();
        let report = json(&check(&charts(), &args));
        let files: Vec<String> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["notice"] != true)
            .map(|finding| finding["file"].as_str().unwrap().to_owned())
            .collect();
        let counted = counted(&report)
            .into_iter()
            .map(|(name, code, _)| (name, code));
        (counted.collect::<Vec<_>>(), files)
    };
    let pair = |name: &str, code: &str| (name.to_owned(), code.to_owned());
    let cache = pair("web/cache-retries", "section-unknown");
    let (names, files) = found(&[]);
    assert_eq!(names, std::slice::from_ref(&cache));
    assert_eq!(files, ["shop/charts/cache/templates/policy.yaml"]);
    let (names, files) = found(&["--values", "shop/values-prod.yaml"]);
    assert_eq!(names, [cache, pair("web/connections", "section-unknown")]);
    assert_eq!(
        files,
        [
            "shop/charts/cache/templates/policy.yaml",
            "shop/templates/policies.yaml"
        ]
    );
    // Templates are no manifests, and the directory alone is not rendered.
    let text = stdout(&check(&charts(), &["shop", "--show-skipped"]));
    assert!(text.contains("shop/templates/gateway.yaml"), "{text}");
}

/// Charts are rendered for `describe`, `policies`, `graph`, `explain` and `kinds`, and for the
/// change of `impact`.
#[test]
fn every_command_that_reads_files_renders_charts() {
    if !renders() {
        return;
    }
    let output_of = |args: &[&str]| {
        let output = run(&charts(), &[args, &["--helm", "shop"]].concat());
        let stderr = String::from_utf8(output.stderr.clone()).unwrap();
        assert_ne!(output.status.code(), Some(2), "{args:?}: {stderr}");
        stdout(&output)
    };
    let text = output_of(&["describe", "httproute/cart", "-n", "web"]);
    assert!(
        text.contains("timeout.http.requestTimeout") && text.contains("3s"),
        "{text}"
    );
    let text = output_of(&["policies", "-o", "name", "-n", "web"]);
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(output_of(&["graph"]).contains("Gateway default/public"));
    assert!(output_of(&["explain", "http://shop.example.com/"]).contains("default/cart"));
    assert!(output_of(&["kinds"]).contains("ColorPolicy"));
    assert!(output_of(&["manifests"]).contains("colorpolicies"));
    let text = output_of(&["impact", "-n", "web", "--from", "../clean"]);
    assert!(text.contains("HTTPRoute web/cart"), "{text}");
    // A release is deleted, with all that is in it.
    let helm = Command::new("helm")
        .args(["template", "shop", "shop", "--namespace", "web"])
        .current_dir(charts())
        .output()
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let rendered = dir.path().join("rendered.yaml");
    fs::write(&rendered, helm.stdout).unwrap();
    let text = output_of(&[
        "impact",
        "-n",
        "web",
        "--from",
        rendered.to_str().unwrap(),
        "--delete",
    ]);
    assert!(text.contains("\nDeleting 6 objects"), "{text}");
}

/// Helm takes not every directory's name for a release, and says much before it says what is wrong.
#[test]
fn what_is_wrong_with_a_chart_is_said_in_a_line() {
    if !renders() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    copied(&charts().join("shop"), &dir.path().join("My_Shop"));
    let output = run(dir.path(), &["policies", "--helm", "My_Shop", "-o", "name"]);
    assert_eq!(
        String::from_utf8(output.stderr.clone())
            .unwrap()
            .matches("Error")
            .count(),
        0
    );
    assert_eq!(stdout(&output).lines().count(), 3);
    let broken = dir.path().join("My_Shop/templates/broken.yaml");
    fs::write(broken, "a: {{ .Values.none.such }}\n").unwrap();
    let output = run(dir.path(), &["check", "--helm", "My_Shop"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.starts_with("attache: My_Shop cannot be rendered: helm: ")
            && text.contains("broken.yaml")
            && text.lines().count() == 1,
        "{text}"
    );
    let output = run(dir.path(), &["policies", "--helm", "none"]);
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "attache: none does not exist\n"
    );
}

/// A template may write the line by which Helm says where a document comes from.
#[test]
fn no_template_names_a_file_outside_of_its_chart() {
    if !renders() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    copied(&charts().join("shop"), &dir.path().join("shop"));
    fs::write(dir.path().join("secret.yaml"), "a: b\n").unwrap();
    let template = dir.path().join("shop/templates/forged.yaml");
    fs::write(
        template,
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: forged}\n---\n\
         # Source: shop/../secret.yaml\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: too}\n",
    )
    .unwrap();
    let output = run(dir.path(), &["check", "--helm", "shop"]);
    let text = stdout(&output);
    assert!(
        text.contains("forged") && !text.contains("secret.yaml"),
        "{text}"
    );
}
