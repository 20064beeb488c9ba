//! `attache schema`: the JSON schemas of configuration files and of answers.

use clap::ValueEnum;
use schemars::schema_for;

use super::Failure;
use super::test::TestFile;
use crate::answer::description::{Description, Descriptions};
use crate::answer::difference::Difference;
use crate::answer::explanation::Explanation;
use crate::answer::graph::Graph;
use crate::answer::guardrails::GuardrailReport;
use crate::answer::impact::Impact;
use crate::answer::kinds::Kinds;
use crate::answer::policies::Policies;
use crate::answer::report::Report;
use crate::answer::schema;
use crate::answer::tested::TestReport;
use crate::config::Configuration;
use crate::engine::kinds::profile::file::File;

/// Arguments of `attache schema`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file or output.
    of: SchemaName,
}

/// Files and outputs that have a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum SchemaName {
    /// The configuration file.
    Config,
    /// A file with profiles of policy kinds.
    Profiles,
    /// The output of `check -o json`.
    Report,
    /// The output of `describe -o json` for one object.
    Description,
    /// The output of `describe -o json` for several objects.
    Descriptions,
    /// The output of `impact -o json`.
    Impact,
    /// The output of `diff -o json`.
    Difference,
    /// The output of `graph -o json`.
    Graph,
    /// The output of `policies -o json`.
    Policies,
    /// The output of `explain -o json`.
    Explanation,
    /// The output of `kinds -o json`.
    Kinds,
    /// A `Guardrail` object.
    Guardrail,
    /// The `CustomResourceDefinition` of guardrails, for `kubectl apply`.
    GuardrailCrd,
    /// The output of `guardrails -o json`.
    Guardrails,
    /// A file with tests.
    Test,
    /// The output of `test -o json`.
    Tests,
}

/// Runs the command.
///
/// # Errors
/// If the output cannot be written.
pub fn run(args: &Args) -> Result<(), Failure> {
    let schema = match args.of {
        SchemaName::Config => schema_for!(Configuration).to_value(),
        SchemaName::Profiles => schema_for!(File).to_value(),
        SchemaName::Report => schema::<Report>(),
        SchemaName::Description => schema::<Description>(),
        SchemaName::Descriptions => schema::<Descriptions>(),
        SchemaName::Impact => schema::<Impact>(),
        SchemaName::Difference => schema::<Difference>(),
        SchemaName::Graph => schema::<Graph>(),
        SchemaName::Policies => schema::<Policies>(),
        SchemaName::Explanation => schema::<Explanation>(),
        SchemaName::Kinds => schema::<Kinds>(),
        SchemaName::Guardrail => schema_for!(attache_guardrails::GuardrailFile).to_value(),
        SchemaName::GuardrailCrd => attache_guardrails::definition(),
        SchemaName::Guardrails => schema::<GuardrailReport>(),
        SchemaName::Test => schema_for!(TestFile).to_value(),
        SchemaName::Tests => schema::<TestReport>(),
    };
    super::print(&format!("{schema:#}\n"))
}
