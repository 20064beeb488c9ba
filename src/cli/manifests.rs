//! `attache manifests`: the webhook configurations for the policy kinds of a cluster or directory, and the
//! `ClusterRole` to read them.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde_json::Value;

use super::Failure;
use super::state::{Definitions, State};
use crate::engine::model::ids::GroupKind;
use crate::engine::model::printable::escape;
use crate::reading::{self, Pipes};
use crate::registration::{
    CallBy, Endpoint, FailurePolicy, Policies, WebhookOptions, ca_bundle, configuration,
    is_nameable, policies, role,
};

/// The webhooks never cover this namespace: a failure there could stop the cluster.
const SYSTEM: &str = "kube-system";

/// Arguments of `attache manifests`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    state: State,
    /// The name of the webhook configurations.
    #[arg(long, value_name = "NAME", default_value = "attache")]
    name: String,
    /// The namespace that attache runs in; excluded from the webhooks.
    #[arg(long, value_name = "NAMESPACE", default_value = "attache-system")]
    namespace: String,
    /// The Service in front of attache.
    #[arg(long, value_name = "NAME", default_value = "attache")]
    service: String,
    /// The URL of attache if it runs outside the cluster: https://HOST:PORT.
    #[arg(long, value_name = "URL", conflicts_with = "service", value_parser = url)]
    url: Option<String>,
    /// The CA that the API server trusts, a PEM file; without it, caBundle is omitted.
    #[arg(long, value_name = "FILE")]
    ca_bundle: Option<PathBuf>,
    /// The reaction of the API server if the webhook does not answer.
    #[arg(long, value_name = "POLICY", default_value = "Ignore")]
    failure_policy: FailurePolicy,
    /// The time that the API server waits for the webhook.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = clap::value_parser!(u8).range(1..=30))]
    timeout_seconds: u8,
    /// Exclude this namespace from the webhooks, in addition to kube-system and that of attache; can be repeated.
    #[arg(long = "exclude-namespace", value_name = "NAMESPACE")]
    excluded: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// If the directory or cluster does not exist, a file is wrong, or no policy kind has a CRD.
pub fn run(args: Args) -> Result<(), Failure> {
    let Definitions { rules, crds, used } = args.state.definitions()?;
    let policies = policies(&rules, crds.iter().map(AsRef::as_ref));
    for gk in used
        .iter()
        .filter(|gk| crds.iter().all(|crd| crd.gk != **gk))
    {
        say_left_out(gk);
    }
    for crd in crds.iter().filter(|crd| !is_nameable(crd)) {
        let name = escape(&format!("{}.{}", crd.plural, crd.gk.group));
        eprintln!("attache: skipped {name}: the API server does not accept a CRD of this name");
    }
    if policies.is_empty() {
        // Without rules, the role that is applied over that of an earlier run would take its rights away.
        return Err(nothing_to_register(&args.state).into());
    }
    let documents = documents(&args.options()?, &policies);
    let texts: Result<Vec<String>, _> = documents.iter().map(serde_saphyr::to_string).collect();
    std::io::stdout().write_all(texts?.join("---\n").as_bytes())?;
    Ok(())
}

fn documents(options: &WebhookOptions, policies: &Policies) -> [Value; 3] {
    [
        role(&options.name, policies),
        configuration(Endpoint::Validate, options, policies),
        configuration(Endpoint::Mutate, options, policies),
    ]
}

/// Reports a kind without a CRD: webhook rules need the plural, which only the CRD has.
fn say_left_out(gk: &GroupKind) {
    let gk = escape(&gk.to_string());
    eprintln!(
        "attache: no rule for {gk}: there are policies of the kind, but its CRD was not found; add it to the files"
    );
}

/// Why nothing is printed, and the remedy.
fn nothing_to_register(state: &State) -> String {
    let remedy = if state.is_of_files() {
        "add the CRDs to the files, or leave out --from to read them from the cluster"
    } else {
        "install the CRDs of your policy kinds first"
    };
    let place = state.described();
    format!("there is no CRD of a policy kind in {place}, so there are no rules to print; {remedy}")
}

// === impl Args ===

impl Args {
    fn options(self) -> Result<WebhookOptions, Failure> {
        let ca_bundle = self.ca_bundle.as_deref().map(read_ca).transpose()?;
        let mut excluded: BTreeSet<String> = self.excluded.into_iter().collect();
        excluded.extend([SYSTEM.to_owned(), self.namespace.clone()]);
        let service = CallBy::Service {
            namespace: self.namespace,
            name: self.service,
        };
        Ok(WebhookOptions {
            name: self.name,
            call: self.url.map_or(service, CallBy::Url),
            ca_bundle,
            failure_policy: self.failure_policy,
            timeout_seconds: self.timeout_seconds,
            excluded,
        })
    }
}

fn read_ca(file: &Path) -> Result<String, String> {
    let shown = file.display();
    let pem = reading::bytes(file, reading::SMALL, Pipes::Read);
    let pem = pem.map_err(|error| format!("failed to read {shown}: {error}"))?;
    ca_bundle(&pem).map_err(|why| format!("failed to use {shown}: {why}"))
}

/// Parses an address that the API server accepts for a webhook: HTTPS, without a path.
fn url(text: &str) -> Result<String, String> {
    let trimmed = text.trim_end_matches('/');
    match trimmed.strip_prefix("https://") {
        Some(host) if !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']) => {
            Ok(trimmed.to_owned())
        }
        _ => Err("write it as https://HOST:PORT, without a path".to_owned()),
    }
}

// === impl FailurePolicy ===

impl ValueEnum for FailurePolicy {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Ignore, Self::Fail]
    }

    /// The values as Kubernetes spells them.
    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::Ignore => "Ignore",
            Self::Fail => "Fail",
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::url;

    #[test]
    fn addresses_are_https_without_a_path() {
        assert_eq!(
            url("https://a.example:8443/"),
            Ok("https://a.example:8443".to_owned())
        );
        for wrong in [
            "http://a.example",
            "https://",
            "https://a/b",
            "a.example",
            "https://u@a",
        ] {
            assert!(url(wrong).is_err(), "{wrong}");
        }
    }
}
