//! Guardrails as objects of the cluster: what is refused, whom they tell, and what their status says.

use std::path::Path;
use std::sync::LazyLock;

use crate::harness::{Cluster, Said, TestSetup, eventually, fixture};

const GITOPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/gitops");

/// One cluster for these tests: guardrails are cluster-scoped, and other tests must not be asked about them.
static CLUSTER: LazyLock<Option<Cluster>> = LazyLock::new(|| {
    let cluster = Cluster::own("guardrails")?;
    cluster.install_guardrails();
    Some(cluster)
});

/// The Gateway `edge` with a policy of three retries, and the route `cart`.
struct Case {
    setup: TestSetup<'static>,
    /// The guardrail of the test: routes on `edge` need two retries.
    name: String,
    text: String,
}

impl Case {
    fn start(name: &str) -> Option<Self> {
        let setup = TestSetup::on(CLUSTER.as_ref()?, name);
        setup.apply("edge.yaml").ok();
        setup.apply("cart-route.yaml").ok();
        let text = fixture("guardrail.yaml").replace("routes-need-retries", name);
        Some(Self {
            setup,
            name: name.to_owned(),
            text,
        })
    }

    /// With the guardrail, which attache has seen.
    fn with_guardrail(name: &str) -> Option<Self> {
        let case = Self::start(name)?;
        case.setup.apply_text(&case.text).ok();
        case.counts("fulfilled", "1");
        Some(case)
    }

    /// Waits until the status of the guardrail has a number.
    fn counts(&self, field: &str, number: &str) {
        eventually(&format!("{field} is {number}"), || {
            let path = format!("jsonpath={{.status.{field}}}");
            let output = self
                .setup
                .kubectl(["get", "guardrail", &self.name, "-o", &path]);
            let is_so = output.out.trim() == number;
            is_so.then_some(()).ok_or(output.to_string())
        });
    }

    /// Attaches a policy to the route.
    fn retries(&self, name: &str, retries: u32) -> Said {
        self.setup.apply_text(&format!(
            "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {{name: {name}, namespace: shop}}
spec:
  targetRef: {{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}}
  retries: {retries}
"
        ))
    }
}

#[test]
fn a_policy_that_breaks_a_guardrail_is_refused_with_its_message() {
    let Some(case) = Case::with_guardrail("refusal") else {
        return;
    };
    case
        .retries("cart-once", 1)
        .fails(1)
        .warns(
            "guardrail: \"refusal\" is broken by HTTPRoute shop/cart through Gateway infra/edge listener http: \
             routes on the Gateway edge need two retries",
        );
    case.retries("cart-twice", 2).ok();
}

#[test]
fn the_last_policy_that_fulfils_a_guardrail_cannot_be_deleted() {
    let Some(case) = Case::with_guardrail("guardrail-delete") else {
        return;
    };
    let setup = &case.setup;
    let infra = setup.namespace("infra");
    let delete = ["delete", "retrypolicy", "edge-retries", "-n", &infra];
    setup
        .kubectl(delete)
        .fails(1)
        .warns("\"guardrail-delete\" is broken by HTTPRoute shop/cart");
    // Another policy fulfils it: the deletion passes.
    case.retries("cart-twice", 2).ok();
    eventually("the deletion passes", || setup.kubectl(delete).succeeded());
}

#[test]
fn a_label_of_a_namespace_cannot_take_routes_out_of_reach() {
    let Some(case) = Case::start("guardrail-labels") else {
        return;
    };
    let setup = &case.setup;
    // The guardrail applies to namespaces of the tier public, where shop is not.
    let text = case.text.replace(
        "    kinds: [HTTPRoute]\n",
        "    kinds: [HTTPRoute]\n    namespaceSelector: {matchLabels: {tier: public}}\n",
    );
    let text = text.replace("retries >= 2", "retries >= 5");
    setup.apply_text(&text).ok();
    case.counts("broken", "0");
    let shop = setup.namespace("shop");
    let label = [
        "label",
        "namespace",
        &shop,
        "tier=public",
        "--dry-run=server",
    ];
    eventually("the label is refused", || {
        let output = setup.kubectl(label);
        let wanted = "\"guardrail-labels\" is broken by HTTPRoute shop/cart";
        let is_so = output.code == 1 && output.err.contains(wanted);
        is_so.then_some(()).ok_or(output.to_string())
    });
}

#[test]
fn an_applied_guardrail_says_what_is_wrong_with_it_and_what_breaks_it() {
    let Some(case) = Case::start("guardrail-apply") else {
        return;
    };
    let setup = &case.setup;
    let text = &case.text;
    let strict = text.replace("retries >= 2", "retries >= 5");
    let warning = "Warning: guardrail: 1 of 1 targets break it now: HTTPRoute shop/cart\n";
    setup.warns_at_last_text(&strict, warning);
    setup.apply_text(&strict).ok().warns(warning);
    case.counts("broken", "1");
    setup
        .kubectl(["get", "guardrail", &case.name])
        .ok()
        .prints("NAME              ACTION   USABLE   FULFILLED   BROKEN   ERRORS   AGE")
        .prints("guardrail-apply   deny     True     0           1        0");
    setup
        .apply_text(&text.replace("effective.spec.retries >= 2", "effective.spec.retrys >= 2"))
        .warns("spec.rules[0].require: RetryPolicy has no field spec.retrys; did you mean \"retries\"?");
    setup
        .apply_text(&text.replace("has(effective", "has(efective"))
        .fails(1)
        .warns("spec.rules[0].require: guardrail: there is no variable \"efective\"");
    // The API server itself knows the schema.
    setup
        .apply_text(&text.replace("action: deny", "action: forbid"))
        .fails(1)
        .warns("spec.action: Unsupported value: \"forbid\"");
}

