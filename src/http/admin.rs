//! Probes and metrics, on a separate port without TLS: probes cannot do mutual TLS.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::watch;

use super::drain::Phase;
use crate::metrics::Metrics;

/// One named check of readiness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// Whether the check passed.
    pub ok: bool,
    /// Whether readiness requires it.
    pub required: bool,
    /// Why it failed.
    pub detail: String,
}

/// Runs all checks.
pub type Checks = Arc<dyn Fn() -> Vec<Check> + Send + Sync>;

#[derive(Clone)]
struct Admin {
    checks: Checks,
    metrics: Arc<Metrics>,
    phase: watch::Receiver<Phase>,
}

/// Serves `/livez`, `/readyz` and `/metrics`.
pub fn router(checks: Checks, metrics: Arc<Metrics>, phase: watch::Receiver<Phase>) -> Router {
    Router::new()
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics_text))
        .with_state(Admin {
            checks,
            metrics,
            phase,
        })
}

/// Ready if all required checks pass and no signal has arrived. As in Kubernetes, the list of checks comes with
/// `?verbose` and with every failure.
async fn readyz(State(admin): State<Admin>, RawQuery(query): RawQuery) -> Response {
    let mut checks = (admin.checks)();
    checks.push(Check {
        name: "shutdown".to_owned(),
        ok: *admin.phase.borrow() == Phase::Running,
        required: true,
        detail: "the server is shutting down".to_owned(),
    });
    let ready = checks.iter().all(|check| check.ok || !check.required);
    let verbose = query.is_some_and(|query| query.split('&').any(|q| q.starts_with("verbose")));
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    if ready && !verbose {
        return (status, "ok\n").into_response();
    }
    let mut text = String::new();
    for check in &checks {
        // Writing to a string does not fail.
        let _ = match check {
            Check { ok: true, name, .. } => writeln!(text, "[+]{name} ok"),
            Check {
                required: true,
                name,
                detail,
                ..
            } => writeln!(text, "[-]{name} failed: {detail}"),
            Check { name, detail, .. } => {
                writeln!(text, "[-]{name} failed (not required): {detail}")
            }
        };
    }
    let end = if ready { "passed" } else { "failed" };
    let _ = writeln!(text, "readyz check {end}");
    (status, text).into_response()
}

async fn metrics_text(State(admin): State<Admin>) -> Response {
    match admin.metrics.text() {
        Ok(text) => ([(CONTENT_TYPE, prometheus::TEXT_FORMAT)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
