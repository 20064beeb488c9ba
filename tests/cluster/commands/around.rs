//! Reading only the surroundings of one object gives the same answer as reading everything.

use serde_json::Value;

use super::STATE;
use crate::harness::Cluster;

const KINDS: [&str; 15] = [
    "gatewayclasses",
    "gateways",
    "listenersets",
    "httproutes",
    "grpcroutes",
    "services",
    "namespaces",
    "retrypolicies",
    "timeoutpolicies",
    "backendtlspolicies",
    "xbackendtrafficpolicies",
    "accesspolicies",
    "quietpolicies",
    "textpolicies",
    "freepolicies",
];

#[test]
fn one_object_by_itself_is_described_as_among_all() {
    let Some(cluster) = &*STATE else {
        return;
    };
    let mut compared = 0;
    for kind in KINDS {
        let all = described(cluster, &["-A", kind]);
        for among_all in all["items"].as_array().expect("items") {
            let object = &among_all["object"];
            let text = |field: &str| object[field].as_str().expect("text");
            let what = format!("{kind}/{}", text("name"));
            let namespace = Some(text("namespace")).filter(|ns| !ns.is_empty());
            let by_itself = described(cluster, &["-n", namespace.unwrap_or("default"), &what]);
            for (field, value) in among_all.as_object().expect("a map") {
                assert_eq!(by_itself[field], *value, "{field} of {object}");
            }
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared} objects");
}

fn described(cluster: &Cluster, args: &[&str]) -> Value {
    let args = ["describe", "-o", "json"].iter().chain(args).copied();
    let output = cluster.attache(None).run(args).ok();
    assert_eq!(
        output.err.replace("attache: there is no ", ""),
        output.err,
        "{output}"
    );
    serde_json::from_str(&output.out).expect("JSON")
}
