//! The server under test, with a small state and its own certificate.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use attache::certificates::{CaAndPair, make_ca_and_pair};
use attache::config::Configuration;
use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::Object;
use attache::engine::state::snapshot::{Change, Snapshot};
use attache::http::admission::App;
use attache::http::dependencies::{Age, Confirm, Dependencies, MayGet};
use attache::http::drain::Phase;
use attache::http::limits::Limits;
use attache::http::router::{guarded_by, router};
use attache::http::server::{BoundListener, Options, Server};
use attache::http::tls::{Callers, Certificates, server_config, server_config_for};
use attache::metrics::Metrics;
use attache::telemetry::traces::Traces;
use serde_json::json;
use serde_json::value::to_raw_value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use testing::client::{Client, Tls};
pub(crate) use testing::eventually::until;

const PROFILES: &str = r"
apiVersion: attache.dev/v1
kind: Configuration
profiles:
- match: {group: policies.example.com, kind: RetryPolicy}
  class: inherited
  targets:
    refs: [{path: spec.targetRef, sections: true}]
    required: true
  merge:
    strategy:
      path: spec.mergeStrategy
      values:
        AtomicDefaults: {direction: defaults, op: atomic}
";

pub(crate) struct Setup {
    pub(crate) limits: Limits,
    pub(crate) options: Options,
    pub(crate) confirm: Option<Confirm>,
    pub(crate) may_get: Option<MayGet>,
    /// The age of the state.
    pub(crate) age: Option<Age>,
    /// A state other than [`snapshot`].
    pub(crate) state: Option<Snapshot>,
    pub(crate) certificates: Option<Arc<Certificates>>,
    /// The allowed callers.
    pub(crate) callers: Option<Arc<Callers>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) traces: Traces,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            options: Options {
                drain_delay: Duration::from_millis(200),
                ..Options::default()
            },
            confirm: None,
            may_get: None,
            age: None,
            state: None,
            certificates: None,
            callers: None,
            metrics: Arc::new(Metrics::new().unwrap()),
            traces: Traces::default(),
        }
    }
}

pub(crate) struct Running {
    pub(crate) addr: SocketAddr,
    pub(crate) made: CaAndPair,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) phase: watch::Sender<Phase>,
    pub(crate) serving: JoinHandle<()>,
}

pub(crate) fn pair() -> CaAndPair {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    make_ca_and_pair(&names, jiff::Zoned::now().date()).unwrap()
}

/// Gateway infra/edge with the listeners http and https.
pub(crate) fn edge() -> Object {
    let listener = |name: &str, port: u16| json!({"name": name, "port": port, "protocol": "HTTP"});
    let edge = json!({
        "metadata": {"namespace": "infra", "name": "edge"},
        "spec": {"gatewayClassName": "c", "listeners": [listener("http", 80), listener("https", 443)]},
    });
    Object::from_json(
        &GroupKind::gateway_api("Gateway"),
        &to_raw_value(&edge).unwrap(),
    )
    .unwrap()
}

pub(crate) fn snapshot() -> Snapshot {
    let config: Configuration = serde_saphyr::from_str(PROFILES).unwrap();
    let listed = Change::Listed(GroupKind::gateway_api("Gateway"), vec![Arc::new(edge())]);
    Snapshot::new(config.rules(testing::builtin())).apply(listed)
}

pub(crate) async fn start() -> Running {
    start_with(Setup::default()).await
}

pub(crate) async fn start_with(setup: Setup) -> Running {
    let made = pair();
    let certificates = setup.certificates.unwrap_or_else(|| {
        let certificates = Certificates::new();
        certificates
            .store(made.cert_pem.as_bytes(), made.key_pem.as_bytes())
            .unwrap();
        certificates
    });
    let metrics = setup.metrics;
    let (phase, phases) = watch::channel(Phase::Running);
    let state = setup.state.unwrap_or_else(snapshot);
    let state = Arc::new(ArcSwap::from_pointee(state));
    let app = App::new(
        state,
        Arc::default(),
        Dependencies {
            confirm: setup.confirm,
            list: None,
            may_get: setup.may_get,
            age: setup.age,
            note: None,
            traces: setup.traces,
        },
        metrics.clone(),
        setup.limits,
    );
    let (router, tls) = match setup.callers {
        Some(callers) => (
            guarded_by(callers.clone(), router(app)),
            server_config_for(certificates, callers),
        ),
        None => (router(app), server_config(certificates)),
    };
    let server = Server {
        router,
        tls: Some(tls.unwrap()),
        options: setup.options,
        metrics: metrics.clone(),
        phase: phases,
    };
    let bound = BoundListener::bind(([127, 0, 0, 1], 0).into())
        .await
        .unwrap();
    Running {
        addr: bound.addr,
        made,
        metrics,
        phase,
        serving: tokio::spawn(server.serve(bound)),
    }
}

impl Running {
    pub(crate) async fn connect(&self) -> Tls {
        Tls::connect(self.addr, &self.made.ca_pem).await
    }

    /// Checks that a new client is served.
    pub(crate) async fn allows(&self) {
        allows(&mut self.connect().await).await;
    }
}

/// Checks that a client is served: a good policy is allowed without warnings.
pub(crate) async fn allows<S: AsyncRead + AsyncWrite + Unpin>(client: &mut Client<S>) {
    let body = on_listener("http");
    let answer = client.post("/validate", body.as_bytes()).await;
    assert_eq!(answer.body, ALLOWED);
}

/// A review of the `RetryPolicy` infra/retries with this spec, as JSON text.
pub(crate) fn review(spec: &str) -> String {
    let object =
        format!(r#"{{"metadata":{{"namespace":"infra","name":"retries"}},"spec":{spec}}}"#);
    review_of(&object)
}

pub(crate) fn review_of(object: &str) -> String {
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u-1","kind":{{"group":"policies.example.com","version":"v1","kind":"RetryPolicy"}},"operation":"CREATE","namespace":"infra","name":"retries","object":{object}}}}}"#
    )
}

pub(crate) fn on_listener(name: &str) -> String {
    review(&format!(
        r#"{{"targetRef":{{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"edge","sectionName":"{name}"}},"retries":3}}"#
    ))
}

/// An answer that allows without warnings.
pub(crate) const ALLOWED: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u-1","allowed":true}}"#;
