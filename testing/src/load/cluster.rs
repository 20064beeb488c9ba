//! The API server for the soak: the one of the cache's tests, over HTTP on loopback, with a cluster that changes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::interval;
use tokio_rustls::TlsAcceptor;

use super::objects;
use crate::api_server::{self, GATEWAYS, NAMESPACES, Server};

pub const ROUTES: &str = "/apis/gateway.networking.k8s.io/v1/httproutes";
pub const POLICIES: &str = "/apis/policies.example.com/v1/retrypolicies";
/// Namespaces with routes.
const TENANTS: usize = 50;
/// The changes of a second are made in this many batches.
const PORTIONS: u64 = 100;

/// An API server with a cluster.
pub struct Api {
    pub server: Server,
    pub addr: SocketAddr,
    pub routes: usize,
    pub policies: usize,
}

/// Changes the cluster until it is dropped.
pub struct Churn {
    made: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

// === impl Api ===

impl Api {
    pub async fn start(routes: usize, policies: usize) -> Self {
        let server = Server::new();
        let gateway_api = "gateway.networking.k8s.io";
        server.install(&api_server::gateway_crd());
        server.install(&api_server::crd(
            gateway_api,
            "HTTPRoute",
            "httproutes",
            "v1",
        ));
        let mut crd = objects::crd();
        crd["status"] = json!({"conditions": [{"type": "Established", "status": "True"}]});
        server.install(&crd);
        for name in (0..TENANTS)
            .map(|i| format!("ns{i}"))
            .chain(["infra".to_owned()])
        {
            let metadata = json!({"name": name});
            server.put(
                NAMESPACES,
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}),
            );
        }
        for i in 0..routes.div_ceil(100) {
            server.put(GATEWAYS, objects::gateway(i));
        }
        for i in 0..routes {
            server.put(ROUTES, objects::route(i));
        }
        for i in 0..policies {
            server.put(POLICIES, objects::policy(i, routes));
        }
        // Users may read the policies that warnings name.
        server.grant(true);
        let addr = listen(&server, None).await;
        Self {
            server,
            addr,
            routes,
            policies,
        }
    }

    /// The contents of a file for `--kubeconfig`.
    pub fn kubeconfig(&self) -> String {
        let cluster = json!({"name": "c", "cluster": {"server": format!("http://{}", self.addr)}});
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [cluster],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "users": [{"name": "u", "user": {}}],
        })
        .to_string()
    }

    /// Makes live reads of Gateways hang, or releases them.
    pub fn hold_reads(&self, hold: bool) {
        for i in 0..self.routes.div_ceil(100) {
            let path = format!("/apis/gateway.networking.k8s.io/v1/namespaces/infra/gateways/g{i}");
            if hold {
                self.server.hold(&path);
            } else {
                self.server.release(&path);
            }
        }
    }

    /// Makes this many changes per second at fixed times.
    pub fn churn(&self, per_second: u64) -> Churn {
        let made = Arc::<AtomicU64>::default();
        let (server, routes, policies) = (self.server.clone(), self.routes, self.policies);
        let counted = made.clone();
        let work = async move {
            let started = Instant::now();
            let mut ticks = interval(Duration::from_secs(1) / u32::try_from(PORTIONS).unwrap());
            let mut n = 0;
            loop {
                ticks.tick().await;
                let due = (started.elapsed().as_secs_f64() * per_second as f64) as u64;
                while n < due {
                    change(&server, n, routes, policies);
                    n += 1;
                    counted.store(n, Ordering::Relaxed);
                }
            }
        };
        Churn {
            made,
            task: tokio::spawn(work),
        }
    }
}

// === impl Churn ===

impl Churn {
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }
}

impl Drop for Churn {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Makes one of 20 changes: 13 update a route, 4 a policy and 1 a Gateway; one creates or deletes a
/// route, and one a policy.
fn change(server: &Server, n: u64, routes: usize, policies: usize) {
    let round = n / 20;
    let i = usize::try_from(n * 7919).unwrap();
    match n % 20 {
        0..13 => {
            let mut route = objects::route(i % routes);
            route["metadata"]["labels"]["round"] = json!(round.to_string());
            route["spec"]["rules"][0]["matches"][0]["path"]["value"] = json!(format!("/{round}"));
            server.put(ROUTES, route);
        }
        13..17 => {
            let mut policy = objects::policy(i % policies, routes);
            policy["spec"]["retries"] = json!(round % 100);
            server.put(POLICIES, policy);
        }
        17 => {
            let mut gateway = objects::gateway(i % routes.div_ceil(100));
            gateway["metadata"]["labels"] = json!({"round": round.to_string()});
            server.put(GATEWAYS, gateway);
        }
        18 => come_or_go(server, ROUTES, round, objects::route(routes)),
        _ => come_or_go(server, POLICIES, round, objects::policy(policies, routes)),
    }
}

fn come_or_go(server: &Server, path: &str, round: u64, object: Value) {
    if round.is_multiple_of(2) {
        server.put(path, object);
    } else {
        server.delete(path, object["metadata"]["name"].as_str().unwrap());
    }
}

/// Serves on a free port, with TLS if an acceptor is given.
pub async fn listen(server: &Server, tls: Option<TlsAcceptor>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(accept(listener, server.clone(), tls));
    addr
}

async fn accept(listener: TcpListener, server: Server, tls: Option<TlsAcceptor>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (server, tls) = (server.clone(), tls.clone());
        tokio::spawn(async move {
            match tls {
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        serve(stream, server).await;
                    }
                }
                None => serve(stream, server).await,
            }
        });
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, server: Server) {
    let service = service_fn(move |request: Request<Incoming>| {
        let server = server.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map_err(std::io::Error::other)?;
            let body = kube::client::Body::from(body.to_bytes().to_vec());
            server
                .answer(Request::from_parts(head, body))
                .await
                .map(|answer| {
                    let (mut head, body) = answer.into_parts();
                    let json = hyper::header::HeaderValue::from_static("application/json");
                    head.headers.insert("content-type", json);
                    Response::from_parts(head, body)
                })
        }
    });
    let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // A client that disconnects stops its watches.
    let _ = serving.await;
}
