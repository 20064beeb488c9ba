//! The memory of listing a hundred thousand objects in pages, with failures in the middle.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use attache::cache::{Cluster, Settings};
use attache::engine::kinds::profile::ProfileRules;
use attache::engine::model::ids::GroupKind;
use attache::metrics::Metrics;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::{Request, Response};
use serde_json::json;
use testing::eventually::until_within;
use tokio::sync::watch;

const OBJECTS: usize = 100_000;
const ROUTES: &str = "/apis/gateway.networking.k8s.io/v1/httproutes";
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// Memory besides the state: a page as text and as objects, and the runtime.
const FIXED: u64 = 16 << 20;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// A fake API server. Each list of routes fails at the given page with the given status.
#[derive(Default)]
struct Server {
    breaks: Vec<(usize, u16)>,
    lists: AtomicUsize,
    watches: AtomicUsize,
}

/// A kilobyte, half of it managed fields.
fn route(n: usize) -> String {
    let written = r#"{"manager":"kubectl","operation":"Apply","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:parentRefs":{".":{},"f:name":{}},"f:rules":{".":{},"f:backendRefs":{".":{},"f:name":{},"f:port":{}}}}}}"#;
    format!(
        r#"{{"metadata":{{"name":"r{n}","namespace":"shop-{}","uid":"{n}","resourceVersion":"{n}","creationTimestamp":"2026-01-01T00:00:00Z","labels":{{"app":"shop-{n}"}},"managedFields":[{written},{written}]}},"spec":{{"hostnames":["h{n}.example.com"],"parentRefs":[{{"name":"edge","namespace":"infra"}}],"rules":[{{"name":"main","matches":[{{"path":{{"type":"PathPrefix","value":"/{n}"}}}}],"backendRefs":[{{"name":"b{n}","port":80}}]}}]}}}}"#,
        n / 1_000
    )
}

fn number(query: &str, name: &str) -> Option<usize> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix(name));
    value.and_then(|value| value.parse().ok())
}

fn answer(code: u16, text: String) -> Response<Body> {
    let body = Full::new(Bytes::from(text)).boxed_unsync();
    Response::builder().status(code).body(body).unwrap()
}

// === impl Server ===

impl Server {
    fn answer(&self, path: &str, query: &str) -> Response<Body> {
        if query.contains("watch=true") {
            return self.watch(path);
        }
        match path {
            ROUTES => self.page(query),
            CRDS => {
                let crd = json!({
                    "metadata": {"name": "httproutes.gateway.networking.k8s.io"},
                    "spec": {
                        "group": "gateway.networking.k8s.io", "scope": "Namespaced",
                        "names": {"kind": "HTTPRoute", "plural": "httproutes"},
                        "versions": [{"name": "v1", "served": true, "storage": true}],
                    },
                    "status": {"conditions": [{"type": "Established", "status": "True"}]},
                });
                answer(
                    200,
                    format!(r#"{{"metadata":{{"resourceVersion":"1"}},"items":[{crd}]}}"#),
                )
            }
            _ => answer(
                200,
                r#"{"metadata":{"resourceVersion":"1"},"items":[]}"#.to_owned(),
            ),
        }
    }

    /// The first watch of routes is told that its history expired; all others receive nothing.
    fn watch(&self, path: &str) -> Response<Body> {
        let gone = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}}"#;
        let is_first = path == ROUTES && self.watches.fetch_add(1, Ordering::Relaxed) == 0;
        let output = is_first.then(|| Ok(Frame::data(Bytes::from(format!("{gone}\n")))));
        let body = stream::iter(output).chain(stream::pending());
        Response::new(StreamBody::new(body).boxed_unsync())
    }

    fn page(&self, query: &str) -> Response<Body> {
        let limit = number(query, "limit=").expect("pages");
        let from = number(query, "continue=").unwrap_or_default();
        if from == 0 {
            self.lists.fetch_add(1, Ordering::Relaxed);
        }
        let list = self.lists.load(Ordering::Relaxed);
        if let Some((_, code)) = self
            .breaks
            .get(list - 1)
            .filter(|(at, _)| *at <= from / limit)
        {
            let status = json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "no more", "reason": "Test", "code": code,
            });
            return answer(*code, status.to_string());
        }
        let next = (from + limit).min(OBJECTS);
        let more = if next < OBJECTS {
            next.to_string()
        } else {
            String::new()
        };
        let mut page =
            format!(r#"{{"metadata":{{"resourceVersion":"7","continue":"{more}"}},"items":["#);
        for n in from..next {
            let comma = if n == from { "" } else { "," };
            write!(page, "{comma}{}", route(n)).unwrap();
        }
        page.push_str("]}");
        answer(200, page)
    }

    fn client(self: &Arc<Self>) -> kube::Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let (path, query) = (request.uri().path(), request.uri().query());
            let answer = server.answer(path, query.unwrap_or_default());
            async move { Ok::<_, Infallible>(answer) }
        });
        kube::Client::new(service, "default")
    }
}

/// Longer than all retries, in virtual time.
const RETRIES: Duration = Duration::from_mins(30);

/// A single thread, so that all allocations are counted, and virtual time, so that retries do not wait.
#[test]
fn long_lists_that_break_off_take_what_the_state_takes_twice_at_most() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    let server = Arc::new(Server {
        // Fails twice before the first complete list, and once after the history expired.
        breaks: vec![(10, 500), (20, 429), (usize::MAX, 0), (100, 503)],
        ..Server::default()
    });
    let routes = GroupKind::gateway_api("HTTPRoute");
    let mut running = None;
    let filled = allocation_counter::measure(|| {
        runtime.block_on(async {
            let metrics = Arc::new(Metrics::new().unwrap());
            let (rules, known) = watch::channel(Arc::new(ProfileRules::default()));
            let cluster = Cluster::start(server.client(), known, metrics, Settings::default());
            until_within(RETRIES, "ready", || cluster.sync.ready()).await;
            assert_eq!(cluster.snapshot.load().count(&routes), OBJECTS);
            running = Some((cluster, rules));
        });
    });
    assert_eq!(server.lists.load(Ordering::Relaxed), 3);
    let (cluster, _rules) = running.unwrap();
    let state = u64::try_from(filled.bytes_current).unwrap();
    assert!(
        filled.bytes_max <= 2 * state + FIXED,
        "{} for {state}",
        filled.bytes_max
    );

    let again = allocation_counter::measure(|| {
        runtime.block_on(async {
            let lists = || server.lists.load(Ordering::Relaxed);
            until_within(RETRIES, "listed in vain", || lists() == 5).await;
            assert_eq!(
                cluster.snapshot.load().count(&routes),
                OBJECTS,
                "the old state counts"
            );
        });
    });
    // In addition to the existing state.
    assert!(
        again.bytes_max <= state + state / 2 + FIXED,
        "{} beside {state}",
        again.bytes_max
    );
}
