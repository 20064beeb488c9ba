//! `attache serve`: the webhook.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::Failure;

/// Arguments of `attache serve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Answer from this directory of manifests instead of a cluster.
    #[arg(long, value_name = "DIR")]
    pub from: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// When something that is needed to serve is missing.
pub fn run(_args: Args) -> Result<(), Failure> {
    let _: Option<SocketAddr> = None;
    Err("not yet".into())
}
