//! An API server with a large cluster.

use std::sync::Arc;

use attache::certificates::CaAndPair;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio_rustls::TlsAcceptor;

use testing::api_server::{self, CRDS, GATEWAYS, NAMESPACES, SERVICES, Server};
use testing::load::cluster::{ROUTES, listen};
use testing::load::life::{self, GATEWAY_API};
use testing::load::process::pair;

/// Policies per ten routes.
const POLICIES: usize = 1;

pub(crate) struct Cluster {
    pub(crate) server: Server,
    pub(crate) routes: usize,
    pub(crate) policies: usize,
    pub(crate) kubeconfig: String,
    /// API paths of all kinds.
    pub(crate) paths: Vec<String>,
}

/// The API path of policies with this number.
pub(crate) fn policies_of(i: usize) -> String {
    let (group, _, plural, version) = life::KINDS[i % life::KINDS.len()];
    format!("/apis/{group}/{version}/{plural}")
}

impl Cluster {
    pub(crate) async fn start(routes: usize) -> Self {
        let server = Server::new();
        server.install(&api_server::gateway_crd());
        server.install(&api_server::crd(
            GATEWAY_API,
            "HTTPRoute",
            "httproutes",
            "v1",
        ));
        for definition in life::definitions() {
            server.install(&definition);
        }
        server.put(NAMESPACES, named("infra"));
        for i in 0..life::namespaces(routes) {
            server.put(NAMESPACES, life::namespace(i));
        }
        for i in 0..life::gateways(routes) {
            server.put(GATEWAYS, life::gateway(i));
        }
        for i in 0..routes {
            server.put(ROUTES, life::route(i));
        }
        let policies = routes / 10 * POLICIES;
        for i in 0..policies {
            server.put(&policies_of(i), life::policy(i, routes));
        }
        // Users may read the policies that warnings name.
        server.grant(true);
        let made = pair();
        let addr = listen(&server, Some(acceptor(&made))).await;
        let cluster = json!({
            "server": format!("https://{addr}"), "tls-server-name": "localhost",
            "certificate-authority-data": STANDARD.encode(&made.ca_pem),
        });
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": cluster}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "users": [{"name": "u", "user": {}}],
        });
        let paths = [CRDS, SERVICES, NAMESPACES, GATEWAYS, ROUTES].map(str::to_owned);
        let policy_paths = (0..life::KINDS.len()).map(policies_of);
        Self {
            server,
            routes,
            policies,
            kubeconfig: kubeconfig.to_string(),
            paths: paths.into_iter().chain(policy_paths).collect(),
        }
    }
}

fn named(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

fn acceptor(made: &CaAndPair) -> TlsAcceptor {
    let chain = CertificateDer::pem_slice_iter(made.cert_pem.as_bytes());
    let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_slice(made.key_pem.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}
