//! `attache schema`: JSON schemas of what people write.

use std::io::Write as _;

use clap::ValueEnum;
use schemars::schema_for;

use super::Failure;
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
}

/// Runs the command.
///
/// # Errors
/// When the output is closed.
pub fn run(args: &Args) -> Result<(), Failure> {
    let schema = match args.of {
        Of::Config => schema_for!(Configuration),
        Of::Profiles => schema_for!(File),
    };
    let text = format!("{:#}\n", schema.as_value());
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}
