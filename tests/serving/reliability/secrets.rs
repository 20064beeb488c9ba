//! Data that no log contains at any log level, with a cluster behind it: the token, contents of objects, users.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper::header::AUTHORIZATION;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::process::{Process, Setup, signal};
use testing::api_server::{
    GATEWAYS, RETRIES, REVIEWS, SERVICES, Server, gateway, gateway_crd, policy, policy_crd,
};

/// The token of the service account.
const TOKEN: &str = "t0ken-s3cret";
/// In objects of the cluster and of reviews, and in unreadable answers.
const BODY: &str = "b0dy-s3cret";
/// The user and the groups.
const USER: &str = "us3r-jane";
/// Everything from every library: a directive covers all targets with that prefix.
const ALL: &str = "a=trace,b=trace,c=trace,d=trace,e=trace,f=trace,g=trace,h=trace,i=trace,j=trace,\
                   k=trace,l=trace,m=trace,n=trace,o=trace,p=trace,q=trace,r=trace,s=trace,t=trace,\
                   u=trace,v=trace,w=trace,x=trace,y=trace,z=trace,kube_client=trace,kube_runtime=trace";
const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/infra/events";
const CONFIG: &str = "{apiVersion: attache.dev/v1, kind: Configuration, events: true}";

/// A cluster on a socket with secrets in every field, and the credentials that clients present.
async fn cluster() -> (Server, SocketAddr, Arc<Mutex<Vec<String>>>) {
    let server = Server::new();
    server.install(&gateway_crd());
    for kind in ["RetryPolicy", "CutPolicy", "ListPolicy"] {
        server.install(&policy_crd("example.dev", kind));
    }
    for name in ["edge", "other"] {
        server.put(GATEWAYS, secretive(gateway("infra", name)));
    }
    let mut odd = secretive(gateway("infra", "odd"));
    odd["spec"]["listeners"] = json!(BODY);
    server.put(GATEWAYS, odd);
    for namespace in ["infra", "shop"] {
        let mut policy = policy("RetryPolicy", namespace, &format!("of-{namespace}"), "edge");
        policy["spec"]["targetRefs"][0]["sectionName"] = json!("http");
        policy["spec"]["retries"] = json!(5);
        server.put(RETRIES, secretive(policy));
    }
    // One is cut short, the other has the wrong form.
    let list_path = |plural: &str| format!("/apis/example.dev/v1/{plural}");
    let cut = format!(r#"{{"kind":"List","metadata":{{}},"items":[{{"spec":"{BODY}"#);
    server.answers(&list_path("cutpolicies"), 200, &cut);
    let list = json!({"kind": "List", "metadata": {"resourceVersion": "1"}, "items": BODY});
    server.answers(&list_path("listpolicies"), 200, &list.to_string());
    // A refusal quotes the request: the user of the review, the note of the Event.
    for (path, field, value) in [(REVIEWS, "spec.user", USER), (EVENTS, "note", BODY)] {
        let message = format!("it is invalid: {field}: Invalid value: {value:?}");
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": "Invalid", "code": 422,
        });
        server.answers(path, 422, &status.to_string());
    }
    let shown = Arc::<Mutex<Vec<String>>>::default();
    let addr = listen(server.clone(), shown.clone()).await;
    (server, addr, shown)
}

fn secretive(mut object: Value) -> Value {
    object["metadata"]["labels"] = json!({"a": BODY});
    object["metadata"]["annotations"] = json!({"attache.dev/a": BODY});
    object["spec"]["secret"] = json!(BODY);
    object["status"] = json!({"secret": BODY});
    object
}

async fn listen(server: Server, shown: Arc<Mutex<Vec<String>>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let (server, shown) = (server.clone(), shown.clone());
            let answer = service_fn(move |request: Request<Incoming>| {
                if let Some(who) = request.headers().get(AUTHORIZATION) {
                    shown.lock().unwrap().push(who.to_str().unwrap().to_owned());
                }
                let server = server.clone();
                async move { Ok::<_, Infallible>(forward(&server, request).await) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
        }
    });
    addr
}

