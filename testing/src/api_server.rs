//! A fake API server for list, watch and get, with failures on command.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::channel::mpsc;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::{Request, Response};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;

mod objects;

pub use objects::*;

pub const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub const SERVICES: &str = "/api/v1/services";
pub const NAMESPACES: &str = "/api/v1/namespaces";
pub const GATEWAYS: &str = "/apis/gateway.networking.k8s.io/v1/gateways";
pub const REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
pub const RETRIES: &str = "/apis/example.dev/v1/retrypolicies";

/// The number of events kept per kind, as in a real API server.
const HISTORY: usize = 10_000;

type Body = UnsyncBoxBody<Bytes, io::Error>;
type Watcher = mpsc::UnboundedSender<Result<Frame<Bytes>, io::Error>>;

#[derive(Clone, Default)]
pub struct Server(Arc<Mutex<State>>, Arc<Notify>);

#[derive(Default)]
struct State {
    down: bool,
    version: u64,
    served: BTreeMap<String, Kind>,
    /// Paths that are refused with this code.
    refused: BTreeMap<String, u16>,
    /// Paths that answer with exactly this code and text.
    answers: BTreeMap<String, (u16, Bytes)>,
    /// Paths whose requests hang until they are removed.
    held: BTreeSet<String>,
    /// Paths on which all pages of a list but the first are refused with this code.
    cut: BTreeMap<String, u16>,
    /// Paths on which the history expires during lists of more pages than this.
    short: BTreeMap<String, usize>,
    /// The pages of the latest list, by path.
    pages: BTreeMap<String, usize>,
    requests: Vec<(Instant, String)>,
    /// The number of lists begun, by path.
    lists: BTreeMap<String, usize>,
    /// Whether access reviews are granted.
    granted: bool,
    /// The access reviews that were answered.
    reviews: Vec<Value>,
}

#[derive(Default)]
struct Kind {
    /// As text: benches list a hundred thousand of them.
    objects: BTreeMap<String, Bytes>,
    watchers: Vec<Watcher>,
    /// Open watches that receive nothing any more.
    dead: Vec<Watcher>,
    /// The latest events with their versions, for watches from an earlier version.
    history: VecDeque<(u64, Bytes)>,
    /// The last version that is no longer in the history.
    gone: u64,
}

// === impl Server ===

impl Server {
    /// Serves CRDs, Services and Namespaces.
    pub fn new() -> Self {
        let server = Self::default();
        for path in [CRDS, SERVICES, NAMESPACES] {
            server.serve(path);
        }
        server
    }

    /// Also serves a Gateway kind and a policy kind, with a Gateway and a policy.
    pub fn with_kinds() -> Self {
        let server = Self::new();
        server.install(&gateway_crd());
        server.install(&policy_crd("example.dev", "RetryPolicy"));
        server.put(GATEWAYS, gateway("infra", "edge"));
        server.put(RETRIES, policy("RetryPolicy", "infra", "retries", "edge"));
        server
    }

