//! The policies that apply to an object, in its status: beside a controller that writes there too.

mod controller;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use self::controller::{CONTROLLER, Controller};
use crate::harness::manifests::{collect_policies, service_account};
use crate::harness::{Attache, Cluster, TestSetup, eventually};

const MANIFESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests");
/// The manifests of the rights that attache needs, and nothing else.
const RIGHTS: [&str; 5] = [
    "base/namespace.yaml",
    "base/service-account.yaml",
    "base/rbac.yaml",
    "base/rbac-policies.yaml",
    "status-writer/rbac.yaml",
];
/// The name of attache in `status.parents`.
const ATTACHE: &str = "attache.dev/status-writer";
/// The condition for the policy of edge.yaml.
const AFFECTED: &str = "example.com/RetryPolicyAffected";
/// Several passes of attache, in which nothing may be written.
const PASSES: Duration = Duration::from_secs(8);
/// A deadline for what takes longer than other things.
const LONG: Duration = Duration::from_mins(4);
/// Routes of a large Gateway.
const ROUTES: usize = 1_000;

/// A cluster in which attache has the rights of the manifests.
fn cluster(name: &str) -> Option<Cluster> {
    let cluster = Cluster::own(name)?;
    let kubectl = cluster.kubectl();
    for file in RIGHTS {
        let file = format!("{MANIFESTS}/{file}");
        kubectl
            .run([
                "apply",
                "--server-side",
                "-n",
                "attache-system",
                "-f",
                &file,
            ])
            .ok();
    }
    collect_policies(&kubectl);
    service_account(&cluster, &kubectl, "attache");
    Some(cluster)
}

fn attache(cluster: &Cluster, name: &str) -> Attache {
    let lease = "--status-lease=attache-system/attache-status-writer";
    let kubeconfig = cluster.kubeconfig_of("attache");
    Attache::with(cluster, name, &kubeconfig, &["--write-status", lease])
}

fn setup<'a>(cluster: &'a Cluster, name: &str) -> TestSetup<'a> {
    let setup = TestSetup::beside(cluster, name, |_| attache(cluster, name));
    setup.create_namespaces();
    setup.apply("class.yaml").ok();
    setup.attache.wait_until_ready();
    setup
}

/// The metrics about writes, by their labels.
fn writes(attache: &Attache) -> BTreeMap<String, u64> {
    let (_, metrics) = attache.get("/metrics").expect("metrics");
    let lines = metrics.lines().filter_map(|line| {
        let (labels, number) = line
            .strip_prefix("attache_status_writes_total{")?
            .split_once("} ")?;
        Some((labels.to_owned(), number.parse().ok()?))
    });
    lines.collect()
}

fn leads(attache: &Attache) -> bool {
    let (_, metrics) = attache.get("/metrics").expect("metrics");
    metrics.contains("\nattache_status_writer_leads 1")
}

/// An object as JSON.
fn get(setup: &TestSetup<'_>, what: &str, namespace: &str) -> Value {
    let namespace = setup.namespace(namespace);
    let output = setup.kubectl([
        "get",
        what,
        "-n",
        &namespace,
        "-o",
        "json",
        "--show-managed-fields",
    ]);
    serde_json::from_str(&output.ok().out).expect("JSON")
}

