//! Runs helm and kubectl.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The directory of the repository.
pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(super) fn chart() -> PathBuf {
    root().join("charts/attache")
}

pub(super) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether golden files should be written.
pub(super) fn blesses() -> bool {
    env::var_os("ATTACHE_BLESS").is_some()
}

/// Whether helm is here. Says so if not.
pub(super) fn has_helm() -> bool {
    has("helm", &["version"], "ATTACHE_REQUIRE_HELM")
}

/// Whether kubectl can build kustomizations here. Says so if not.
pub(super) fn has_kustomize() -> bool {
    has(
        "kubectl",
        &["kustomize", "--help"],
        "ATTACHE_REQUIRE_KUSTOMIZE",
    )
}

fn has(program: &str, args: &[&str], required: &str) -> bool {
    let output = Command::new(program).args(args).output();
    let there = output.is_ok_and(|output| output.status.success());
    assert!(
        there || env::var_os(required).is_none(),
        "{program} is not on the PATH"
    );
    if !there {
        eprintln!("SKIPPED: {program} is not on the PATH");
    }
    there
}

/// Runs helm on this machine alone, whatever kubeconfig it has.
pub(super) fn helm(args: &[&str]) -> Output {
    let output = Command::new("helm")
        .args(args)
        .env("KUBECONFIG", "/dev/null")
        .output();
    output.expect("helm runs")
}

/// The output of a program; fails the test unless the program succeeded.
#[track_caller]
pub(super) fn printed(output: Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    String::from_utf8(output.stdout).unwrap()
}
