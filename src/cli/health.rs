//! `attache health`: health checks for the policy kinds, for Argo CD and Flux.

use clap::ValueEnum;
use clap_complete::engine::ArgValueCompleter;

use super::render::health::argocd::{self, Format};
use super::render::health::{LeftOut, flux};
use super::state::{Definitions, State};
use super::{Failure, complete};
use crate::answer::health::HealthRule;
use crate::answer::kinds::{Kind, kinds};
use crate::config::builtin;

/// Arguments of `attache health`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The tool that checks the health.
    tool: Tool,
    /// Only these kinds: `AuthPolicy`, or `AuthPolicy.kuadrant.io` if several kinds have that name.
    #[arg(value_name = "KIND[.GROUP]", add = ArgValueCompleter::new(complete::kinds))]
    kinds: Vec<String>,
    /// Only the kinds that are installed in the cluster; by default, all kinds that attache knows.
    #[arg(long, conflicts_with = "from")]
    cluster: bool,
    #[command(flatten)]
    state: State,
    /// Also print checks for kinds for which Argo CD has one of its own.
    #[arg(long)]
    bundled: bool,
    /// The form of the checks for Argo CD.
    #[arg(long, value_name = "FORMAT", default_value = "configmap")]
    format: Format,
    /// The namespace of Argo CD.
    #[arg(short, long, value_name = "NAMESPACE", default_value = "argocd")]
    namespace: String,
}

/// A tool that checks the health of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tool {
    /// Scripts in Lua.
    Argocd,
    /// Expressions in CEL, for `healthCheckExprs` of a Kustomization.
    Flux,
}

/// Runs the command.
///
/// # Errors
/// If the directory or cluster does not exist, the configuration is wrong, or a kind is not known.
pub fn run(args: &Args) -> Result<(), Failure> {
    let (mut rules, mut left_out) = (Vec::new(), Vec::new());
    for kind in args.chosen()? {
        let gk = &kind.profile.gk;
        match HealthRule::from_profile(&kind.profile) {
            Err(why) => left_out.push(LeftOut::without_rule(gk, why)),
            Ok(_) if args.leaves_to_tool(&kind) => left_out.push(LeftOut {
                gk: gk.clone(),
                why: "Argo CD has its own; --bundled prints one that replaces it",
            }),
            Ok(rule) if is_nameable(&rule) => rules.push(rule),
            Ok(_) => left_out.push(LeftOut {
                gk: gk.clone(),
                why: "its group, kind or version is not a valid Kubernetes name",
            }),
        }
    }
    if rules.is_empty() && left_out.is_empty() && names_state(&args.state) {
        let place = args.state.described();
        eprintln!("attache: there are no policies in {place}, so no check is printed");
    }
    super::print(&match args.tool {
        Tool::Argocd => argocd::checks(&rules, &left_out, args.format, &args.namespace),
        Tool::Flux => flux::checks(&rules, &left_out),
    })
}

/// Whether the arguments name files or a cluster.
fn names_state(state: &State) -> bool {
    state.is_of_files() || state.access.kubeconfig.is_some() || state.access.context.is_some()
}

/// Whether group, kind and version can be written in YAML and in the key of a `ConfigMap` as they are.
fn is_nameable(rule: &HealthRule) -> bool {
    let version = rule.version.iter().map(AsRef::as_ref);
    let mut all = version.chain([rule.gk.group.as_str(), &rule.gk.kind]);
    all.all(|text| {
        let mut bytes = text.bytes();
        bytes
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
    })
}

// === impl Args ===

impl Args {
    /// The kinds to print checks for.
    fn chosen(&self) -> Result<Vec<Kind>, Failure> {
        let mut kinds = if self.cluster || names_state(&self.state) {
            let Definitions { rules, crds, used } = self.state.definitions()?;
            kinds(&rules, &crds, &used, false).kinds
        } else {
            let rules = self.state.configuration()?.rules(builtin()?);
            kinds(&rules, &[], &[], true).kinds
        };
        if self.kinds.is_empty() {
            return Ok(kinds);
        }
        for wanted in &self.kinds {
            if !kinds.iter().any(|kind| kind.is_called(wanted)) {
                let known: Vec<&str> = kinds.iter().map(|kind| &*kind.kind).collect();
                return Err(super::kinds::unknown(wanted, &known).into());
            }
        }
        let is_wanted = |kind: &Kind| self.kinds.iter().any(|wanted| kind.is_called(wanted));
        kinds.retain(is_wanted);
        Ok(kinds)
    }

    /// Whether the check that the tool brings is left in place: unless the user asks for the kind.
    fn leaves_to_tool(&self, kind: &Kind) -> bool {
        self.tool == Tool::Argocd
            && !self.bundled
            && self.kinds.is_empty()
            && argocd::is_bundled(&kind.profile.gk)
    }
}
