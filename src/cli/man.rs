//! `attache man`: manual pages for attache and for each command.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap_mangen::Man;

use super::{Cli, Failure};

/// Arguments of `attache man`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory for the pages; prints the page of attache itself if omitted.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// If a page cannot be written.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut command = Cli::command();
    command.build();
    let Some(out) = &args.out else {
        return super::print(&page(&command)?);
    };
    fs::create_dir_all(out).map_err(|e| failed(out, &e))?;
    write(out, "attache", &page(&command)?)?;
    let shown = |command: &&clap::Command| !command.is_hide_set() && command.get_name() != "help";
    for command in command.get_subcommands().filter(shown) {
        let name = format!("attache-{}", command.get_name());
        write(out, &name, &page(command)?)?;
    }
    Ok(())
}

fn page(command: &clap::Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn write(out: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let file = out.join(format!("{name}.1"));
    fs::write(&file, text).map_err(|e| failed(&file, &e))?;
    Ok(())
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("failed to write {}: {error}", path.display())
}
