//! The severities of codes from the command line. They take precedence over the configuration.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::config::Configuration;
use crate::engine::admission::finding::Code;
use crate::engine::admission::severities::{Action, Actions, Override, Severities};

/// Codes that deny if the manifests are the whole state: then a missing target exists nowhere.
const OF_CLOSED_SETS: [Code; 2] = [Code::TargetNotFound, Code::KindUnknown];
/// Codes for objects that were not checked. `--only` keeps them on.
const OF_GAPS: [Code; 3] = [Code::Unverified, Code::Unreadable, Code::KindUnknown];

/// Arguments that select findings and change their severity.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Codes {
    /// Omit findings with this code.
    #[arg(
        long,
        value_name = "CODE",
        value_delimiter = ',',
        value_parser = code(),
        hide_possible_values = true
    )]
    ignore: Vec<Code>,
    /// Report only findings with this code, and findings about what could not be checked.
    #[arg(
        long,
        value_name = "CODE",
        value_delimiter = ',',
        value_parser = code(),
        hide_possible_values = true
    )]
    only: Vec<Code>,
    /// Treat findings with this code as deny.
    #[arg(
        long,
        value_name = "CODE",
        value_delimiter = ',',
        value_parser = code(),
        hide_possible_values = true
    )]
    deny: Vec<Code>,
    /// Treat findings with this code as warn.
    #[arg(
        long,
        value_name = "CODE",
        value_delimiter = ',',
        value_parser = code(),
        hide_possible_values = true
    )]
    warn: Vec<Code>,
}

/// Reads a code, and offers all of them for completion.
fn code() -> impl TypedValueParser<Value = Code> {
    let names = Code::ALL.map(Code::as_str);
    PossibleValuesParser::new(names).try_map(|name| {
        let mut all = Code::ALL.into_iter();
        all.find(|code| code.as_str() == name)
            .ok_or_else(|| format!("no finding has the code {name}"))
    })
}

// === impl Codes ===

impl Codes {
    /// The severities of all codes.
    pub(super) fn severities(&self, config: &Configuration) -> Severities {
        let override_of_codes = Override {
            findings: self.actions(),
            ..Override::default()
        };
        let overrides = std::iter::once(override_of_codes).chain(config.overrides.iter().cloned());
        Severities::new(config.findings.clone(), overrides.collect())
    }

    /// The codes that deny because the manifests are the whole state, unless the user set their severity.
    pub(super) fn of_closed_set(&self, config: &Configuration) -> Vec<Code> {
        let is_named = |code: &Code| {
            let mut overrides = config.overrides.iter();
            self.warn.contains(code)
                || config.findings.contains_key(code)
                || overrides.any(|other| other.findings.contains_key(code))
        };
        let codes = OF_CLOSED_SETS.into_iter().filter(|code| !is_named(code));
        codes.collect()
    }

    fn actions(&self) -> Actions {
        let mut actions = Actions::new();
        if !self.only.is_empty() {
            let left = |code: &Code| self.only.contains(code) || OF_GAPS.contains(code);
            let others = Code::ALL.into_iter().filter(|code| !left(code));
            actions.extend(others.map(|code| (code, Action::Off)));
        }
        for (codes, action) in [
            (&self.warn, Action::Warn),
            (&self.deny, Action::Deny),
            (&self.ignore, Action::Off),
        ] {
            actions.extend(codes.iter().map(|code| (*code, action)));
        }
        actions
    }
}
