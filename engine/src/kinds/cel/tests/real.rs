//! Rules of real policy CRDs about their targets and related fields.

use super::{NO, YES, holds, say};

const ROUTES: &str = "['HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute']";

/// Checks the answer of a rule for a target of each kind, and for another kind.
fn kinds(rule: &str, this: &str, allowed: &[&str], refused: &[&str]) {
    for kind in allowed {
        assert_eq!(holds(rule, &this.replace('$', kind)), YES, "{rule}: {kind}");
    }
    for kind in refused.iter().chain(&["*"]) {
        assert_eq!(holds(rule, &this.replace('$', kind)), NO, "{rule}: {kind}");
    }
    let unknown = holds(rule, &this.replace('$', "?"));
    assert_eq!(unknown, None, "{rule}: unknown kind");
}

#[test]
fn kuadrant_names_the_kinds_of_its_target() {
    let this = r#"{"kind":"$"}"#;
    let rule = "self.kind == 'HTTPRoute' || self.kind == 'Gateway'";
    kinds(rule, this, &["HTTPRoute", "Gateway"], &["GRPCRoute"]);
    let rule = "self.kind == 'HTTPRoute' || self.kind == 'GRPCRoute' || self.kind == 'Gateway'";
    kinds(
        rule,
        this,
        &["HTTPRoute", "GRPCRoute", "Gateway"],
        &["TCPRoute"],
    );
    kinds("self.kind == 'Gateway'", this, &["Gateway"], &["HTTPRoute"]);
    let group = "self.group == 'gateway.networking.k8s.io'";
    kinds(
        group,
        r#"{"group":"$"}"#,
        &["gateway.networking.k8s.io"],
        &["", "core"],
    );
    say(this, &[(group, None)]);
}

