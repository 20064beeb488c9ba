//! `attache certs`: a certificate authority and a serving certificate for trying attache out.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::Failure;
use crate::certificates::make_ca_and_pair;

/// Arguments of `attache certs`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory for ca.crt, tls.crt and tls.key.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// A DNS name or IP address of the certificate; can be repeated.
    #[arg(long = "san", value_name = "NAME", required = true)]
    sans: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// If a name is not a DNS name or a file cannot be written.
pub fn run(args: &Args) -> Result<(), Failure> {
    let today = jiff::Zoned::now().date();
    let made = make_ca_and_pair(&args.sans, today)?;
    fs::create_dir_all(&args.out).map_err(|e| failed(&args.out, &e))?;
    write(&args.out.join("ca.crt"), &made.ca_pem, 0o644)?;
    write(&args.out.join("tls.crt"), &made.cert_pem, 0o644)?;
    // The key must not be readable for others at any moment.
    write(&args.out.join("tls.key"), &made.key_pem, 0o600)?;
    let _ = writeln!(
        std::io::stdout(),
        "attache: wrote ca.crt, tls.crt and tls.key to {}",
        args.out.display()
    );
    Ok(())
}

fn write(path: &Path, text: &str, mode: u32) -> Result<(), String> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(mode);
    let written = options
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|e| failed(path, &e))
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("failed to write {}: {error}", path.display())
}
