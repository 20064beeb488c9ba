//! Measures how soon reviews see a change in the cluster while many others happen.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::cluster::{Cluster, policies_of};
use testing::api_server::GATEWAYS;
use testing::load::client::Connection;
use testing::load::cluster::ROUTES;
use testing::load::life::{self, KINDS};
use testing::load::process::{LONG, Process};

/// Changes per second.
pub(crate) const RATE: u64 = 500;
/// The index in [`KINDS`] of the probed kind, whose settings are directly in the spec.
const PROBED: usize = KINDS.len() - 1;

pub(crate) struct Seen {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

/// Measures from the moment when the API server sends a change to its watchers until the end of the first review that
/// mentions it. Reviews run one after another.
pub(crate) async fn measure(cluster: &Cluster, process: &Process, probes: usize) -> Seen {
    let churn = Churn::start(cluster);
    let mut connection = Connection::new(process.place.clone());
    let body = review();
    let mut times = Vec::new();
    let mut reviews = 0;
    for n in 0..probes {
        // Irregular pauses, so as not to run in step with the changes.
        sleep(Duration::from_micros(7_000 + n as u64 * 997 % 9_000)).await;
        let marker = format!("fresh-{n}.");
        let policy = probe(&marker);
        let written = Instant::now();
        cluster.server.put(&policies_of(PROBED), policy);
        loop {
            let answer = connection.post("/validate?timeout=10s", body.clone()).await;
            let answer = answer.unwrap();
            reviews += 1;
            if String::from_utf8_lossy(&answer.body).contains(&marker) {
                times.push(written.elapsed());
                break;
            }
            let text = String::from_utf8_lossy(&answer.body);
            assert!(written.elapsed() < LONG, "never seen: {text}");
        }
    }
    let (made, seconds) = churn.stop();
    println!(
        "\n{probes} changes looked for with {reviews} reviews, among {:.0} changes/s",
        (made + probes as u64) as f64 / seconds
    );
    times.sort_unstable();
    Seen {
        p50: times[times.len() / 2],
        p99: times[times.len() * 99 / 100],
    }
}

/// A policy on the first Gateway.
fn probe(marker: &str) -> Value {
    let (group, kind, _, version) = KINDS[PROBED];
    json!({
        "apiVersion": format!("{group}/{version}"), "kind": kind,
        "metadata": {"namespace": "infra", "name": "probe", "creationTimestamp": "2020-01-01T00:00:00Z"},
        "spec": {
            "targetRef": {"group": life::GATEWAY_API, "kind": "Gateway", "name": "edge-0"},
            "a": marker,
        },
    })
}

/// A review of a new route on that Gateway.
fn review() -> Bytes {
    let mut route = life::route(0);
    route["metadata"] = json!({"namespace": "infra", "name": "new"});
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "00000000-0000-0000-0000-000000000000",
            "kind": {"group": life::GATEWAY_API, "version": "v1", "kind": "HTTPRoute"},
            "resource": {"group": life::GATEWAY_API, "version": "v1", "resource": "httproutes"},
            "name": "new", "namespace": "infra", "operation": "CREATE", "dryRun": true,
            "userInfo": {"username": "dev", "groups": ["system:authenticated"]},
            "object": route, "oldObject": null,
        },
    });
    Bytes::from(review.to_string())
}

/// Makes changes at fixed times in a thread, because the runtime's timers are too coarse.
struct Churn {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<(u64, f64)>,
}

impl Churn {
    fn start(cluster: &Cluster) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (server, routes, policies) = (cluster.server.clone(), cluster.routes, cluster.policies);
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            let started = Instant::now();
            let mut n = 0;
            while !stopped.load(Ordering::Relaxed) {
                let due = (started.elapsed().as_secs_f64() * RATE as f64) as u64;
                while n < due {
                    // 15 of 20 changes are of routes, 4 of policies and 1 of a Gateway.
                    let i = (n * 7919) as usize;
                    let (path, mut object) = match n % 20 {
                        0..15 => (ROUTES.to_owned(), life::route(i % routes)),
                        15..19 => {
                            let i = i % policies;
                            (policies_of(i), life::policy(i, routes))
                        }
                        _ => (
                            GATEWAYS.to_owned(),
                            life::gateway(i % life::gateways(routes)),
                        ),
                    };
                    object["metadata"]["labels"]["round"] = json!(n.to_string());
                    server.put(&path, object);
                    n += 1;
                }
                thread::sleep(Duration::from_millis(1));
            }
            (n, started.elapsed().as_secs_f64())
        });
        Self { stop, thread }
    }

    fn stop(self) -> (u64, f64) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}