#[test]
fn kuadrant_says_which_fields_stand_together() {
    for (rule, first, second) in [
        (
            "!(has(self.overrides) && has(self.defaults))",
            "overrides",
            "defaults",
        ),
        (
            "!(has(self.defaults) && has(self.overrides))",
            "defaults",
            "overrides",
        ),
        (
            "!(has(self.defaults) && has(self.limits))",
            "defaults",
            "limits",
        ),
        (
            "!(has(self.overrides) && has(self.limits))",
            "overrides",
            "limits",
        ),
        (
            "!(has(self.defaults) && (has(self.patterns) || has(self.when) || has(self.rules)))",
            "defaults",
            "rules",
        ),
        (
            "!(has(self.overrides) && (has(self.patterns) || has(self.when) || has(self.rules)))",
            "overrides",
            "when",
        ),
    ] {
        let both = format!(r#"{{"{first}":"?","{second}":"?"}}"#);
        let one = format!(r#"{{"{first}":"?"}}"#);
        let only = format!(r#"{{"{first}":"?","=":1}}"#);
        say(&both, &[(rule, NO)]);
        say(&one, &[(rule, None)]);
        say(&only, &[(rule, YES)]);
    }
}

#[test]
fn kuadrant_wants_settings_in_one_of_their_places() {
    let limits = "!(has(self.overrides) || has(self.defaults)) ? has(self.limits) && size(self.limits) > 0 : true";
    let overrides = "has(self.overrides) ? has(self.overrides.limits) && size(self.overrides.limits) > 0 : true";
    let defaults =
        "has(self.defaults) ? has(self.defaults.limits) && size(self.defaults.limits) > 0 : true";
    say("{}", &[(limits, None), (overrides, None), (defaults, None)]);
    say(
        r#"{"=":1}"#,
        &[(limits, NO), (overrides, YES), (defaults, YES)],
    );
    say(
        r#"{"limits":{"a":"?"},"overrides":{"limits":{"=":1}},"defaults":{"limits":{"a":"?"}}}"#,
        &[(limits, YES), (overrides, NO), (defaults, YES)],
    );
    say(r#"{"overrides":"?"}"#, &[(limits, YES), (overrides, None)]);
    say(r#"{"overrides":{"=":1}}"#, &[(overrides, NO)]);

    let rules = "!(has(self.overrides) || has(self.defaults)) ? has(self.rules) && ((has(self.rules.authentication) && size(self.rules.authentication) > 0) || (has(self.rules.metadata) && size(self.rules.metadata) > 0) || (has(self.rules.authorization) && size(self.rules.authorization) > 0) || (has(self.rules.response) && (has(self.rules.response.unauthenticated) || has(self.rules.response.unauthorized) || (has(self.rules.response.success) && (size(self.rules.response.success.headers) > 0 ||  size(self.rules.response.success.filters) > 0)))) || (has(self.rules.callbacks) && size(self.rules.callbacks) > 0)) : true";
    say("{}", &[(rules, None)]);
    say(r#"{"=":1}"#, &[(rules, NO)]);
    say(r#"{"defaults":"?"}"#, &[(rules, YES)]);
    say(r#"{"rules":{"=":1},"=":1}"#, &[(rules, NO)]);
    say(
        r#"{"rules":{"callbacks":{"a":"?"}},"=":1}"#,
        &[(rules, YES)],
    );
    say(
        r#"{"rules":{"response":{"unauthorized":"?"}},"=":1}"#,
        &[(rules, YES)],
    );
    say(
        r#"{"rules":{"response":{"success":{"filters":{"a":1}}}},"=":1}"#,
        &[(rules, YES)],
    );
}

#[test]
fn nginx_names_the_kinds_of_all_targets() {
    let (one, list) = (r#"{"kind":"$"}"#, r#"[{"kind":"$"}]"#);
    let three = ["Gateway", "HTTPRoute", "GRPCRoute"];
    for (rule, this, allowed) in [
        (
            "(self.kind=='Gateway' || self.kind=='HTTPRoute' || self.kind=='GRPCRoute')",
            one,
            &three[..],
        ),
        (
            "self.kind == 'Gateway' || self.kind == 'HTTPRoute'",
            one,
            &three[..2],
        ),
        ("self.all(ref, ref.kind=='Gateway')", list, &three[..1]),
        ("self.all(t, t.kind == 'Gateway')", list, &three[..1]),
        ("self.all(t, t.kind=='Service')", list, &["Service"]),
        (
            "self.all(t, t.kind == 'Gateway' || t.kind == 'HTTPRoute' || t.kind == 'GRPCRoute')",
            list,
            &three,
        ),
        (
            "self.all(t, t.kind=='Gateway' || t.kind=='HTTPRoute' || t.kind=='GRPCRoute')",
            list,
            &three,
        ),
        (
            "(self.exists(t, t.kind=='HTTPRoute') || self.exists(t, t.kind=='GRPCRoute'))",
            list,
            &three[1..],
        ),
    ] {
        kinds(rule, this, allowed, &["TCPRoute"]);
    }
    let (one, list) = (r#"{"group":"$"}"#, r#"[{"group":"$"}]"#);
    for (rule, this) in [
        ("(self.group=='gateway.networking.k8s.io')", one),
        (
            "self.all(ref, ref.group=='gateway.networking.k8s.io')",
            list,
        ),
        ("self.all(t, t.group=='gateway.networking.k8s.io')", list),
        ("self.all(t, t.group == 'gateway.networking.k8s.io')", list),
    ] {
        kinds(rule, this, &["gateway.networking.k8s.io"], &["core"]);
    }
    let core = "self.exists(t, t.group=='') || self.exists(t, t.group=='core')";
    kinds(core, list, &["", "core"], &["apps"]);
}

#[test]
fn one_target_of_a_kind_does_not_say_that_all_are() {
    let routes = "(self.exists(t, t.kind=='HTTPRoute') || self.exists(t, t.kind=='GRPCRoute'))";
    say(r#"[{"kind":"*"},"?"]"#, &[(routes, None)]);
    say(r#"[{"kind":"*"},{"kind":"GRPCRoute"}]"#, &[(routes, YES)]);
    say(r#"[{"kind":"*"},{"kind":"*"}]"#, &[(routes, NO)]);
    let gateways = "self.all(t, t.kind == 'Gateway')";
    say(r#"[{"kind":"Gateway"},"?"]"#, &[(gateways, None)]);
    say(r#"[{"kind":"*"},"?"]"#, &[(gateways, NO)]);
}

#[test]
fn nginx_wants_targets_of_one_sort() {
    let apart = "!(self.exists(t, t.kind == 'Gateway') && self.exists(t, t.kind == 'HTTPRoute' || t.kind == 'GRPCRoute'))";
    let same = "self.all(t1, self.all(t2, t1.kind == t2.kind))";
    say(
        r#"[{"kind":"Gateway"},{"kind":"HTTPRoute"}]"#,
        &[(apart, NO), (same, NO)],
    );
    say(
        r#"[{"kind":"GRPCRoute"},{"kind":"HTTPRoute"}]"#,
        &[(apart, YES), (same, NO)],
    );
    say(
        r#"[{"kind":"Gateway"},{"kind":"Gateway"}]"#,
        &[(apart, YES), (same, YES)],
    );
    say(
        r#"[{"kind":"Gateway"},{"kind":"*"}]"#,
        &[(apart, YES), (same, NO)],
    );
    say(
        r#"[{"kind":"Gateway"},"?"]"#,
        &[(apart, None), (same, None)],
    );
}

#[test]
fn a_target_may_be_named_once() {
    let a = r#"{"group":"g","kind":"K","name":"a"}"#;
    let b = r#"{"group":"g","kind":"K","name":"b"}"#;
    let any = r#"{"group":"g","kind":"K"}"#;
    for rule in [
        "self.all(t1, self.exists_one(t2, t1.group == t2.group && t1.kind == t2.kind && t1.name == t2.name))",
        "self.all(t1, self.exists_one(t2, t1.name == t2.name))",
        "self.all(p1, self.exists_one(p2, (p1.name == p2.name) && (p1.kind == p2.kind)))",
        "self.all(p1, self.exists_one(p2, (p1.name == p2.name)))",
        "self.all(p1, self.exists_one(p2, p1.name == p2.name))",
    ] {
        say(&format!("[{a},{a}]"), &[(rule, NO)]);
        say(&format!("[{a},{b}]"), &[(rule, YES)]);
        say(&format!("[{a},{any}]"), &[(rule, None)]);
        say("[]", &[(rule, YES)]);
    }
}

#[test]
fn gateway_api_distinguishes_sections_of_one_target() {
    let both_or_none = "self.all(p1, self.all(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name ? ((!has(p1.sectionName) || p1.sectionName == '') == (!has(p2.sectionName) || p2.sectionName == '')) : true))";
    let unique = "self.all(p1, self.exists_one(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && (((!has(p1.sectionName) || p1.sectionName == '') && (!has(p2.sectionName) || p2.sectionName == '')) || (has(p1.sectionName) && has(p2.sectionName) && p1.sectionName == p2.sectionName))))";
    let target = |other_members: &str| {
        format!(r#"{{"group":"g","kind":"K","name":"a"{other_members},"=":1}}"#)
    };
    let whole_object = target("");
    let empty = target(r#","sectionName":"""#);
    let http = target(r#","sectionName":"http""#);
    let https = target(r#","sectionName":"https""#);
    let other = whole_object.replace(r#""a""#, r#""b""#);
    let open = whole_object.replace(r#","=":1"#, "");
    for (first, second, together, apart) in [
        (&whole_object, &whole_object, YES, NO),
        (&whole_object, &empty, YES, NO),
        (&whole_object, &http, NO, YES),
        (&http, &http, YES, NO),
        (&http, &https, YES, YES),
        (&http, &other, YES, YES),
        (&http, &open, None, None),
        (&open, &other, None, None),
    ] {
        say(
            &format!("[{first},{second}]"),
            &[(both_or_none, together), (unique, apart)],
        );
    }
}

#[test]
fn envoy_gateway_lists_kinds_for_each_target_field() {
    let all = [
        "Gateway",
        "ListenerSet",
        "HTTPRoute",
        "GRPCRoute",
        "UDPRoute",
        "TCPRoute",
        "TLSRoute",
    ];
    let few = ["Gateway", "ListenerSet"];
    let some = [
        "Gateway",
        "ListenerSet",
        "HTTPRoute",
        "GRPCRoute",
        "TCPRoute",
    ];
    let (one, list) = (
        r#"{"targetRef":{"kind":"$"}}"#,
        r#"{"targetRefs":[{"kind":"$"}]}"#,
    );
    for (rule, this, allowed) in [
        (
            "has(self.targetRef) ? self.targetRef.kind in ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute'] : true",
            one,
            &all[..],
        ),
        (
            "has(self.targetRef) ? self.targetRef.kind in ['Gateway', 'ListenerSet'] : true",
            one,
            &few,
        ),
        (
            "has(self.targetRef) ? self.targetRef.kind in ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'TCPRoute'] : true",
            one,
            &some,
        ),
        (
            "has(self.targetRefs) ? self.targetRefs.all(ref, ref.kind in ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute']) : true ",
            list,
            &all,
        ),
        (
            "has(self.targetRefs) ? self.targetRefs.all(ref, ref.kind in ['Gateway', 'ListenerSet']) : true",
            list,
            &few,
        ),
        (
            "has(self.targetRefs) ? self.targetRefs.all(ref, ref.kind in ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'TCPRoute']) : true ",
            list,
            &some,
        ),
    ] {
        kinds(rule, this, allowed, &["Service"]);
        say("{}", &[(rule, None)]);
        say(r#"{"=":1}"#, &[(rule, YES)]);
    }
    let group = "gateway.networking.k8s.io";
    for (rule, this) in [
        (
            "has(self.group) ? self.group == 'gateway.networking.k8s.io' : true ",
            r#"{"group":"$"}"#,
        ),
        (
            "has(self.targetRef) ? self.targetRef.group == 'gateway.networking.k8s.io' : true ",
            r#"{"targetRef":{"group":"$"}}"#,
        ),
        (
            "has(self.targetRefs) ? self.targetRefs.all(ref, ref.group == 'gateway.networking.k8s.io') : true ",
            r#"{"targetRefs":[{"group":"$"}]}"#,
        ),
    ] {
        kinds(rule, this, &[group], &["", "apps"]);
    }
}

#[test]
fn envoy_gateway_requires_one_target_field() {
    let rule = "(has(self.targetRef) && !has(self.targetRefs)) || (!has(self.targetRef) && has(self.targetRefs)) || (has(self.targetSelectors) && self.targetSelectors.size() > 0) ";
    say(r#"{"targetRef":"?","targetRefs":"?"}"#, &[(rule, None)]);
    say(r#"{"targetRef":"?","targetRefs":"?","=":1}"#, &[(rule, NO)]);
    say(r#"{"targetRef":"?","=":1}"#, &[(rule, YES)]);
    say(r#"{"targetSelectors":["?"]}"#, &[(rule, YES)]);
    say(r#"{"targetSelectors":[],"=":1}"#, &[(rule, NO)]);
    say(r#"{"targetRef":"?"}"#, &[(rule, None)]);
}

#[test]
fn envoy_gateway_merges_on_some_kinds_only() {
    let routes = "!has(self.mergeType) || ((!has(self.targetRef) || self.targetRef.kind in ['HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute']) && (!has(self.targetRefs) || self.targetRefs.all(ref, ref.kind in ['HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute'])) && (!has(self.targetSelectors) || self.targetSelectors.all(sel, sel.kind in ['HTTPRoute', 'GRPCRoute', 'UDPRoute', 'TCPRoute', 'TLSRoute'])))";
    let fewer = routes.replace(ROUTES, "['HTTPRoute', 'GRPCRoute', 'TCPRoute']");
    let admission = routes.replace("mergeType", "admissionControl").replace(
        ROUTES,
        "['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute']",
    );
    for target in [
        r#""targetRef":{"kind":"$"}"#,
        r#""targetRefs":[{"kind":"$"}]"#,
        r#""targetSelectors":[{"kind":"$"}]"#,
    ] {
        let merged = format!(r#"{{{target},"mergeType":"?","=":1}}"#);
        kinds(routes, &merged, &["HTTPRoute", "UDPRoute"], &["Gateway"]);
        kinds(&fewer, &merged, &["HTTPRoute", "TCPRoute"], &["UDPRoute"]);
        let controlled = format!(r#"{{{target},"admissionControl":"?","=":1}}"#);
        kinds(
            &admission,
            &controlled,
            &["Gateway", "GRPCRoute"],
            &["TCPRoute"],
        );
        // It is unknown whether the policy merges, and which other targets it has.
        let gateway = format!("{{{target}}}").replace('$', "Gateway");
        say(&gateway, &[(routes, None), (&fewer, None)]);
        let merged = gateway.replace("}}", r#"},"mergeType":"?"}"#);
        let merged = merged.replace("}]}", r#"}],"mergeType":"?"}"#);
        say(&merged, &[(routes, NO), (&fewer, NO)]);
        say(
            &merged.replace("Gateway", "TCPRoute"),
            &[(routes, None), (&fewer, None)],
        );
    }
    say(
        r#"{"targetRef":{"kind":"Gateway"},"=":1}"#,
        &[(routes, YES), (&admission, YES)],
    );
}

#[test]
fn istio_counts_the_target_fields() {
    let three = "(has(self.selector) ? 1 : 0) + (has(self.targetRef) ? 1 : 0) + (has(self.targetRefs) ? 1 : 0) <= 1";
    let two = "(has(self.selector) ? 1 : 0) + (has(self.targetRefs) ? 1 : 0) <= 1";
    say(
        r#"{"selector":"?","targetRefs":"?"}"#,
        &[(three, NO), (two, NO)],
    );
    say(r#"{"selector":"?"}"#, &[(three, None), (two, None)]);
    say(r#"{"selector":"?","=":1}"#, &[(three, YES), (two, YES)]);
    say("{}", &[(three, None), (two, None)]);
    let workloads = "(has(self.workloadSelector) ? 1 : 0) + (has(self.targetRefs) ? 1 : 0) <= 1";
    say(
        r#"{"workloadSelector":"?","targetRefs":"?"}"#,
        &[(workloads, NO)],
    );
}

#[test]
fn apisix_names_kind_and_group() {
    let service = "self.kind == 'Service' && self.group == \"\"";
    say(r#"{"kind":"Service","group":""}"#, &[(service, YES)]);
    say(r#"{"kind":"Service"}"#, &[(service, None)]);
    say(r#"{"kind":"*"}"#, &[(service, NO)]);
    say(r#"{"group":"*"}"#, &[(service, NO)]);
    let list = r#"[{"kind":"$","group":"g"}]"#;
    let l4 = "self.all(r, r.kind == 'TCPRoute' || r.kind == 'UDPRoute' || r.kind == 'TLSRoute')";
    kinds(
        l4,
        list,
        &["TCPRoute", "UDPRoute", "TLSRoute"],
        &["HTTPRoute"],
    );
    let group = "self.all(r, r.group == 'gateway.networking.k8s.io')";
    say(list, &[(group, NO)]);
}

#[test]
fn kong_targets_by_scope() {
    let only = "self.scope == 'OnlyTargets' ? has(self.targets) && (has(self.targets.routeRef) || has(self.targets.serviceRef) || has(self.targets.consumerRef) || has(self.targets.consumerGroupRef)) : true";
    let global = "self.scope == 'GlobalInControlPlane' ? !has(self.targets) : true";
    say(
        r#"{"scope":"OnlyTargets","targets":{"serviceRef":"?"}}"#,
        &[(only, YES), (global, YES)],
    );
    say(
        r#"{"scope":"OnlyTargets","=":1}"#,
        &[(only, NO), (global, YES)],
    );
    say(
        r#"{"scope":"GlobalInControlPlane","targets":"?"}"#,
        &[(only, YES), (global, NO)],
    );
    say(
        r#"{"scope":"?","targets":"?"}"#,
        &[(only, None), (global, None)],
    );
    say("{}", &[(only, None), (global, None)]);
}

#[test]
fn other_rules_are_read_as_far_as_they_are_known() {
    say(
        r#"{"targetRefs":[{"kind":"*","name":"a"}]}"#,
        &[
            (
                "self.targetRefs.all(r, !r.kind.endsWith('ListenerSet'))",
                None,
            ),
            ("self.targetRefs.all(r, !has(r.sectionName))", None),
            ("self.targetRefs.all(r, r.name.size() == 0)", NO),
        ],
    );
    let forbidden = "self.all(r, !has(r.sectionName) || size(r.sectionName) == 0)";
    say(r#"[{"sectionName":"x"}]"#, &[(forbidden, NO)]);
    say(r#"[{"sectionName":"*"}]"#, &[(forbidden, NO)]);
    say(r#"[{"=":1}]"#, &[(forbidden, YES)]);
}
