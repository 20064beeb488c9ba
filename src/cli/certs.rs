//! `attache certs`: a certificate authority and a serving certificate for a try-out.

use std::path::PathBuf;

use super::Failure;

/// Arguments of `attache certs`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder to write ca.crt, tls.crt and tls.key into.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// A DNS name or IP address that the certificate is for; can be repeated.
    #[arg(long = "san", value_name = "NAME", required = true)]
    sans: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// When a name is no DNS name, or a file cannot be written.
pub fn run(_args: &Args) -> Result<(), Failure> {
    Err("not yet".into())
}
