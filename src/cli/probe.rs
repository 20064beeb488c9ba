//! `attache probe`: asks a running attache as the API server and kubelet do. `helm test` runs it in the cluster.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Request, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::{Failure, time};
use crate::reading::{self, Pipes};

/// Time for one attempt, as for the API server in the manifests.
const ATTEMPT: Duration = Duration::from_secs(5);
/// Time between two attempts.
const PAUSE: Duration = Duration::from_secs(1);
/// The largest answer that is read.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// The uid of the review, which the answer repeats.
const UID: &str = "attache-probe";

/// Arguments of `attache probe`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The URLs to ask: a webhook (`https://HOST/validate`), which has to answer a review, or a check
    /// (`http://HOST:9090/readyz`), which has to pass.
    #[arg(value_name = "URL", required = true)]
    urls: Vec<Uri>,
    /// The CA that the serving certificate must come from, a PEM file; by default those of the system.
    #[arg(long, value_name = "FILE")]
    ca_cert: Option<PathBuf>,
    /// The time after which it gives up if not all have answered.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time::timeout)]
    timeout: Duration,
}

/// The fields of an `AdmissionReview` that the probe reads.
#[derive(Deserialize)]
struct Answer {
    response: Response,
}

#[derive(Deserialize)]
struct Response {
    uid: String,
    allowed: bool,
}

type HttpClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// Runs the command.
///
/// # Errors
/// If the CA cannot be read, or one of the addresses gives no good answer in time.
pub fn run(args: &Args) -> Result<(), Failure> {
    let client = client(args.ca_cert.as_deref())?;
    let deadline = Instant::now() + args.timeout;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        for url in &args.urls {
            let answer = until_answered(&client, url, deadline).await?;
            super::print(&format!("{url}: {answer}\n"))?;
        }
        Ok(())
    })
}

fn client(ca: Option<&Path>) -> Result<HttpClient, Failure> {
    let tls = ClientConfig::builder_with_provider(default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots(ca)?)
        .with_no_client_auth();
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .build();
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}

fn roots(ca: Option<&Path>) -> Result<RootCertStore, Failure> {
    let mut roots = RootCertStore::empty();
    let Some(file) = ca else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(roots);
    };
    let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
    let pem = reading::bytes(file, reading::SMALL, Pipes::Refused).map_err(|e| wrong(&e))?;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        // The error of the parser would repeat bytes of the file, which may hold a key.
        let certificate = certificate.map_err(|_| wrong(&"it is not PEM"))?;
        roots.add(certificate).map_err(|e| wrong(&e))?;
    }
    if roots.is_empty() {
        return Err(wrong(&"it holds no certificate").into());
    }
    Ok(roots)
}

/// Asks once, and again until there is a good answer or no time left. The error is that of the last attempt.
async fn until_answered(
    client: &HttpClient,
    url: &Uri,
    deadline: Instant,
) -> Result<String, Failure> {
    loop {
        let why = match timeout(ATTEMPT, ask(client, url)).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(why)) => why,
            Err(_) => format!("no answer in {ATTEMPT:?}"),
        };
        if Instant::now() + PAUSE >= deadline {
            return Err(format!("{url}: {why}").into());
        }
        sleep(PAUSE).await;
    }
}

/// One attempt.
async fn ask(client: &HttpClient, url: &Uri) -> Result<String, String> {
    let is_webhook = url.scheme_str() == Some("https");
    let (method, body) = if is_webhook {
        (Method::POST, review().to_string())
    } else {
        (Method::GET, String::new())
    };
    let request = Request::builder()
        .method(method)
        .uri(url)
        .header(CONTENT_TYPE, "application/json")
        .body(Full::from(body))
        .map_err(|e| e.to_string())?;
    let response = client
        .request(request)
        .await
        .map_err(|e| refused(innermost(&e)))?;
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_ANSWER_BYTES);
    let body = body.collect().await.map_err(|e| e.to_string())?.to_bytes();
    if status != StatusCode::OK {
        let text = String::from_utf8_lossy(&body);
        return Err(format!("{status}: {}", text.trim_end()));
    }
    if is_webhook {
        judged(&body)
    } else {
        Ok(status.to_string())
    }
}

/// The reason of a failed connection; the library has no words for users if no CA that is trusted signed a certificate.
fn refused(why: String) -> String {
    if why.ends_with("UnknownIssuer") {
        "its certificate is not signed by a CA that this machine trusts; name the CA with --ca-cert"
            .to_owned()
    } else {
        why
    }
}

/// A review of an object that is of no concern to attache, so that every state allows it.
fn review() -> Value {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": UID, "namespace": "default"}});
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": UID,
            "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
            "resource": {"group": "", "version": "v1", "resource": "configmaps"},
            "operation": "CREATE",
            "name": UID,
            "namespace": "default",
            "userInfo": {"username": UID},
            "dryRun": true,
            "object": object,
        },
    })
}

fn judged(body: &[u8]) -> Result<String, String> {
    let text = || String::from_utf8_lossy(body);
    let answer = serde_json::from_slice::<Answer>(body);
    let Answer { response } = answer.map_err(|e| format!("{e} in the answer {}", text()))?;
    if response.uid != UID {
        return Err(format!("this is the answer to another review: {}", text()));
    }
    if !response.allowed {
        return Err(format!("it refuses the review: {}", text()));
    }
    Ok("reviews are answered".to_owned())
}

/// The innermost cause: the outer errors only say that a request failed.
fn innermost(mut error: &dyn Error) -> String {
    while let Some(inner) = error.source() {
        error = inner;
    }
    error.to_string()
}
