//! `manifests/` is what a real API server accepts.

use std::path::Path;

use crate::harness::Cluster;

const MANIFESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests");

#[test]
fn the_manifests_pass_a_server_side_dry_run() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    assert!(Path::new(MANIFESTS).is_dir(), "no {MANIFESTS}");
    let kubectl = cluster.kubectl();
    // A dry run keeps nothing, so what stands in the namespace needs it to be there already.
    let rendered = kubectl.run(["kustomize", MANIFESTS]).ok().out;
    let namespaces: Vec<&str> = rendered
        .split("\n---\n")
        .filter(|object| object.lines().any(|line| line == "kind: Namespace"))
        .collect();
    assert!(!namespaces.is_empty(), "no Namespace in\n{rendered}");
    kubectl
        .run_with(
            ["apply", "--server-side", "-f", "-"],
            &namespaces.join("\n---\n"),
        )
        .ok();
    kubectl
        .run([
            "apply",
            "--server-side",
            "--dry-run=server",
            "-k",
            MANIFESTS,
        ])
        .ok()
        .silent_about("Warning")
        .prints("serverside-applied (server dry run)");
}
