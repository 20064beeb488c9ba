//! The program and arguments that a Pod of the Deployment in the cluster would run.

use std::fs;

use super::{Cluster, Kubectl};

/// A review of a test waits long for its live reads: the tests ask what is refused, not how fast, and run all at once.
const LIMITS: &str = "limits: {liveReadMillis: 4000, accessMillis: 4000}\n";

/// The arguments of the container, with the configuration of the cluster in a file of this machine.
pub(crate) fn arguments(
    cluster: &Cluster,
    kubectl: &Kubectl,
    name: &str,
) -> impl Iterator<Item = String> {
    let get = |object: &str| kubectl.json(&["get", object, "-n", "attache-system"]);
    let pod = get("deployment/attache")["spec"]["template"]["spec"].clone();
    // Kustomize gives it a name that changes with its contents.
    let volumes = pod["volumes"].as_array().expect("volumes");
    let mut names = volumes
        .iter()
        .filter_map(|v| v["configMap"]["name"].as_str());
    let config_map = names.next().expect("a ConfigMap");
    let text = get(&format!("configmap/{config_map}"))["data"]["attache.yaml"].clone();
    let config = cluster.dir().join(format!("{name}.yaml"));
    let text = text.as_str().expect("a configuration");
    assert!(!text.contains("\nlimits:"), "{text}");
    fs::write(&config, format!("{text}\n{LIMITS}")).expect("a writable folder");
    let config = config.to_str().expect("a path in UTF-8").to_owned();
    let args = pod["containers"][0]["args"].clone();
    let args = args.as_array().expect("arguments").clone();
    let args = args.into_iter().map(move |arg| {
        let arg = arg.as_str().expect("text");
        arg.replace("/etc/attache/attache.yaml", &config)
            // Not one port for all.
            .replace("[::]:8443", "[::]:0")
            .replace("[::]:9090", "[::]:0")
    });
    // Inside a Pod, attache finds these by itself.
    let of_pod = [
        "--cert-secret=attache-system/attache-certs",
        "--cert-name=attache.attache-system.svc",
    ];
    args.chain(of_pod.map(str::to_owned))
}