/// The conditions of a writer in the status of a route: type, generation and message.
fn conditions_by(route: &Value, writer: &str) -> Vec<(String, i64, String)> {
    let parents = route["status"]["parents"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let entries = parents
        .iter()
        .filter(|entry| entry["controllerName"] == writer);
    let conditions =
        entries.flat_map(|entry| entry["conditions"].as_array().cloned().unwrap_or_default());
    conditions
        .map(|condition| {
            let text = |name: &str| condition[name].as_str().unwrap_or_default().to_owned();
            let seen = condition["observedGeneration"].as_i64().unwrap_or_default();
            (text("type"), seen, text("message"))
        })
        .collect()
}

/// Waits until attache has these conditions on the route `cart`.
fn cart_has(setup: &TestSetup<'_>, expected: &[(&str, i64, &str)]) -> Value {
    eventually(&format!("cart has {expected:?}"), || {
        let route = get(setup, "httproute/cart", "shop");
        let found = conditions_by(&route, ATTACHE);
        let found: Vec<(&str, i64, &str)> = found
            .iter()
            .map(|(kind, seen, text)| (&**kind, *seen, &**text))
            .collect();
        if found == expected {
            Ok(route)
        } else {
            Err(route["status"].to_string())
        }
    })
}

const INHERITED: &str = "Affected by policies of other namespaces";
const REPLACED: &str = "Affected by shop/cart-retries";
const OWN: &str = "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: cart-retries, namespace: shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}
  timeout: 1s
";

#[test]
fn attache_and_the_controller_keep_to_their_own_entries() {
    let Some(cluster) = cluster("status-beside") else {
        return;
    };
    let setup = setup(&cluster, "status-beside");
    let controller = Controller::start(&cluster.kubeconfig());
    setup.apply("edge.yaml").ok();
    setup.apply("cart-route.yaml").ok();

    // The policy on the Gateway applies to the route, and the Gateway says so too.
    let route = cart_has(&setup, &[(AFFECTED, 1, INHERITED)]);
    assert_eq!(conditions_by(&route, CONTROLLER).len(), 2, "{route}");
    let gateway = eventually(
        "the Gateway has its conditions and those of attache",
        || {
            let gateway = get(&setup, "gateway/edge", "infra");
            let text = gateway["status"]["conditions"].to_string();
            let both = text.contains(AFFECTED) && text.contains("\"Accepted\"");
            if both { Ok(gateway) } else { Err(text) }
        },
    );
    assert!(
        gateway["status"]
            .to_string()
            .contains("Affected by infra/edge-retries")
    );

    // While the policies that apply stay the same, nothing is written: not after a new value, not after the controller writes.
    let before = writes(&setup.attache);
    setup
        .apply_text(&setup.read("edge.yaml").replace("retries: 3", "retries: 4"))
        .ok();
    controller.touch();
    eventually("the controller has written again", || {
        let route = get(&setup, "httproute/cart", "shop");
        let text = route["status"].to_string();
        if text.contains("touched") {
            Ok(())
        } else {
            Err(text)
        }
    });
    sleep(PASSES);
    let route = cart_has(&setup, &[(AFFECTED, 1, INHERITED)]);
    assert_eq!(writes(&setup.attache), before, "{route}");
    let version = route["metadata"]["resourceVersion"].clone();
    sleep(PASSES);
    let route = get(&setup, "httproute/cart", "shop");
    assert_eq!(
        route["metadata"]["resourceVersion"], version,
        "somebody writes again and again: {route}"
    );

    // A new generation of the route is noted when the controller has seen it.
    let text = setup.read("cart-route.yaml");
    setup
        .apply_text(&text.replace("port: 8080", "port: 8081"))
        .ok();
    cart_has(&setup, &[(AFFECTED, 2, INHERITED)]);

    // A policy of its own namespace is named, and takes the place of the other one. The last one takes the entry with it.
    setup.apply_text(OWN).ok();
    cart_has(&setup, &[(AFFECTED, 2, REPLACED)]);
    let (infra, shop) = (setup.namespace("infra"), setup.namespace("shop"));
    setup
        .kubectl(["delete", "retrypolicy/cart-retries", "-n", &shop])
        .ok();
    setup
        .kubectl(["delete", "retrypolicy/edge-retries", "-n", &infra])
        .ok();
    let route = cart_has(&setup, &[]);
    assert_eq!(conditions_by(&route, CONTROLLER).len(), 2, "{route}");
    eventually(
        "the Gateway has the conditions of its controller alone",
        || {
            let gateway = get(&setup, "gateway/edge", "infra");
            let text = gateway["status"]["conditions"].to_string();
            let gone = !text.contains(AFFECTED) && text.contains("\"Accepted\"");
            if gone { Ok(()) } else { Err(text) }
        },
    );
    assert_eq!(writes(&setup.attache).get("result=\"failed\""), Some(&0));
}

/// The conditions of other objects have an owner each.
#[test]
fn a_namespace_says_which_policies_act_on_it() {
    let Some(cluster) = cluster("status-namespace") else {
        return;
    };
    let setup = setup(&cluster, "status-namespace");
    let shop = setup.namespace("shop");
    says_which_policies_act_on_it(&setup, "Namespace", &shop);
}

#[test]
fn a_service_says_which_policies_act_on_it() {
    let Some(cluster) = cluster("status-service") else {
        return;
    };
    let setup = setup(&cluster, "status-service");
    setup
        .apply_text(
            "
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec:
  ports: [{port: 8080}]
",
        )
        .ok();
    says_which_policies_act_on_it(&setup, "Service", "cart");
}

/// An object of the core group behind or around the route `cart`, with a policy and then without.
fn says_which_policies_act_on_it(setup: &TestSetup<'_>, kind: &str, name: &str) {
    let (gateway, _) = split(&setup.read("edge.yaml"));
    setup.apply_text(&gateway).ok();
    setup.apply("cart-route.yaml").ok();
    let shop = setup.namespace("shop");
    setup
        .apply_text(&format!(
            "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {{name: shop-retries, namespace: shop}}
spec:
  targetRef: {{group: \"\", kind: {kind}, name: {name}}}
  retries: 3
"
        ))
        .ok();
    let read = [
        "get",
        kind,
        name,
        "-n",
        &shop,
        "-o",
        "jsonpath={.status.conditions[*].message}",
    ];
    eventually("it says so", || {
        let output = setup.kubectl(read);
        let is_so = output.out == "Affected by shop/shop-retries";
        if is_so {
            Ok(())
        } else {
            Err(output.to_string())
        }
    });
    // Without its controller, the route says nothing.
    assert_eq!(
        conditions_by(&get(setup, "httproute/cart", "shop"), ATTACHE),
        []
    );
    let delete = ["delete", "retrypolicy/shop-retries", "-n", &shop];
    setup.kubectl(delete).ok();
    eventually("it no longer says so", || {
        let output = setup.kubectl(read);
        if output.out.is_empty() {
            Ok(())
        } else {
            Err(output.to_string())
        }
    });
}

/// The Gateway and the policy of edge.yaml.
fn split(text: &str) -> (String, String) {
    let (gateway, policy) = text.split_once("---").expect("two documents");
    (gateway.to_owned(), policy.to_owned())
}

#[test]
fn a_thousand_routes_are_written_once_and_a_restart_writes_none_again() {
    let Some(cluster) = cluster("status-burst") else {
        return;
    };
    let mut setup = setup(&cluster, "status-burst");
    let _controller = Controller::start(&cluster.kubeconfig());
    let (gateway, policy) = split(&setup.read("edge.yaml"));
    setup.apply_text(&gateway).ok();
    setup.write("routes.yaml", &routes(&setup));
    setup.kubectl(["create", "-f", "routes.yaml"]).ok();
    let shop = setup.namespace("shop");
    let by = |setup: &TestSetup<'_>, writer: &str| {
        let path = format!(
            "jsonpath={{.items[*].status.parents[?(@.controllerName==\"{writer}\")].controllerName}}"
        );
        let output = setup.kubectl(["get", "httproutes", "-n", &shop, "-o", &path]);
        output.ok().out.split_whitespace().count()
    };
    let all = |count: usize, number: usize| {
        if count == number {
            Ok(())
        } else {
            Err(format!("{count} of {number}"))
        }
    };
    eventually_long("the controller has written all", || {
        all(by(&setup, CONTROLLER), ROUTES)
    });
    sleep(PASSES);
    assert_eq!(by(&setup, ATTACHE), 0);

    // One policy on the Gateway applies to all of them.
    let started = Instant::now();
    setup.apply_text(&policy).ok();
    eventually_long("attache has written all", || {
        all(by(&setup, ATTACHE), ROUTES)
    });
    let took = started.elapsed();
    assert!(
        took >= Duration::from_secs(15),
        "more than the limit of the client: {took:?}"
    );
    let written = writes(&setup.attache);
    assert_eq!(written.get("result=\"failed\""), Some(&0), "{written:?}");
    // The routes and the Gateway, once each.
    assert_eq!(
        written.get("result=\"written\""),
        Some(&(ROUTES as u64 + 1)),
        "{written:?}"
    );

    // Another process finds what is written, and writes nothing.
    let versions = |setup: &TestSetup<'_>| {
        let path = "jsonpath={.items[*].metadata.resourceVersion}";
        setup
            .kubectl(["get", "httproutes", "-n", &shop, "-o", path])
            .ok()
            .out
    };
    let before = versions(&setup);
    setup.attache.terminate();
    setup.attache = attache(&cluster, "status-burst-again");
    setup.attache.wait_until_ready();
    eventually_long("it may write", || {
        if leads(&setup.attache) {
            Ok(())
        } else {
            Err("not yet".to_owned())
        }
    });
    sleep(PASSES);
    assert_eq!(versions(&setup), before);
    let written = writes(&setup.attache);
    assert!(written.values().all(|count| *count == 0), "{written:?}");

    // Without the policy they all go.
    let infra = setup.namespace("infra");
    setup
        .kubectl(["delete", "retrypolicy/edge-retries", "-n", &infra])
        .ok();
    eventually_long("attache has removed all", || all(by(&setup, ATTACHE), 0));
    assert_eq!(by(&setup, CONTROLLER), ROUTES);
}

/// A thousand routes on the Gateway `edge`.
fn routes(setup: &TestSetup<'_>) -> String {
    let route = setup.read("cart-route.yaml");
    let mut text = String::new();
    for number in 0..ROUTES {
        let one = route.replace(
            "name: cart, namespace",
            &format!("name: cart-{number}, namespace"),
        );
        let one = one.replace("cart.example.com", &format!("cart-{number}.example.com"));
        writeln!(text, "---\n{one}").expect("text");
    }
    text
}

#[test]
fn one_of_two_replicas_writes_and_the_other_takes_over() {
    let Some(cluster) = cluster("status-lease") else {
        return;
    };
    let mut setup = setup(&cluster, "status-lease");
    let _controller = Controller::start(&cluster.kubeconfig());
    let other = attache(&cluster, "status-lease-other");
    other.wait_until_ready();
    let one = || {
        eventually_long("one of them leads", || {
            match (leads(&setup.attache), leads(&other)) {
                (true, false) => Ok(true),
                (false, true) => Ok(false),
                both => Err(format!("{both:?}")),
            }
        })
    };
    let first = one();
    setup.apply("edge.yaml").ok();
    setup.apply("cart-route.yaml").ok();
    cart_has(&setup, &[(AFFECTED, 1, INHERITED)]);
    let (leader, idle) = if first {
        (&setup.attache, &other)
    } else {
        (&other, &setup.attache)
    };
    assert!(writes(leader).get("result=\"written\"") > Some(&0));
    assert!(writes(idle).values().all(|count| *count == 0), "two write");

    // The leader ends without a word, and the other one goes on.
    let rest = if first {
        let gone = std::mem::replace(&mut setup.attache, other);
        drop(gone);
        &setup.attache
    } else {
        drop(other);
        &setup.attache
    };
    eventually_long("the other one leads", || {
        if leads(rest) {
            Ok(())
        } else {
            Err("not yet".to_owned())
        }
    });
    setup.apply_text(OWN).ok();
    cart_has(&setup, &[(AFFECTED, 1, REPLACED)]);
}

/// Like `eventually`, for what takes longer: a Lease that runs out, writes at the limit of the
/// client.
fn eventually_long<T>(what: &str, mut ask: impl FnMut() -> Result<T, String>) -> T {
    let started = Instant::now();
    loop {
        match ask() {
            Ok(value) => return value,
            Err(last) => assert!(
                started.elapsed() < LONG,
                "{what}: not within {LONG:?}; at last: {last}"
            ),
        }
        // A question about a thousand routes is no small one.
        sleep(Duration::from_secs(1));
    }
}
