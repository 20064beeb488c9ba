//! A real API server accepts `manifests/`.

use std::path::Path;

use crate::harness::Cluster;
use crate::harness::manifests::switched_on;

const MANIFESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests");

#[test]
fn the_manifests_pass_a_server_side_dry_run() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    assert!(Path::new(MANIFESTS).is_dir(), "no {MANIFESTS}");
    let kubectl = cluster.kubectl();
    // A dry run stores nothing, so the namespace must exist already.
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

#[test]
fn the_components_pass_too_and_let_nobody_in_unseen() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let dir = cluster.dir().join("components");
    switched_on(&dir, &["network-policy", "client-certificates"]);
    let folder = dir.to_str().expect("a path in UTF-8");
    let kubectl = cluster.kubectl();
    let rendered = kubectl.run(["kustomize", folder]).ok();
    for line in [
        "        - --client-ca=/client-ca/ca.crt\n",
        "        - --client-subject=kube-apiserver\n",
        "kind: NetworkPolicy\n",
    ] {
        assert!(rendered.out.contains(line), "{rendered}");
    }
    // The namespace must exist already.
    let namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: attache-system}}";
    kubectl
        .run_with(["apply", "--server-side", "-f", "-"], namespace)
        .ok();
    let apply = ["apply", "--server-side", "--dry-run=server", "-k", folder];
    kubectl
        .run(apply)
        .ok()
        .silent_about("Warning")
        .prints("networkpolicy");
}
