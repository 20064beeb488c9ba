//! Command-line arguments of `attache serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::ArgPredicate;

use crate::answer::openreports::PolicyNames;
use crate::registration::Endpoint;
use crate::telemetry::LogFormat;

/// Arguments of `attache serve`.
#[allow(clippy::struct_excessive_bools)] // Each is a flag.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Use this directory of manifests instead of a cluster; reloaded when it changes.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["kubeconfig", "context"])]
    pub from: Option<PathBuf>,
    /// The kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account of the pod.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The kubeconfig context.
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// The configuration file; with --from, defaults to attache.yaml in that directory, if it exists.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// With --from, also follow symbolic links that lead out of the directory.
    #[arg(long, requires = "from")]
    pub follow_links: bool,
    /// The address of the webhook endpoint (HTTPS); port 0 selects a free port.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8443", value_parser = address)]
    pub listen: SocketAddr,
    /// The address of probes and metrics (HTTP); port 0 selects a free port.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9090", value_parser = address)]
    pub admin: SocketAddr,
    /// The serving certificate, a PEM file; reloaded when it changes.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the serving certificate, a PEM file.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Make and renew the serving certificate, keep it in a Secret, and write its CA into caBundle of the webhook
    /// configurations; requires the permissions in manifests/own-certificates.
    #[arg(long, conflicts_with_all = ["from", "tls_cert", "ca_cert"])]
    pub manage_certs: bool,
    /// With --manage-certs, the Secret of the certificate; by default in the namespace of the pod or of the kubeconfig context.
    #[arg(
        long,
        value_name = "[NAMESPACE/]NAME",
        default_value = "attache-certs",
        requires = "manage_certs"
    )]
    pub cert_secret: String,
    /// A DNS name of the certificate; by default attache.NAMESPACE.svc; can be repeated.
    #[arg(long = "cert-name", value_name = "NAME", requires = "manage_certs")]
    pub cert_names: Vec<String>,
    /// The time for which a certificate is valid. It is renewed after two thirds of that.
    #[arg(long, value_name = "TIME", default_value = "90d", value_parser = duration, requires = "manage_certs")]
    pub cert_life: Duration,
    /// Accept only clients with a certificate from this CA, a PEM file; reloaded when it changes.
    #[arg(long, value_name = "FILE")]
    pub client_ca: Option<PathBuf>,
    /// Accept only client certificates with this common name or subject alternative name; can be repeated.
    #[arg(long = "client-subject", value_name = "NAME", requires = "client_ca")]
    pub client_subjects: Vec<String>,
    /// Update the rules of attache's webhook configurations when policy kinds are added or removed; requires the
    /// permissions in manifests/manage-webhooks. Use `=validating` or `=mutating` to update only one; can be repeated.
    #[arg(
        long,
        value_name = "WHICH",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "both",
        conflicts_with = "from"
    )]
    pub manage_webhooks: Vec<Managed>,
    /// Publish current findings as `Report` objects (openreports.io, or wgpolicyk8s.io where only that is served); requires the
    /// permissions in manifests/reports. With `=all`, reports also name policies of other namespaces.
    #[arg(
        long,
        value_name = "NAMES",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "own",
        conflicts_with = "from"
    )]
    pub reports: Option<Named>,
    /// A `ClusterRole` that owns the reports: Kubernetes removes them with it.
    #[arg(long, value_name = "CLUSTERROLE", requires = "reports")]
    pub reports_owner: Option<String>,
    /// The name of the webhook configurations.
    #[arg(long, value_name = "NAME", default_value = "attache")]
    pub webhook_name: String,
    /// Keep caBundle of the webhook configurations equal to this PEM file; without this option, attache does not write it.
    #[arg(long, value_name = "FILE", requires = "manage_webhooks")]
    pub ca_cert: Option<PathBuf>,
    /// Also serve the live page on the admin port, below /ui/. Each reader sends a token of the cluster and is shown what
    /// they may list; requires the permissions in manifests/ui.
    #[arg(long, conflicts_with = "from")]
    pub ui: bool,
    /// Write conditions `<domain>/<Kind>Affected` into the status of the objects that policies apply to; only the replica that
    /// holds the Lease does. Requires the permissions in manifests/status-writer.
    #[arg(long, conflicts_with = "from")]
    pub write_status: bool,
    /// With --write-status, the Lease by which one replica is chosen to write; by default in the namespace of the pod or of the kubeconfig context.
    #[arg(
        long,
        value_name = "[NAMESPACE/]NAME",
        default_value = "attache-status-writer",
        requires = "write_status"
    )]
    pub status_lease: String,
    /// The time to accept requests after SIGTERM, until the pod is removed from all endpoints; 0s with --from.
    #[arg(long, value_name = "TIME", default_value = "10s", default_value_if("from", ArgPredicate::IsPresent, "0s"), value_parser = duration)]
    pub drain_delay: Duration,
    /// The time after --drain-delay that requests in progress may take before they are cut off.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub drain_timeout: Duration,
    /// Log format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
}

/// The webhook configurations to update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Managed {
    /// The validating webhook configuration.
    Validating,
    /// The mutating webhook configuration.
    Mutating,
    /// Both.
    Both,
}

/// The policies that reports may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Named {
    /// Only policies in the namespace of the report.
    Own,
    /// Policies of all namespaces.
    All,
}

// === impl Named ===

impl From<Named> for PolicyNames {
    fn from(named: Named) -> Self {
        match named {
            Named::Own => Self::Own,
            Named::All => Self::All,
        }
    }
}

// === impl Managed ===

impl Managed {
    /// Whether it includes an endpoint.
    pub fn has(self, endpoint: Endpoint) -> bool {
        match self {
            Self::Validating => endpoint == Endpoint::Validate,
            Self::Mutating => endpoint == Endpoint::Mutate,
            Self::Both => true,
        }
    }
}

/// Parses `10s`, `500ms`, `1m`, `12h` or `90d`. A unit is required.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| no_duration(text))?;
    match text.strip_prefix(digits) {
        Some("ms") => Ok(Duration::from_millis(number)),
        Some("s") => Ok(Duration::from_secs(number)),
        Some("m") => Ok(Duration::from_secs(number.saturating_mul(60))),
        Some("h") => Ok(Duration::from_secs(number.saturating_mul(3600))),
        Some("d") => Ok(Duration::from_secs(number.saturating_mul(86_400))),
        _ => Err(no_duration(text)),
    }
}

fn no_duration(text: &str) -> String {
    format!("{text:?} is not a time; write it like 500ms, 10s, 1m, 12h or 90d")
}

/// Parses an address with a port. The message of the parser itself has no example.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!("{text:?} is not an IP address with a port; write it like 127.0.0.1:8443")
    })
}

#[cfg(test)]
mod tests {
    use super::duration;
    use std::time::Duration;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("2m"), Ok(Duration::from_mins(2)));
        assert_eq!(duration("12h"), Ok(Duration::from_hours(12)));
        assert_eq!(duration("90d"), Ok(Duration::from_hours(90 * 24)));
        for wrong in ["", "10", "s", "-1s", "1w", "1.5s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
