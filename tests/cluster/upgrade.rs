//! Two replicas of an older version are replaced by this one while the API server calls them, and no call fails.
//!
//! `upgrade.sh` builds the older version and names its folder in `ATTACHE_UPGRADE_FROM`. Without it both versions are this
//! one: the manifests are applied again, and the replicas restart one after the other.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::{Value, json};
use testing::balancer::Balancer;
use testing::program;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::interval;

use crate::harness::manifests::{
    collect_policies, lead_service_to, service_account, switched_on_of,
};
use crate::harness::{Attache, Cluster, Kubectl, eventually, pod};

const MANIFESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests");
/// Requests to the API server: four at a time, ten a second each.
const TASKS: usize = 4;
const PERIOD: Duration = Duration::from_millis(100);
/// The number of requests between two changes.
const ENOUGH: usize = 100;
const SERVICE: &str = "
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: default}
spec: {ports: [{name: http, port: 80}]}
";
const REFUSAL: &str = "section-unknown: ";

/// A program with its manifests.
struct Version {
    program: PathBuf,
    manifests: PathBuf,
}

impl Version {
    fn this() -> Self {
        Self {
            program: program(),
            manifests: MANIFESTS.into(),
        }
    }

    fn older() -> Self {
        let Some(folder) = env::var_os("ATTACHE_UPGRADE_FROM") else {
            return Self::this();
        };
        let folder = Path::new(&folder);
        Self {
            program: folder.join("attache"),
            manifests: folder.join("manifests"),
        }
    }

    fn name(&self) -> String {
        let output = Command::new(&self.program).arg("--version").output();
        let version = output.expect("the program runs").stdout;
        let name = String::from_utf8_lossy(&version).trim().to_owned();
        format!("{name} ({})", self.program.display())
    }

    /// Applies the manifests with `failurePolicy: Fail`, so that the API server reports every call without an answer.
    fn apply(&self, cluster: &Cluster, kubectl: &Kubectl, port: u16, folder: &str) {
        let folder = cluster.dir().join(folder);
        switched_on_of(&self.manifests, &folder, &["fail-closed"]);
        lead_service_to(&folder, port);
        let folder = folder.to_str().expect("a path in UTF-8");
        kubectl.run(["apply", "--server-side", "-k", folder]).ok();
        collect_policies(kubectl);
    }

    /// Starts the program with the arguments of a Pod of the Deployment, as it is in the cluster
    /// now.
    fn start(&self, cluster: &Cluster, kubectl: &Kubectl, name: &str) -> Attache {
        let args: Vec<String> = pod::arguments(cluster, kubectl, name).collect();
        let account = service_account(cluster, kubectl, "attache");
        let replica = Attache::as_pod(cluster, name, &self.program, &account, &args);
        replica.wait_until_ready();
        replica
    }
}

/// The results of the requests.
#[derive(Debug, Default)]
struct Outcome {
    admitted: usize,
    refused: usize,
    failed: Vec<String>,
}

impl Outcome {
    fn calls(&self) -> usize {
        self.admitted + self.refused
    }
}

/// Requests to the API server that are reviewed by both webhooks, until it is dropped.
struct Load {
    outcome: Arc<Mutex<Outcome>>,
    _tasks: JoinSet<()>,
}

impl Load {
    fn start(runtime: &Runtime, client: &Client) -> Self {
        let outcome = Arc::<Mutex<Outcome>>::default();
        let mut tasks = JoinSet::new();
        for _ in 0..TASKS {
            let (client, outcome) = (client.clone(), outcome.clone());
            let task = async move {
                let mut period = interval(PERIOD);
                for is_wrong in [false, true].into_iter().cycle() {
                    period.tick().await;
                    let result = ask(&client, is_wrong).await;
                    let mut outcome = outcome.lock().unwrap();
                    match (result, is_wrong) {
                        (Ok(()), false) => outcome.admitted += 1,
                        (Ok(()), true) => outcome.refused += 1,
                        (Err(why), _) => outcome.failed.push(why),
                    }
                }
            };
            tasks.spawn_on(task, runtime.handle());
        }
        Self {
            outcome,
            _tasks: tasks,
        }
    }

