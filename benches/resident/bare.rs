//! The yardstick of a start: the same lists, read and parsed by nothing but a client, in a process of its own.

use std::io::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use futures::future::join_all;
use kube::api::ListParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client, Config};

use crate::cluster::Cluster;
use crate::life::{GATEWAY_API, KINDS};

/// Followed by a kubeconfig, as text.
pub(crate) const FLAG: &str = "--bare-lists-of";
/// As attache does.
const PAGE: u32 = 500;

/// From the start of the process to its end.
pub(crate) fn time(cluster: &Cluster) -> Duration {
    let started = Instant::now();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([FLAG, &cluster.kubeconfig])
        .output()
        .unwrap();
    let took = started.elapsed();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let read: usize = said
        .trim()
        .parse()
        .unwrap_or_else(|_| panic!("{said}{told}"));
    assert!(read > cluster.routes + cluster.policies, "{read} objects");
    took
}

/// Lists in the order of attache: definitions and core kinds, then what the definitions tell.
pub(crate) async fn lists(kubeconfig: &str) {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let client = Client::try_from(config.unwrap()).unwrap();
    let list = |group: &str, version: &str, kind: &str, plural: &str| {
        let gvk = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, plural);
        tokio::spawn(pages(Api::all_with(client.clone(), &resource)))
    };
    let services = list("", "v1", "Service", "services");
    let namespaces = list("", "v1", "Namespace", "namespaces");
    let crds = "customresourcedefinitions";
    let crds = list(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        crds,
    );
    let mut read = crds.await.unwrap();
    let mut others = vec![
        services,
        namespaces,
        list(GATEWAY_API, "v1", "Gateway", "gateways"),
        list(GATEWAY_API, "v1", "HTTPRoute", "httproutes"),
    ];
    others.extend(KINDS.map(|(group, kind, plural, version)| list(group, version, kind, plural)));
    for other in join_all(others).await {
        read += other.unwrap();
    }
    println!("{read}");
    // What is left in memory is not its work.
    std::io::stdout().flush().unwrap();
    std::process::exit(0);
}

/// Reads a list and drops each page.
async fn pages(api: Api<DynamicObject>) -> usize {
    let mut params = ListParams::default().limit(PAGE);
    let mut read = 0;
    loop {
        let page = api.list(&params).await.unwrap();
        read += page.items.len();
        match page.metadata.continue_ {
            Some(token) if !token.is_empty() => params = params.continue_token(&token),
            _ => return read,
        }
    }
}
