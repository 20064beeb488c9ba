//! `attache schema`: JSON schemas of what people write, and of what programs read.

use std::io::Write as _;

use clap::ValueEnum;
use schemars::schema_for;

use super::Failure;
use crate::answer;
use crate::answer::impact::Impact;
use crate::answer::policies::Policies;
use crate::config::Configuration;
use crate::engine::profile::file::File;

/// Arguments of `attache schema`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Of what.
    of: Of,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Of {
    /// The configuration file.
    Config,
    /// A file of profiles.
    Profiles,
    /// What `attache impact -o json` prints.
    Impact,
    /// What `attache policies -o json` prints.
    Policies,
}

/// Runs the command.
///
/// # Errors
/// When the output is closed.
pub fn run(args: &Args) -> Result<(), Failure> {
    let schema = match args.of {
        Of::Config => schema_for!(Configuration).to_value(),
        Of::Profiles => schema_for!(File).to_value(),
        Of::Impact => answer::schema::<Impact>(),
        Of::Policies => answer::schema::<Policies>(),
    };
    let text = format!("{schema:#}\n");
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}
