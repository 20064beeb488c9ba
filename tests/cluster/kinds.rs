//! Policy kinds appear and disappear while attache runs.

use crate::harness::{Attache, Cluster, TestSetup, eventually, retry_policy_crd};

const AFFECTED: &str = "affected-by: LimitPolicy.late.example.com infra/edge-limits";

/// The CRD of `RetryPolicy` under another name and group, with the label and without a profile.
pub(crate) fn late_crd() -> String {
    retry_policy_crd()
        .replace("RetryPolicy", "LimitPolicy")
        .replace("retrypolic", "limitpolic")
        .replace("policies.example.com", "late.example.com")
}

/// A CRD whose label contradicts its strategies.
pub(crate) fn mislabelled_crd() -> String {
    late_crd()
        .replace("LimitPolicy", "LabelPolicy")
        .replace("limitpolic", "labelpolic")
        .replace("late.example.com", "label.example.com")
        .replace(
            "gateway.networking.k8s.io/policy: inherited",
            "gateway.networking.k8s.io/policy: direct",
        )
}

const LIMITS: &str = "
apiVersion: late.example.com/v1
kind: LimitPolicy
metadata: {name: edge-limits, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  retries: 9
";

#[test]
fn a_kind_that_is_installed_and_removed() {
    let Some(setup) = TestSetup::start("kinds") else {
        return;
    };
    setup.apply("edge.yaml").ok();
    setup.warns_at_last(
        "cart-route.yaml",
        "affected-by: RetryPolicy.policies.example.com",
    );
    setup
        .apply("cart-route.yaml")
        .ok()
        .silent_about("LimitPolicy");

    setup.apply_text(&late_crd()).ok();
    established(&setup, "limitpolicies.late.example.com");
    eventually("a policy of the new kind is created", || {
        created(&setup, LIMITS)
    });
    setup.warns_at_last("shoes-route.yaml", AFFECTED);

    setup
        .kubectl(["delete", "crd", "limitpolicies.late.example.com"])
        .ok();
    eventually("the kind is forgotten", || {
        let output = setup.kubectl(["apply", "--dry-run=server", "-f", "shoes-route.yaml"]);
        if output.code == 0 && !output.err.contains("LimitPolicy") {
            Ok(())
        } else {
            Err(output.to_string())
        }
    });

    setup.apply_text(&late_crd()).ok();
    established(&setup, "limitpolicies.late.example.com");
    eventually("a policy of the kind is created again", || {
        created(&setup, LIMITS)
    });
    setup.warns_at_last("shoes-route.yaml", AFFECTED);
}

/// The kind in its first version: targets without sections, any strategy.
pub(crate) fn early_crd() -> String {
    "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: wastepolicies.growing.example.com}
spec:
  group: growing.example.com
  scope: Namespaced
  names: {kind: WastePolicy, singular: wastepolicy, plural: wastepolicies}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              targetRef: {type: object, required: [group, kind, name], properties: {group: {type: string}, kind: {type: string}, name: {type: string}}}
              bins: {type: integer}
"
    .to_owned()
}

/// With a second version, which becomes the storage version: a list of targets with sections, only Gateways.
fn grown_crd() -> String {
    let second = r#"
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              targetRefs:
                type: array
                maxItems: 16
                x-kubernetes-validations: [{rule: "self.all(t, t.kind == 'Gateway' && t.group == 'gateway.networking.k8s.io')"}]
                items: {type: object, required: [group, kind, name], properties: {group: {type: string, maxLength: 253}, kind: {type: string, maxLength: 63}, name: {type: string}, sectionName: {type: string}}}
              bins: {type: integer}
"#;
    let first = early_crd().replace("storage: true", "storage: false");
    format!("{}{second}", first.trim_end())
}

const BINS: &str = "
apiVersion: growing.example.com/v1alpha1
kind: WastePolicy
metadata: {name: bins, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  bins: 3
";

const MORE_BINS: &str = "
apiVersion: growing.example.com/v1
kind: WastePolicy
metadata: {name: more-bins, namespace: infra}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge, sectionName: SECTION}]
  bins: 4
";

/// `v1alpha1` with `targetRef`, then `v1` with `targetRefs`, while attache runs.
#[test]
fn a_kind_that_is_upgraded() {
    let Some(setup) = TestSetup::start("upgraded") else {
        return;
    };
    setup.apply("edge.yaml").ok();
    setup.apply_text(&early_crd()).ok();
    established(&setup, "wastepolicies.growing.example.com");
    eventually("a policy of the first version is created", || {
        created(&setup, BINS)
    });
    let warning = "affected-by: WastePolicy.growing.example.com infra/bins sets bins=3";
    setup.warns_at_last("cart-route.yaml", warning);

    setup.apply_text(&grown_crd()).ok();
    eventually("a policy of the second version is created", || {
        created(&setup, &MORE_BINS.replace("SECTION", "http"))
    });
    eventually("a section of the second version is refused", || {
        let output = setup.apply_text(
            &MORE_BINS
                .replace("more-bins", "typo")
                .replace("SECTION", "htpp"),
        );
        if output.code == 1 && output.err.contains("did you mean \"http\"?") {
            Ok(())
        } else {
            Err(output.to_string())
        }
    });
}

/// Waits until the API server serves a kind.
fn established(setup: &TestSetup<'_>, definition: &str) {
    let definition = format!("crd/{definition}");
    let args = ["wait", "--for=condition=Established", &definition];
    setup.kubectl(args).ok();
}

fn created(setup: &TestSetup<'_>, policy: &str) -> Result<(), String> {
    setup.apply_text(policy).succeeded()
}

#[test]
fn the_kinds_of_a_cluster_and_what_is_known_of_each() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let table = Attache::kinds(cluster, &[]);
    let row = |kind: &str| {
        let mut rows = table.lines();
        rows.find(|row| row.starts_with(kind))
            .unwrap_or_default()
            .to_owned()
    };
    let retries = row("RetryPolicy.policies.example.com");
    assert!(retries.contains("inherited (config)"), "{table}");
    assert!(retries.contains("AtomicDefaults"), "{table}");
    let tls = row("BackendTLSPolicy.gateway.networking.k8s.io");
    if cluster.is_without("backendtlspolicies.gateway.networking.k8s.io") {
        assert_eq!(tls, "", "{table}");
        return;
    }
    assert!(tls.contains("direct (builtin)"), "{table}");

    let details = Attache::kinds(cluster, &["backendtlspolicy"]);
    assert!(details.contains("Namespaced)"), "{details}");
    // Another kind has the same name.
    let has = |wanted: &[&str]| {
        let mut lines = details.lines().map(str::split_whitespace);
        lines.any(|words| words.take(wanted.len()).eq(wanted.iter().copied()))
    };
    assert!(has(&["targets.refs", "crd"]), "{details}");
    assert!(has(&["status.maxAncestors", "crd", "16"]), "{details}");
}
