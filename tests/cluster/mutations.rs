//! Mutated objects under `kubectl apply`: the original manifest can be applied again and again.

use serde_json::Value;

use crate::harness::{TestSetup, eventually};

/// The stored object, without the time of its last write.
fn stored(setup: &TestSetup<'_>, object: &str) -> Value {
    let infra = setup.namespace("infra");
    let args = ["get", "-n", &infra, object, "-o", "json"];
    let output = setup.kubectl(args).ok();
    serde_json::from_str(&output.out).unwrap()
}

fn version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap()
}

/// Applies a manifest again and diffs it, client-side or server-side: nothing is stored, and there is no conflict.
fn holds_still(setup: &TestSetup<'_>, manifest: &str, object: &str, server_side: bool) -> Value {
    let more: &[&str] = if server_side { &["--server-side"] } else { &[] };
    let apply = || setup.apply_text_with(manifest, more.iter().copied());
    apply().ok();
    let first = stored(setup, object);
    for _ in 0..2 {
        apply().ok().silent_about("conflict");
        let again = stored(setup, object);
        assert_eq!(version(&again), version(&first), "{again:#}");
    }
    let diff = setup.diff_text(manifest, more.iter().copied());
    assert!(diff.code == 0 && diff.out.is_empty(), "{diff}");
    first
}

fn policy(kind: &str, name: &str, targets: &str, settings: &str) -> String {
    let group = match kind {
        "RetryPolicy" => "policies.example.com",
        _ => "policies.controller.io",
    };
    format!(
        "
apiVersion: {group}/v1
kind: {kind}
metadata: {{namespace: infra, name: {name}}}
spec: {{{targets}, {settings}}}
"
    )
}

const KEY: &str = "policies.controller.io/ColorPolicyAffected";
const VERSIONED: &str = "{group: gateway.networking.k8s.io/v1, kind: gateway, name: edge}";
const EDGE: &str = "{group: gateway.networking.k8s.io, kind: Gateway, name: edge}";

#[test]
fn normalized_targets_are_stable() {
    let Some(setup) = TestSetup::mutating("mended", "normalize-targets: true") else {
        return;
    };
    for (kind, name, server_side, settings) in [
        ("ColorPolicy", "client", false, "color: blue"),
        ("ColorPolicy", "server", true, "color: blue"),
        ("ShadePolicy", "client", false, "shade: dark"),
    ] {
        let manifest = policy(kind, name, &format!("targetRefs: [{VERSIONED}]"), settings);
        let object = format!("{kind}/{name}");
        let found = holds_still(&setup, &manifest, &object, server_side);
        let mended: Value = serde_saphyr::from_str(EDGE).unwrap();
        assert_eq!(found["spec"]["targetRefs"], serde_json::json!([mended]));
    }
}

#[test]
fn a_defaulted_strategy_is_stable() {
    let Some(setup) = TestSetup::mutating("written", "default-strategy: true") else {
        return;
    };
    for (name, server_side) in [("client", false), ("server", true)] {
        let target = format!("targetRef: {EDGE}");
        let manifest = policy("RetryPolicy", name, &target, "retries: 3");
        let object = format!("retrypolicy/{name}");
        let found = holds_still(&setup, &manifest, &object, server_side);
        assert_eq!(found["spec"]["mergeStrategy"], "AtomicDefaults");
        // A manifest with another strategy gets it; one that drops it keeps it or gets the assumed one.
        let other = policy(
            "RetryPolicy",
            name,
            &target,
            "retries: 3, mergeStrategy: PatchDefaults",
        );
        let found = holds_still(&setup, &other, &object, server_side);
        assert_eq!(found["spec"]["mergeStrategy"], "PatchDefaults");
        let found = holds_still(&setup, &manifest, &object, server_side);
        assert_eq!(found["spec"]["mergeStrategy"], "AtomicDefaults");
    }
}

#[test]
fn the_annotation_of_a_secret_is_added_removed_and_stable() {
    let Some(setup) = TestSetup::mutating("annotated", "affected-annotation: true") else {
        return;
    };
    let infra = setup.namespace("infra");
    for (name, server_side) in [("client", false), ("server", true)] {
        let manifest = format!(
            "
apiVersion: v1
kind: Secret
metadata: {{namespace: infra, name: {name}, annotations: {{note: mine}}}}
stringData: {{key: value}}
"
        );
        let more: &[&str] = if server_side { &["--server-side"] } else { &[] };
        let apply = || setup.apply_text_with(&manifest, more.iter().copied()).ok();
        let object = format!("secret/{name}");
        apply();
        let annotations = |object: &Value| object["metadata"]["annotations"].clone();
        assert_eq!(annotations(&stored(&setup, &object))[KEY], Value::Null);

        let target = format!("targetRefs: [{{group: '', kind: Secret, name: {name}}}]");
        let color = policy("ColorPolicy", name, &target, "color: blue");
        setup.apply_text(&color).ok();
        // The annotation appears at the next write of the Secret; a label causes one.
        let label = |what: &str| {
            let args = ["label", "--overwrite", "-n", &infra, &object, what];
            setup.kubectl(args).ok();
        };
        let mut writes = 0;
        let mut until = |what: &str, expected: Value| {
            eventually(what, || {
                writes += 1;
                label(&format!("write=n{writes}"));
                let found = annotations(&stored(&setup, &object));
                let there = found[KEY] == expected && found["note"] == "mine";
                if there {
                    Ok(())
                } else {
                    Err(found.to_string())
                }
            });
        };
        until("the annotation comes", "true".into());
        let found = holds_still(&setup, &manifest, &object, server_side);
        assert_eq!(annotations(&found)[KEY], "true");
        setup
            .kubectl(["delete", "-n", &infra, &format!("colorpolicy/{name}")])
            .ok();
        until("the annotation goes", Value::Null);
        let found = holds_still(&setup, &manifest, &object, server_side);
        assert_eq!(annotations(&found)["note"], "mine");
    }
}

