//! attache without an API server, and its shutdown.

use crate::harness::manifests::DEAD_API;
use crate::harness::{Attache, Cluster, TestSetup, eventually};

const SETS: &str = "affected-by: RetryPolicy.policies.example.com infra/edge-retries sets retries=";

#[test]
fn it_outlives_a_restart_of_the_api_server() {
    let Some(cluster) = Cluster::own("restart") else {
        return;
    };
    let setup = TestSetup::on(&cluster, "restart");
    setup.apply("edge.yaml").ok();
    setup.warns_at_last("cart-route.yaml", &format!("{SETS}3"));

    cluster.kill_apiserver();
    setup.attache.answers("/livez", 200).expect("alive");
    setup
        .attache
        .answers("/readyz", 200)
        .expect("ready: it still knows what it knew");
    cluster.start_apiserver();
    setup.attache.answers("/readyz", 200).expect("ready");

    // Only a restored watch can report this.
    let infra = setup.namespace("infra");
    let more = r#"{"spec":{"retries":7}}"#;
    let patch = [
        "patch",
        "retrypolicy",
        "edge-retries",
        "-n",
        &infra,
        "--type=merge",
        "-p",
        more,
    ];
    eventually("the API server asks attache again", || {
        setup.kubectl(patch).succeeded()
    });
    setup.warns_at_last("cart-route.yaml", &format!("{SETS}7"));
}

#[test]
fn it_waits_for_an_api_server_that_is_not_up_yet() {
    let Some(cluster) = Cluster::own("early") else {
        return;
    };
    cluster.stop_apiserver();
    let setup = TestSetup::unregistered(&cluster, "early");
    eventually("attache is alive", || setup.attache.answers("/livez", 200));
    let (code, answer) = setup.attache.get("/readyz").expect("an answer");
    assert!(code >= 500, "ready without an API server: {answer}");
    cluster.start_apiserver();
    setup.attache.wait_until_ready();
    setup.create_namespaces();
    setup.register();
    setup.apply("edge.yaml").ok();
    setup.warns_at_last("cart-route.yaml", &format!("{SETS}3"));
}

#[test]
fn a_dead_aggregated_api_holds_up_nothing() {
    let Some(cluster) = Cluster::own("dead-api") else {
        return;
    };
    let kubectl = cluster.kubectl();
    kubectl.run_with(["apply", "-f", "-"], DEAD_API).ok();
    eventually("discovery of one group fails", || {
        let output = kubectl.run(["get", "--raw", "/apis/dead.example.com/v1"]);
        let available = ["get", "apiservice/v1.dead.example.com", "--no-headers"];
        let listed = kubectl.run(available);
        if output.code != 0 && listed.out.contains("False (ServiceNotFound)") {
            Ok(())
        } else {
            Err(format!("{output}\n{listed}"))
        }
    });
    // It starts next to it, becomes ready and knows the cluster.
    let setup = TestSetup::on(&cluster, "dead-api");
    setup.apply("edge.yaml").ok();
    setup.warns_at_last("cart-route.yaml", &format!("{SETS}3"));
    let (_, readiness) = setup.attache.get("/readyz?verbose").expect("an answer");
    assert!(!readiness.contains("[-]"), "{readiness}");
    let kinds = Attache::kinds(&cluster, &[]);
    assert!(
        kinds.contains("RetryPolicy.policies.example.com"),
        "{kinds}"
    );
}

#[test]
fn sigterm_shuts_down_in_order() {
    let Some(mut setup) = TestSetup::start("sigterm") else {
        return;
    };
    let status = setup.attache.terminate();
    assert_eq!(status.code(), Some(0), "{status}");
}