    /// The number of answered calls. Panics if one failed.
    #[track_caller]
    fn calls(&self) -> usize {
        let outcome = self.outcome.lock().unwrap();
        assert!(outcome.failed.is_empty(), "{outcome:?}");
        outcome.calls()
    }

    /// Waits for more answered calls.
    fn wait_for(&self, more: usize) {
        let before = self.calls();
        eventually("calls are answered", || {
            let came = self.calls() - before;
            (came >= more).then_some(()).ok_or(format!("{came} calls"))
        });
    }
}

/// One request: a policy that is admitted, or one that only attache refuses.
async fn ask(client: &Client, is_wrong: bool) -> Result<(), String> {
    let (name, port) = if is_wrong {
        ("wrong", "htttp")
    } else {
        ("right", "http")
    };
    let kind = GroupVersionKind::gvk("gateway.networking.k8s.io", "v1", "BackendTLSPolicy");
    let api: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), "default", &ApiResource::from_gvk(&kind));
    let policy = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "targetRefs": [{"group": "", "kind": "Service", "name": "cart", "sectionName": port}],
            "validation": {"hostname": "cart.example.com", "wellKnownCACertificates": "System"},
        },
    });
    let params = PatchParams {
        dry_run: true,
        ..PatchParams::apply("load")
    };
    match api.patch(name, &params, &Patch::Apply(&policy)).await {
        Ok(_) if is_wrong => Err("a wrong policy was admitted".to_owned()),
        Ok(_) => Ok(()),
        Err(error) if is_wrong && error.to_string().contains(REFUSAL) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn client(runtime: &Runtime, cluster: &Cluster) -> Client {
    runtime.block_on(async {
        let file = Kubeconfig::read_from(cluster.kubeconfig()).expect("a kubeconfig");
        let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
        Client::try_from(config.expect("a kubeconfig")).expect("a client")
    })
}

fn certificate(kubectl: &Kubectl) -> Value {
    kubectl.json(&["get", "secret/attache-certs", "-n", "attache-system"])["data"].clone()
}

#[test]
fn no_call_fails_while_replicas_of_an_older_version_are_replaced() {
    let Some(cluster) = Cluster::own("upgrade") else {
        return;
    };
    let kubectl = cluster.kubectl();
    let runtime = Runtime::new().expect("a runtime");
    let (older, newer) = (Version::older(), Version::this());
    let balancer = runtime.block_on(Balancer::start());
    let port = balancer.addr.port();
    let join = |replica: &Attache| {
        balancer.add(replica.replica());
        runtime.block_on(balancer.until_given(replica.replica()));
    };

    older.apply(&cluster, &kubectl, port, "older");
    let old = ["old-one", "old-two"].map(|name| {
        let replica = older.start(&cluster, &kubectl, name);
        join(&replica);
        replica
    });
    let client = client(&runtime, &cluster);
    eventually("the API server calls them", || {
        kubectl
            .run_with(["apply", "-f", "-"], SERVICE)
            .succeeded()?;
        runtime.block_on(ask(&client, false))?;
        runtime.block_on(ask(&client, true))
    });
    let made = certificate(&kubectl);

    let load = Load::start(&runtime, &client);
    load.wait_for(ENOUGH);
    newer.apply(&cluster, &kubectl, port, "newer");
    load.wait_for(ENOUGH);
    // As the Deployment does: a new replica is ready before an old one ends.
    let new: Vec<Attache> = ["new-one", "new-two"]
        .into_iter()
        .zip(old)
        .map(|(name, mut old)| {
            let new = newer.start(&cluster, &kubectl, name);
            join(&new);
            load.wait_for(ENOUGH);
            assert!(old.terminate().success(), "{}", old.log());
            balancer.forget(old.replica());
            load.wait_for(ENOUGH);
            new
        })
        .collect();

    load.wait_for(ENOUGH);
    assert_eq!(balancer.lost(), 0, "connections for which nobody was ready");
    assert_eq!(certificate(&kubectl), made, "the certificate was kept");
    let outcome = load.outcome.lock().unwrap();
    assert!(outcome.admitted > 0 && outcome.refused > 0, "{outcome:?}");
    println!(
        "from {} to {}: {} calls, {} failed",
        older.name(),
        newer.name(),
        outcome.calls(),
        outcome.failed.len()
    );
    drop(new);
}
