//! The baseline of a start: a separate process in which a client reads and parses the same lists and does nothing else.

use std::io::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use futures::future::join_all;
use kube::api::ListParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client, Config};

use crate::cluster::Cluster;
use testing::load::life::{GATEWAY_API, KINDS};

/// The flag for this mode; the text of a kubeconfig follows.
pub(crate) const FLAG: &str = "--bare-lists-of";
/// The same as in attache.
const PAGE: u32 = 500;

/// The time from the start of the process to its exit.
pub(crate) fn time(cluster: &Cluster) -> Duration {
    let started = Instant::now();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([FLAG, &cluster.kubeconfig])
        .output()
        .unwrap();
    let took = started.elapsed();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let read: usize = stdout
        .trim()
        .parse()
        .unwrap_or_else(|_| panic!("{stdout}{stderr}"));
    assert!(read > cluster.routes + cluster.policies, "{read} objects");
    took
}

/// Lists in the same order as attache: CRDs and core kinds, then the kinds that the CRDs define.
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
    // Freeing the memory is not part of the work.
    std::io::stdout().flush().unwrap();
    std::process::exit(0);
}

/// Reads a list, dropping each page.
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