async fn forward(
    server: &Server,
    request: Request<Incoming>,
) -> Response<UnsyncBoxBody<Bytes, std::io::Error>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let request = Request::from_parts(head, Body::from(body.to_vec()));
    server.answer(request).await.unwrap()
}

/// A policy on a listener of the Gateway; a pending one may be allowed.
fn review(listener: &str, pending: &str) -> Value {
    let mut object = secretive(policy("RetryPolicy", "infra", "retries", "edge"));
    object["spec"]["targetRefs"][0]["sectionName"] = json!(listener);
    object["spec"]["retries"] = json!(3);
    object["metadata"]["annotations"]["attache.dev/pending"] = json!(pending);
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u-1", "operation": "CREATE", "namespace": "infra", "name": "retries",
            "kind": {"group": "example.dev", "version": "v1", "kind": "RetryPolicy"},
            "userInfo": {"username": USER, "uid": USER, "groups": [USER], "extra": {"a": [USER]}},
            "object": object,
        },
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neither_token_nor_bodies_nor_users_are_in_a_log() {
    let (server, addr, shown) = cluster().await;
    let kubeconfig = format!(
        "{{apiVersion: v1, kind: Config, current-context: c,
        contexts: [{{name: c, context: {{cluster: c, user: u}}}}],
        clusters: [{{name: c, cluster: {{server: 'http://{addr}'}}}}],
        users: [{{name: u, user: {{tokenFile: token}}}}]}}"
    );
    let mut process = Process::start(&Setup {
        state: vec!["--kubeconfig={dir}/kubeconfig".to_owned()],
        more: ["--drain-delay=0s", "--config={dir}/config"]
            .map(str::to_owned)
            .to_vec(),
        files: vec![
            ("kubeconfig", kubeconfig),
            ("token", TOKEN.to_owned()),
            ("config", CONFIG.to_owned()),
        ],
        level: ALL,
        ..Setup::default()
    });
    // All valid lists are complete; the others are reported.
    let complete = [
        "[+]cache:RetryPolicy.example.dev",
        "[+]cache:Gateway ok",
        "[+]cache:Service ok",
    ];
    for known in complete {
        process.until("/readyz?verbose", 503, known).await;
    }
    for spoilt in ["CutPolicy", "ListPolicy"] {
        let failed = format!("[-]cache:{spoilt}.example.dev failed");
        process.until("/readyz?verbose", 503, &failed).await;
    }
    // Watches receive unusual events.
    server.say(GATEWAYS, BODY, secretive(gateway("infra", "edge")));
    let odd = json!({"metadata": {"name": "s", "labels": BODY}, "spec": BODY});
    server.say(SERVICES, "ADDED", odd);
    let mut client = process.connect().await;
    let reviews = [
        review("http", "false"),
        review("htpp", "false"),
        review("later", "true"),
    ];
    for path in ["/validate?timeout=5s", "/mutate?timeout=5s"] {
        for review in &reviews {
            let answer = client.post(path, review.to_string().as_bytes()).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
    }
    for sample in [
        "attache_sar_total{cached=\"false\",result=\"failed\"}",
        "attache_events_total{result=\"failed\"}",
        "attache_skipped_objects{kind=\"Service\"}",
    ] {
        process.counts(sample).await;
    }
    signal("TERM", process.pid().to_string());
    assert_eq!(process.ended().await.code(), Some(0));
    let log = process.log();
    // The searched-for data could have been logged.
    assert!(shown.lock().unwrap().contains(&format!("Bearer {TOKEN}")));
    for output in [
        "TRACE hyper",
        "DEBUG attache",
        "DEBUG hyper_util",
        "WARN attache",
    ] {
        assert!(log.contains(output), "no {output:?}");
    }
    for secret in [TOKEN, BODY, USER] {
        let held: Vec<&str> = log.lines().filter(|line| line.contains(secret)).collect();
        assert!(held.is_empty(), "{secret}: {held:#?}");
    }
}