    pub fn client(&self) -> kube::Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let server = server.clone();
            async move { server.answer(request).await }
        });
        kube::Client::new(service, "default")
    }

    fn state<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn serve(&self, path: &str) {
        self.state(|state| {
            state.served.entry(path.to_owned()).or_default();
        });
    }

    /// Adds a CRD and serves its first version.
    pub fn install(&self, crd: &Value) {
        self.serve(&path_of(crd));
        self.put(CRDS, crd.clone());
    }

    /// Removes a CRD; its path answers 404 and its watches end.
    pub fn uninstall(&self, crd: &Value) {
        self.state(|state| state.served.remove(&path_of(crd)));
        self.delete(CRDS, &name_of(crd));
    }

    pub fn put(&self, path: &str, mut object: Value) {
        self.state(|state| {
            state.version += 1;
            if object["metadata"].is_object() {
                object["metadata"]["resourceVersion"] = json!(state.version.to_string());
            }
            let kind = state.served.get_mut(path).expect(path);
            let text = Bytes::from(object.to_string());
            let before = kind.objects.insert(name_of(&object), text);
            let what = if before.is_some() {
                "MODIFIED"
            } else {
                "ADDED"
            };
            kind.tell(what, &object);
        });
    }

    pub fn delete(&self, path: &str, name: &str) {
        self.state(|state| {
            state.version += 1;
            let kind = state.served.get_mut(path).expect(path);
            let mut object = parsed(&kind.objects.remove(name).expect(name));
            object["metadata"]["resourceVersion"] = json!(state.version.to_string());
            kind.tell("DELETED", &object);
        });
    }

    /// Sends an arbitrary event to the watches.
    pub fn say(&self, path: &str, what: &str, mut object: Value) {
        self.state(|state| {
            state.version += 1;
            object["metadata"]["resourceVersion"] = json!(state.version.to_string());
            state.served.get_mut(path).expect(path).tell(what, &object);
        });
    }

    /// Silences the open watches without closing them.
    pub fn black_hole(&self, path: &str) {
        self.state(|state| {
            let kind = state.served.get_mut(path).expect(path);
            let watchers = std::mem::take(&mut kind.watchers);
            kind.dead.extend(watchers);
        });
    }

    /// Continues from an earlier version, like a server restored from a backup.
    pub fn restore(&self, version: u64) {
        self.state(|state| {
            state.version = version;
            for kind in state.served.values_mut() {
                kind.history.clear();
                kind.gone = 0;
            }
        });
    }

    /// Refuses all pages of lists but the first, until allowed.
    pub fn refuse_pages(&self, path: &str, code: u16) {
        self.state(|state| state.cut.insert(path.to_owned(), code));
    }

    /// Answers lists of more pages than this with an expired history, until allowed.
    pub fn shorten_history(&self, path: &str, pages: usize) {
        self.state(|state| state.short.insert(path.to_owned(), pages));
    }

    /// Deletes an object without an event.
    pub fn forget(&self, path: &str, name: &str) {
        self.state(|state| state.served.get_mut(path).unwrap().objects.remove(name));
    }

    /// Ends the watches of a path with 410 Gone.
    pub fn expire(&self, path: &str) {
        self.state(|state| {
            let gone = status(410, "too old resource version");
            state.served.get_mut(path).unwrap().tell("ERROR", &gone);
        });
    }

    pub fn refuse(&self, path: &str, code: u16) {
        self.state(|state| state.refused.insert(path.to_owned(), code));
    }

    /// A path answers every request with exactly this code and text.
    pub fn answers(&self, path: &str, code: u16, text: &str) {
        let text = Bytes::copy_from_slice(text.as_bytes());
        self.state(|state| state.answers.insert(path.to_owned(), (code, text)));
    }

    pub fn allow(&self, path: &str) {
        self.state(|state| {
            state.refused.remove(path);
            state.cut.remove(path);
            state.short.remove(path);
        });
    }

    /// Requests to a path hang until released.
    pub fn hold(&self, path: &str) {
        self.state(|state| state.held.insert(path.to_owned()));
    }

    pub fn release(&self, path: &str) {
        self.state(|state| state.held.remove(path));
        self.1.notify_waiters();
    }

    /// Refuses connections and cuts open ones; or stops doing so.
    pub fn down(&self, down: bool) {
        self.state(|state| {
            state.down = down;
            for kind in state.served.values_mut().filter(|_| down) {
                for watcher in kind.watchers.drain(..).chain(kind.dead.drain(..)) {
                    let cut = io::Error::from(io::ErrorKind::ConnectionReset);
                    let _ = watcher.unbounded_send(Err(cut));
                }
            }
        });
    }

    /// Whether access reviews are granted from now on.
    pub fn grant(&self, granted: bool) {
        self.state(|state| state.granted = granted);
    }

    /// The access reviews that were answered.
    pub fn reviews(&self) -> Vec<Value> {
        self.state(|state| state.reviews.clone())
    }

    /// The number of requests to a path.
    pub fn requests(&self, path: &str) -> usize {
        self.times(path).len()
    }

    /// The times of requests to a path.
    pub fn times(&self, path: &str) -> Vec<Instant> {
        self.state(|state| {
            let asked = state.requests.iter().filter(|(_, asked)| asked == path);
            asked.map(|(when, _)| *when).collect()
        })
    }

    /// The number of lists begun on a path.
    pub fn lists(&self, path: &str) -> usize {
        self.state(|state| state.lists.get(path).copied().unwrap_or_default())
    }

    pub fn is_watched(&self, path: &str) -> bool {
        self.state(|state| {
            let kind = state.served.get(path);
            kind.is_some_and(|kind| kind.watchers.iter().any(|w| !w.is_closed()))
        })
    }

    pub async fn answer(&self, request: Request<kube::client::Body>) -> io::Result<Response<Body>> {
        let path = request.uri().path().to_owned();
        let query = request.uri().query().unwrap_or_default().to_owned();
        self.state(|state| state.requests.push((Instant::now(), path.clone())));
        let body = request.into_body().collect().await;
        let body = body.map_err(io::Error::other)?.to_bytes();
        loop {
            // Listens before it looks, so that no release is missed.
            let released = self.1.notified();
            if !self.state(|state| state.held.contains(&path)) {
                break;
            }
            released.await;
        }
        self.state(|state| {
            if state.down {
                return Err(io::Error::from(io::ErrorKind::ConnectionRefused));
            }
            if let Some(code) = state.refused.get(&path) {
                return Ok(json_body(
                    *code,
                    &status(*code, &format!("refused: {path}")),
                ));
            }
            if let Some((code, text)) = state.answers.get(&path) {
                return Ok(text_body(*code, text.clone()));
            }
            let is_next = query.contains("continue=");
            if let Some(code) = state.cut.get(&path).filter(|_| is_next) {
                let why = format!("no more pages: {path}");
                return Ok(json_body(*code, &status(*code, &why)));
            }
            let pages = state.pages.entry(path.clone()).or_default();
            *pages = if is_next { *pages + 1 } else { 1 };
            if is_next && state.short.get(&path).is_some_and(|most| *pages > *most) {
                let why = "the provided continue parameter is too old";
                return Ok(json_body(410, &status(410, why)));
            }
            if path == REVIEWS {
                return Ok(state.review(&body));
            }
            let version = state.version.to_string();
            if let Some(kind) = state.served.get_mut(&path) {
                if query.contains("limit=") && !is_next {
                    *state.lists.entry(path.clone()).or_default() += 1;
                }
                return Ok(if query.contains("watch=true") {
                    kind.watch(&query)
                } else {
                    kind.list(&query, &version)
                });
            }
            Ok(match state.get(&path) {
                Some(object) => json_body(200, &object),
                None => json_body(404, &status(404, "not found")),
            })
        })
    }
}

