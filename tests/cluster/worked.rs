//! Worked examples from the proposals, as users of `kubectl` see them.

use crate::harness::{TestSetup, eventually};

const COLOR: &str = "ColorPolicy.policies.controller.io";

#[test]
fn a_policy_by_name_says_what_it_reaches_and_the_route_says_by_whom() {
    let Some(setup) = TestSetup::start("by-name") else {
        return;
    };
    setup.apply("example-2.yaml").ok();
    let policy = color(
        "my-color-policy",
        "gateway.networking.k8s.io",
        "color: blue",
    );
    setup.warns_at_last_text(
        &policy,
        "Warning: affects: 2 Services: infra/b1, infra/b2\n",
    );
    setup.apply_text(&policy).ok();
    let sets = format!(
        "Warning: affected-by: {COLOR} infra/my-color-policy sets color=blue (Gateway infra/g2)\n"
    );
    setup.warns_at_last_text(&route("r5"), &sets);
    setup
        .apply_text(&color(
            "versioned",
            "gateway.networking.k8s.io/v1",
            "color: red",
        ))
        .warns(
            "The ColorPolicy \"versioned\" is invalid: spec.targetRefs[0].group: \
             target-group-versioned: \"gateway.networking.k8s.io/v1\" has a version in it; a group \
             has none: write \"gateway.networking.k8s.io\"\n",
        );
}

#[test]
fn example_2_of_gep_713() {
    let Some(setup) = TestSetup::start("example-2") else {
        return;
    };
    setup.apply("example-2.yaml").ok();
    setup.apply("example-2-policies.yaml").ok();
    let beaten = format!(
        "Warning: overridden: it has no effect on HTTPRoute infra/r4: overridden by {COLOR} infra/p3, which sets color=yellow (Gateway infra/g2)\n"
    );
    setup.warns_at_last("example-2-p4.yaml", &beaten);
    setup.apply("example-2-p4.yaml").ok().warns(&beaten);
    // p4 comes into force where p3 is deleted; one of the 2 Services is left without a policy.
    says_of_deletion(
        &setup,
        "colorpolicy/p3",
        &format!("Warning: effective-change: {COLOR} on 2 Services: infra/b1, infra/b2\n"),
    );
    says_of_deletion(
        &setup,
        "colorpolicy/p1",
        &format!(
            "Warning: effective-change: {COLOR} on Service infra/b1, 1 of 3 paths: color=red -> \
             none (no policy replaces it)\n"
        ),
    );
}

#[test]
fn a_section_policy_affects_only_its_routes() {
    let Some(setup) = TestSetup::start("section") else {
        return;
    };
    setup.apply_text(TWO_LISTENERS).ok();
    let through = |section: &str| {
        format!(
            "
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{namespace: infra, name: through-{section}}}
spec: {{parentRefs: [{{name: two, sectionName: {section}}}], rules: [{{}}]}}
"
        )
    };
    let sets = "Warning: affected-by: RetryPolicy.policies.example.com infra/on-https sets retries=3 \
                (Gateway infra/two listener https)\n";
    setup.warns_at_last_text(&through("https"), sets);
    setup
        .apply_text(&through("http"))
        .ok()
        .silent_about("affected-by");
}

#[test]
fn deleting_a_namespace_policy_names_its_three_routes() {
    let Some(setup) = TestSetup::start("baker") else {
        return;
    };
    setup.apply("baker.yaml").ok();
    let policy = format!(
        "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {{namespace: shop, name: patience}}
spec: {{targetRef: {{group: '', kind: Namespace, name: {}}}, retries: 2}}
",
        setup.namespace("shop")
    );
    let three = "3 HTTPRoutes: shop/bread, shop/cake, shop/pie";
    setup.warns_at_last_text(&policy, &format!("Warning: affects: {three}\n"));
    setup.apply_text(&policy).ok();
    let sets = "Warning: affected-by: RetryPolicy.policies.example.com shop/patience sets retries=2 \
                (Namespace shop)\n";
    setup.warns_at_last_text(BUN, sets);
    let change = format!(
        "Warning: effective-change: RetryPolicy.policies.example.com on {three}: retries=2 -> none \
         (no policy replaces it)\n"
    );
    let shop = setup.namespace("shop");
    let args = [
        "delete",
        "--dry-run=server",
        "-n",
        &shop,
        "retrypolicy/patience",
    ];
    eventually(&change, || setup.kubectl(args).has_warned(&change));
}

/// The first warning that a user sees who deletes an object in `infra`.
fn says_of_deletion(setup: &TestSetup<'_>, name: &str, warning: &str) {
    let infra = setup.namespace("infra");
    let args = ["delete", "--dry-run=server", "-n", &infra, name];
    eventually(warning, || setup.kubectl(args).has_warned(warning));
}

fn color(name: &str, group: &str, spec: &str) -> String {
    format!(
        "
apiVersion: policies.controller.io/v1
kind: ColorPolicy
metadata: {{namespace: infra, name: {name}}}
spec: {{targetRefs: [{{group: {group}, kind: Gateway, name: g2}}], {spec}}}
"
    )
}

fn route(name: &str) -> String {
    format!(
        "
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{namespace: infra, name: {name}}}
spec: {{parentRefs: [{{name: g2}}], rules: [{{backendRefs: [{{name: b2, port: 80}}]}}]}}
"
    )
}

const TWO_LISTENERS: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {namespace: infra, name: two}
spec:
  gatewayClassName: example
  listeners:
  - {name: http, port: 80, protocol: HTTP}
  - {name: https, port: 8443, protocol: HTTP}
---
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {namespace: infra, name: on-https}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: two, sectionName: https}
  retries: 3
";

const BUN: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: shop, name: bun}
spec: {parentRefs: [{namespace: infra, name: edge}], rules: [{}]}
";
