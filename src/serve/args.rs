//! Command-line arguments of `attache serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::ArgPredicate;

use crate::registration::Endpoint;
use crate::telemetry::LogFormat;

/// Arguments of `attache serve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Answer from this directory of manifests instead of a cluster; it is read again when it changes.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["kubeconfig", "context"])]
    pub from: Option<PathBuf>,
    /// The cluster's kubeconfig; without it the usual places, then the pod's service account.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// The configuration file; with --from, attache.yaml of the directory when it has one.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// With --from, follow links in the directory wherever they lead, not only within it.
    #[arg(long, requires = "from")]
    pub follow_links: bool,
    /// Where the API server calls; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8443")]
    pub listen: SocketAddr,
    /// Where probes and metrics are, in plain HTTP; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9090")]
    pub admin: SocketAddr,
    /// The serving certificate, a PEM file; it is read again when it changes.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The key of the serving certificate, a PEM file.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Take calls only from clients with a certificate of this CA, a PEM file; it is read again when it changes.
    #[arg(long, value_name = "FILE")]
    pub client_ca: Option<PathBuf>,
    /// Of these, only clients whose certificate has this common or alternative name; can be repeated.
    #[arg(long = "client-subject", value_name = "NAME", requires = "client_ca")]
    pub client_subjects: Vec<String>,
    /// Keep the rules of attache's own webhook configurations current as policy kinds come and go; it needs the
    /// rights of manifests/manage-webhooks.
    /// With `=validating` or `=mutating` only that one; can be repeated.
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
    /// The name of these configurations.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "attache",
        requires = "manage_webhooks"
    )]
    pub webhook_name: String,
    /// Keep their caBundle as this PEM file is; without it caBundle is left to others.
    #[arg(long, value_name = "FILE", requires = "manage_webhooks")]
    pub ca_cert: Option<PathBuf>,
    /// How long to go on answering after SIGTERM, until all endpoints have forgotten this pod; with --from not at all.
    #[arg(long, value_name = "TIME", default_value = "10s", default_value_if("from", ArgPredicate::IsPresent, "0s"), value_parser = duration)]
    pub drain_delay: Duration,
    /// How long requests under way may take after that.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub drain_timeout: Duration,
    /// How log lines look.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
}

/// Which webhook configurations are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Managed {
    /// The validating one.
    Validating,
    /// The mutating one.
    Mutating,
    /// Both.
    Both,
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

/// Parses `10s`, `500ms` or `1m`. A unit is required.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("{text:?} is not a time like 10s"))?;
    match text.strip_prefix(digits) {
        Some("ms") => Ok(Duration::from_millis(number)),
        Some("s") => Ok(Duration::from_secs(number)),
        Some("m") => Ok(Duration::from_secs(number.saturating_mul(60))),
        _ => Err(format!(
            "{text:?} is not a time; write it like 500ms, 10s or 1m"
        )),
    }
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
        for wrong in ["", "10", "s", "-1s", "1h", "1.5s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