impl State {
    fn review(&mut self, body: &[u8]) -> Response<Body> {
        let mut review: Value = serde_json::from_slice(body).expect("an access review");
        self.reviews.push(review.clone());
        review["status"] = json!({"allowed": self.granted});
        json_body(201, &review)
    }

    /// An object by its own path: `/apis/GROUP/VERSION/namespaces/NS/PLURAL/NAME`.
    fn get(&self, path: &str) -> Option<Value> {
        let (collection, name) = path.rsplit_once('/')?;
        let (front, back) = collection.split_once("/namespaces/")?;
        let (namespace, plural) = back.split_once('/')?;
        let kind = self.served.get(&format!("{front}/{plural}"))?;
        let object = parsed(kind.objects.get(name)?);
        (object["metadata"]["namespace"] == namespace).then_some(object)
    }
}

impl Kind {
    fn tell(&mut self, what: &str, object: &Value) {
        let line = Bytes::from(format!("{{\"type\":\"{what}\",\"object\":{object}}}\n"));
        let version = object["metadata"]["resourceVersion"].as_str();
        if let Some(version) = version.and_then(|version| version.parse().ok()) {
            self.history.push_back((version, line.clone()));
            if self.history.len() > HISTORY {
                self.gone = self.history.pop_front().map_or(0, |(version, _)| version);
            }
        }
        self.watchers.retain(|watcher| {
            let frame = Frame::data(line.clone());
            watcher.unbounded_send(Ok(frame)).is_ok()
        });
    }

    /// A watch from the requested version.
    fn watch(&mut self, query: &str) -> Response<Body> {
        let (sender, receiver) = mpsc::unbounded();
        let from = number(query, "resourceVersion=").unwrap_or(0);
        if from < self.gone {
            return json_body(410, &status(410, "too old resource version"));
        }
        for (_, line) in self.history.iter().filter(|(version, _)| *version > from) {
            let _ = sender.unbounded_send(Ok(Frame::data(line.clone())));
        }
        self.watchers.push(sender);
        Response::new(StreamBody::new(receiver).boxed_unsync())
    }

    fn list(&self, query: &str, version: &str) -> Response<Body> {
        let number = |name: &str| number(query, name).and_then(|n| usize::try_from(n).ok());
        let from = number("continue=").unwrap_or(0);
        let limit = number("limit=").unwrap_or(usize::MAX);
        let items: Vec<_> = self.objects.values().skip(from).take(limit).collect();
        let next = from + items.len();
        let more = if next < self.objects.len() {
            next.to_string()
        } else {
            String::new()
        };
        let metadata = json!({"resourceVersion": version, "continue": more});
        let mut list = format!(
            "{{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{metadata},\"items\":["
        )
        .into_bytes();
        for (i, item) in items.into_iter().enumerate() {
            list.extend(if i == 0 { &b""[..] } else { b"," });
            list.extend_from_slice(item);
        }
        list.extend(b"]}");
        text_body(200, list.into())
    }
}

fn number(query: &str, name: &str) -> Option<u64> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix(name));
    value.and_then(|value| value.parse().ok())
}

fn parsed(text: &Bytes) -> Value {
    serde_json::from_slice(text).unwrap()
}

fn json_body(code: u16, value: &Value) -> Response<Body> {
    text_body(code, Bytes::from(value.to_string()))
}

fn text_body(code: u16, text: Bytes) -> Response<Body> {
    let body = Full::new(text);
    let body = body.map_err(|never| match never {}).boxed_unsync();
    let response = Response::builder().status(code);
    response.body(body).unwrap()
}

fn status(code: u16, message: &str) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": "Test", "code": code,
    })
}

fn name_of(object: &Value) -> String {
    object["metadata"]["name"]
        .as_str()
        .unwrap_or("?")
        .to_owned()
}

/// The path of the first version of a CRD.
fn path_of(crd: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let spec = &crd["spec"];
    format!(
        "/apis/{}/{}/{}",
        text(&spec["group"]),
        text(&spec["versions"][0]["name"]),
        text(&spec["names"]["plural"])
    )
}