#[test]
fn only_users_that_a_guardrail_names_may_write_exceptions() {
    let Some(case) = Case::with_guardrail("guardrail-exceptions") else {
        return;
    };
    let setup = &case.setup;
    let annotated = fixture("cart-route.yaml").replace(
        "metadata: {name: cart, namespace: shop}",
        "metadata:\n  name: cart\n  namespace: shop\n  annotations: {attache.dev/guardrail-exceptions: \"guardrail-exceptions until 2099-12-31: it must fail fast\"}",
    );
    setup
        .apply_text(&annotated)
        .fails(1)
        .warns("only users that spec.exceptBy of \"guardrail-exceptions\" names may write an exception from it");
    setup
        .apply_text_with(
            &annotated,
            [
                "--as=ana",
                "--as-group=platform",
                "--as-group=system:masters",
            ],
        )
        .ok();
    case.counts("excepted", "1");
    case.retries("cart-once", 1).ok();
}

#[test]
fn the_commands_read_the_guardrails_of_the_cluster() {
    if Case::with_guardrail("guardrail-commands").is_none() {
        return;
    }
    let cluster = CLUSTER.as_ref().expect("it is there");
    let output = cluster.attache(None).run(["guardrails", "-A"]).ok();
    let wanted = "guardrail-commands     deny     1           0        0        0";
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        squeezed(&output.out).contains(&squeezed(wanted)),
        "{output}"
    );
}

#[test]
fn check_judges_by_the_guardrails_of_the_cluster() {
    let Some(case) = strict("guardrail-check") else {
        return;
    };
    let cluster = CLUSTER.as_ref().expect("it is there");
    let (attache, shop) = (cluster.attache(None), case.setup.namespace("shop"));
    let check = ["check", "--cluster", "-n", &shop];
    attache
        .run(check)
        .fails(1)
        .prints("/cart: deny guardrail: \"guardrail-check\" is broken through Gateway ");
    let sarif = attache.run(check.into_iter().chain(["-o", "sarif"]));
    sarif.fails(1).prints("guardrail-check");
}

/// A guardrail that only a policy of the route itself fulfils, and files with a new route and that policy.
fn strict(name: &str) -> Option<Case> {
    let case = Case::start(name)?;
    let text = case.text.replace("retries >= 2", "retries >= 5");
    case.setup.apply_text(&text).ok();
    case.counts("broken", "1");
    let files = Path::new(GITOPS).join("guarded");
    case.setup.bring_folder(&files, "guarded");
    Some(case)
}

/// Helm sends both at once, so the route may come before the policy that a guardrail requires on it. Helm goes on with
/// the others, and a second run succeeds.
#[test]
fn helm_gets_through_at_the_second_time_with_a_route_and_its_policy() {
    let (Some(case), Some(helm)) = (strict("guardrail-helm"), Cluster::program("helm")) else {
        return;
    };
    let setup = &case.setup;
    let user = setup.service_account();
    let (shop, infra) = (setup.namespace("shop"), setup.namespace("infra"));
    let chart = format!("{GITOPS}/guarded-chart");
    let gateway = format!("--set=gatewayNamespace={infra}");
    let helm = |args: &[&str]| {
        let args = args.iter().copied();
        setup.client(&helm, Some(&user), args.chain(["-n", &shop]))
    };
    let upgrade = ["upgrade", "--install", "news", &chart, &gateway];
    helm(&upgrade).fails(1).warns(
        "guardrail: \"guardrail-helm\" is broken by HTTPRoute shop/news through Gateway infra/edge listener http",
    );
    eventually("the policy is known", || helm(&upgrade).succeeded());
    case.counts("fulfilled", "1");
    // The route goes first here too.
    helm(&["uninstall", "news", "--debug"])
        .ok()
        .prints("release \"news\" uninstalled\n");
}

/// Flux dry-runs both before it applies anything. With the override for its service account and field manager, the
/// refusal is a warning, and the policy follows.
#[test]
fn flux_gets_a_warning_by_an_override_and_does_not_block_itself() {
    let (Some(case), Some(flux)) = (strict("guardrail-flux"), Cluster::program("flux")) else {
        return;
    };
    let setup = &case.setup;
    let user = setup.service_account();
    let files = ["guarded/route.yaml", "guarded/policy.yaml"];
    let output = setup.client(&flux, Some(&user), files).ok();
    assert_eq!(
        output.out,
        "HTTPRoute/shop/news created\nRetryPolicy/shop/news-retries created\n"
    );
    output.warns("is broken by HTTPRoute shop/news");
    case.counts("fulfilled", "1");
    // A person is refused.
    setup
        .kubectl(["delete", "-f", "guarded/policy.yaml"])
        .fails(1)
        .warns("\"guardrail-flux\" is broken by HTTPRoute shop/news");
}
