//! A replica as a process, and its API server over HTTP.

use std::convert::Infallible;
use std::net::SocketAddr;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::objects::{Event, definitions, path_of};
use testing::api_server::Server;
use testing::client::Tls;
use testing::eventually::becomes;
use testing::serving::Serving;

/// The fake API server of the cache's tests, on a socket.
pub struct Api {
    server: Server,
    addr: SocketAddr,
}

impl Api {
    /// Serves the CRDs of all kinds, and no objects.
    pub async fn start() -> Self {
        let server = Server::new();
        for definition in definitions() {
            server.install(&definition);
        }
        server.grant(true);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let client = server.client();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let client = client.clone();
                let service = hyper::service::service_fn(move |request: Request<Incoming>| {
                    let client = client.clone();
                    async move { Ok::<_, Infallible>(forward(client, request).await) }
                });
                tokio::spawn(async move {
                    let http = hyper::server::conn::http1::Builder::new();
                    let _ = http.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { server, addr }
    }

    /// Creates or replaces an object.
    pub fn put(&self, object: &Value) {
        self.server.put(&path_of(object), object.clone());
    }

    /// Applies an event.
    pub fn take(&self, event: &Event) {
        match event {
            Event::Put(object) => self.put(object),
            Event::Delete(object) => {
                let name = object["metadata"]["name"].as_str().unwrap();
                self.server.delete(&path_of(object), name);
            }
            Event::Expire(object) => self.server.expire(&path_of(object)),
        }
    }

    /// Waits until every kind is watched, so that later events are seen.
    pub async fn until_watched(&self) {
        let kinds = definitions();
        let mut paths: Vec<String> = kinds
            .iter()
            .map(|kind| path_of(&json!({"kind": kind["spec"]["names"]["kind"]})))
            .collect();
        paths.extend(
            [
                testing::api_server::SERVICES,
                testing::api_server::NAMESPACES,
            ]
            .map(str::to_owned),
        );
        becomes("all kinds are watched", async || {
            let missing = paths.iter().find(|path| !self.server.is_watched(path));
            missing.map_or(Ok(()), |path| Err(path.clone()))
        })
        .await;
    }
}

async fn forward(client: kube::Client, request: Request<Incoming>) -> Response<kube::client::Body> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    let request = Request::from_parts(head, kube::client::Body::from(body));
    client.send(request).await.unwrap()
}

/// `attache serve` with an API server; killed at the end of the test.
pub struct Replica(Serving);

impl Replica {
    /// Starts a replica with this many worker threads and waits until it is ready.
    pub async fn start(api: &Api, threads: usize) -> Self {
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: c, cluster: {{server: 'http://{}'}}}}]\nusers: [{{name: u, user: {{}}}}]\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n",
            api.addr
        );
        let start = move || {
            Serving::start(|dir, mut attache| {
                let file = |name: &str, text: &str| {
                    let path = dir.join(name);
                    std::fs::write(&path, text).unwrap();
                    path
                };
                attache
                    .arg("--kubeconfig")
                    .arg(file("kubeconfig", &kubeconfig))
                    .arg("--config")
                    .arg(file("attache.yaml", super::objects::CONFIGURATION))
                    .env("ATTACHE_LOG", "error")
                    .env("TOKIO_WORKER_THREADS", threads.to_string());
                attache
            })
        };
        // The API server runs on this runtime, which must not block.
        let replica = Self(tokio::task::spawn_blocking(start).await.unwrap());
        replica.0.ready().await;
        replica
    }

    /// A new connection.
    pub async fn connect(&self) -> Tls {
        self.0.connect().await
    }
}
