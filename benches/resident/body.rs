//! Measures the memory of the largest bodies: an UPDATE with two versions of an object of 3 MiB.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::MIB;
use crate::cluster::Cluster;
use testing::load::client::Connection;
use testing::load::life;
use testing::load::process::{Process, pair};
use testing::load::review::review;

const CONFIG: &str = "apiVersion: attache.dev/v1\nkind: Configuration\n";
/// Bytes of one object.
const SIZE: usize = 3 << 20;
/// Small reviews first, so that buffers and threads exist.
const BEFORE: usize = 200;

/// Sizes in MiB.
pub(crate) struct Body {
    pub(crate) what: &'static str,
    pub(crate) size: f64,
    pub(crate) grown: f64,
    pub(crate) ratio: f64,
}

/// Uses a new process for each body, so that it is the first large one.
pub(crate) async fn measure() -> Vec<Body> {
    let cluster = Cluster::start(1_000).await;
    let (policy, route) = (life::policy(4, 1_000), life::route(7));
    let texts = |n: usize| vec!["x".repeat(SIZE / n); n];
    let mut long = policy.clone();
    long["spec"]["text"] = json!(texts(1));
    let mut parts = policy.clone();
    parts["spec"]["texts"] = json!(texts(3_000));
    let mut many = policy.clone();
    many["spec"]["numbers"] = json!(vec![1; SIZE / 2]);
    let mut annotated = route.clone();
    annotated["metadata"]["annotations"]["long"] = json!(texts(1)[0]);
    let mut managed = route.clone();
    let fields: serde_json::Map<String, Value> = (0..SIZE / 40)
        .map(|i| (format!("f:field-of-a-long-name-{i:09}"), json!({})))
        .collect();
    managed["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"] = fields.into();
    let bodies = [
        ("a policy, one text", long),
        ("a policy, 3,000 texts", parts),
        ("a policy, 1.5 million numbers", many),
        ("a route, one annotation", annotated),
        ("a route, managedFields", managed),
    ];
    let mut measured = Vec::new();
    for (what, object) in bodies {
        measured.push(one(&cluster, what, &object, &policy).await);
    }
    measured
}

async fn one(cluster: &Cluster, what: &'static str, object: &Value, small: &Value) -> Body {
    let process = Process::start(&pair(), &cluster.kubeconfig, CONFIG, &[]);
    process.ready().await;
    let mut connection = Connection::new(process.place.clone());
    let warm = update(small);
    for _ in 0..BEFORE {
        let answer = connection.post("/validate?timeout=10s", warm.clone()).await;
        assert_eq!(answer.unwrap().status, 200);
    }
    let body = update(object);
    let size = body.len() as f64 / MIB / MIB;
    sleep(Duration::from_secs(1)).await;
    process.forget_peak();
    let before = process.resident();
    let answer = connection.post("/validate?timeout=10s", body).await;
    assert_eq!(answer.unwrap().status, 200);
    let grown = process.peak().saturating_sub(before) as f64 / MIB;
    Body {
        what,
        size,
        grown,
        ratio: grown / size,
    }
}

/// An UPDATE that also changes the spec, so that it is reviewed.
fn update(object: &Value) -> Bytes {
    let mut old = object.clone();
    old["spec"]["hostnames"] = json!(["old.example.com"]);
    Bytes::from(review("UPDATE", false, Some(object), Some(&old)).to_string())
}
