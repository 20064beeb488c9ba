//! Clusters in which something is broken: commands show the rest and report what is missing.

use crate::harness::manifests::DEAD_API;
use crate::harness::{Cluster, Said, eventually};

/// A policy kind whose conversion webhook is not available.
const BROKEN: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: brokenpolicies.trouble.example.com, labels: {gateway.networking.k8s.io/policy: Direct}}
spec:
  group: trouble.example.com
  scope: Namespaced
  names: {kind: BrokenPolicy, listKind: BrokenPolicyList, plural: brokenpolicies, singular: brokenpolicy}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
";

/// A second version, which becomes the storage version.
const CONVERTED: &str = r#"
  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {url: "https://127.0.0.1:1/convert"}
"#;

const BROKEN_POLICY: &str = "
apiVersion: trouble.example.com/v1
kind: BrokenPolicy
metadata: {name: broken, namespace: default}
spec: {targetRef: {group: '', kind: Service, name: kubernetes}}
";

/// Its singular name conflicts with another kind, so the API server does not serve it.
const UNSERVED: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: unservedpolicies.trouble.example.com, labels: {gateway.networking.k8s.io/policy: Direct}}
spec:
  group: trouble.example.com
  scope: Namespaced
  names: {kind: UnservedPolicy, listKind: UnservedPolicyList, plural: unservedpolicies, singular: brokenpolicy}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
";

const WELL: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: default}
spec:
  gatewayClassName: example
  listeners: [{name: http, protocol: HTTP, port: 80}]
---
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: edge-retries, namespace: default}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  retries: 3
";

#[test]
fn one_broken_kind_hides_no_other() {
    let Some(cluster) = Cluster::own("trouble") else {
        return;
    };
    let attache = |args: &str| cluster.attache(None).run(args.split(' '));
    apply(&cluster, WELL);
    let policies = attache("policies -A").ok();
    assert_eq!(policies.err, "", "{policies}");

    apply(&cluster, BROKEN);
    eventually("the kind is served", || {
        cluster
            .kubectl()
            .run_with(["apply", "-f", "-"], BROKEN_POLICY)
            .succeeded()
    });
    let converted = BROKEN.trim_end().replace("storage: true", "storage: false");
    apply(&cluster, &format!("{converted}{CONVERTED}"));
    apply(&cluster, UNSERVED);
    apply(&cluster, DEAD_API);
    let broken = "attache: incomplete: BrokenPolicy.trouble.example.com cannot be listed: conversion webhook for \
                  trouble.example.com/v1, Kind=BrokenPolicy failed";
    let policies = eventually("the conversion fails", || {
        attache("policies -A").ok().has_warned(broken)
    });
    let unserved = "attache: incomplete: UnservedPolicy.trouble.example.com cannot be listed: the API server \
                    does not serve it\n";
    let policies = policies.warns(unserved);
    assert_eq!(policies.err.lines().count(), 2, "{policies}");
    assert!(policies.out.contains("edge-retries"), "{policies}");
    attache("describe gateway/edge")
        .ok()
        .prints("retries   3   default/edge-retries")
        .warns(broken);
    attache("describe brokenpolicy/broken")
        .warns(broken)
        .fails(2);

    gateway_api_is_gone(&cluster);
}

/// Runs last: nothing works without Gateway API.
fn gateway_api_is_gone(cluster: &Cluster) {
    let attache = |args: &str| cluster.attache(None).run(args.split(' '));
    let kinds = [
        "gatewayclasses",
        "gateways",
        "listenersets",
        "referencegrants",
        "backendtlspolicies",
    ];
    let routes = [
        "httproutes",
        "grpcroutes",
        "tcproutes",
        "tlsroutes",
        "udproutes",
    ];
    let crds = kinds
        .iter()
        .chain(&routes)
        .map(|kind| format!("crd/{kind}.gateway.networking.k8s.io"));
    let crds: Vec<String> = crds.collect();
    let delete = ["delete", "--ignore-not-found"]
        .into_iter()
        .chain(crds.iter().map(String::as_str));
    cluster.kubectl().run(delete).ok();
    let gone =
        "attache: Gateway API is not installed in this cluster; there are only policy kinds: ";
    eventually("the kinds are gone", || {
        attache("policies -A").ok().has_warned(gone)
    });
    attache("describe httproute/cart").warns(gone);
}

fn apply(cluster: &Cluster, text: &str) {
    cluster.kubectl().run_with(["apply", "-f", "-"], text).ok();
}

/// `kubectl attache`, with the plugin on the PATH.
#[test]
fn a_plugin_of_kubectl() {
    let Some(cluster) = &*super::STATE else {
        return;
    };
    let kubectl = |args: &str| -> Said { cluster.kubectl_with_plugin().run(args.split(' ')) };
    kubectl("plugin list").ok().prints("kubectl-attache");
    kubectl("attache kinds")
        .ok()
        .prints("AccessPolicy.kinds.example.com");
    kubectl("attache describe httproute/cart -n shop")
        .ok()
        .prints("HTTPRoute shop/cart");
    kubectl("attache describe --help")
        .ok()
        .prints("Usage: kubectl attache describe")
        .prints("$ kubectl attache describe");
    kubectl("attache describe httproute/cart --context nope")
        .fails(2)
        .warns("has no context \"nope\"; there is \"attache\"");
    // The namespace of the context applies to objects without one.
    let kubectl = cluster.kubectl_with_plugin();
    let own = cluster.kubeconfig_in("shop");
    let own = own.to_str().expect("a path in UTF-8");
    kubectl
        .run(["attache", "describe", "httproute/cart", "--kubeconfig", own])
        .ok()
        .prints("HTTPRoute shop/cart");
}