#[test]
fn separately_applied_entries_are_not_normalized() {
    let Some(setup) = TestSetup::mutating("keyed", "normalize-targets: true") else {
        return;
    };
    // If it were mutated, the first entry would have no owner and stay when the manifest drops it.
    let other = "{group: gateway.networking.k8s.io, kind: Gateway, name: other}";
    let targets = format!("targetRefs: [{VERSIONED}, {other}]");
    let manifest = policy("ShadePolicy", "keyed", &targets, "shade: dark");
    let output = setup.apply_text_with(&manifest, ["--server-side"]);
    assert_ne!(output.code, 0, "{output}");
    output.warns("target-group-versioned");
    // Client-side apply replaces the list.
    setup.apply_text(&manifest).ok();
    let targets = format!("targetRefs: [{other}]");
    let manifest = policy("ShadePolicy", "keyed", &targets, "shade: dark");
    setup.apply_text(&manifest).ok();
    let found = stored(&setup, "shadepolicy/keyed");
    assert_eq!(found["spec"]["targetRefs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_reference_that_was_moved_follows_its_manifest() {
    let Some(setup) = TestSetup::mutating("moved", "migrate-target-ref: true") else {
        return;
    };
    for (name, server_side) in [("client", false), ("server", true)] {
        for target in [EDGE, &EDGE.replace("edge", "other")] {
            let manifest = policy(
                "TintPolicy",
                name,
                &format!("targetRef: {target}"),
                "tint: red",
            );
            let found = holds_still(
                &setup,
                &manifest,
                &format!("tintpolicy/{name}"),
                server_side,
            );
            let target: Value = serde_saphyr::from_str(target).unwrap();
            assert_eq!(found["spec"]["targetRefs"], serde_json::json!([target]));
            assert_eq!(found["spec"]["targetRef"], Value::Null);
        }
    }
}

/// `ShadePolicy` controls a field of Services that every API server has.
const CONTROLS: &str = "- match: {group: policies.controller.io, kind: ShadePolicy}
  controls:
  - {setting: shade, target: {group: '', kind: Service}, field: spec.trafficDistribution}
mutations: {project-fields: true}
";

#[test]
fn a_projected_field_is_stable_and_removed_with_its_policy() {
    let Some(setup) = TestSetup::configured("projected", CONTROLS) else {
        return;
    };
    setup.apply("edge.yaml").ok();
    for (name, server_side) in [("client", false), ("server", true)] {
        let more: &[&str] = if server_side { &["--server-side"] } else { &[] };
        let manifest = |port: &str| {
            format!(
                "
apiVersion: v1
kind: Service
metadata: {{namespace: infra, name: {name}}}
spec: {{ports: [{{name: {port}, port: 80}}]}}
"
            )
        };
        let object = format!("service/{name}");
        let service = format!("{{group: '', kind: Service, name: {name}}}");
        let shade = policy(
            "ShadePolicy",
            name,
            &format!("targetRefs: [{service}]"),
            "shade: PreferClose",
        );
        setup.apply_text(&shade).ok();
        let field = |found: &Value| found["spec"]["trafficDistribution"].clone();
        // attache sees the policy only after its watch does, so each write must differ.
        let mut tries = 0..;
        eventually("the field is filled in", || {
            let port = format!("a{}", tries.next().unwrap());
            setup
                .apply_text_with(&manifest(&port), more.iter().copied())
                .ok();
            let found = stored(&setup, &object);
            if field(&found) == "PreferClose" {
                Ok(())
            } else {
                Err(found.to_string())
            }
        });
        let found = holds_still(&setup, &manifest("b"), &object, server_side);
        assert_eq!(field(&found), "PreferClose");
        assert!(found["metadata"]["annotations"]["attache.dev/projected"].is_string());

        let infra = setup.namespace("infra");
        setup
            .kubectl(["delete", "-n", &infra, &format!("shadepolicy/{name}")])
            .ok();
        eventually("the field goes with its policy", || {
            let port = format!("c{}", tries.next().unwrap());
            setup
                .apply_text_with(&manifest(&port), more.iter().copied())
                .ok();
            let found = stored(&setup, &object);
            if field(&found).is_null() {
                Ok(())
            } else {
                Err(found.to_string())
            }
        });
    }
}
