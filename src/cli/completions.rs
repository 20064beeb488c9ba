//! `attache completions`: the script that makes a shell complete commands, kinds, names and namespaces.

use clap::ValueEnum;
use clap_complete::env::Shells;

use super::complete::{COMMAND, PLUGIN};
use super::{Failure, VARIABLE};

/// Arguments of `attache completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell; `kubectl` prints the script that completes `kubectl attache`.
    shell: Shell,
}

/// The program that completes.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Kubectl,
    Powershell,
    Zsh,
}

/// Runs the command.
///
/// # Errors
/// If the output cannot be written.
pub fn run(args: &Args) -> Result<(), Failure> {
    let name = match args.shell {
        Shell::Kubectl => return super::print(&script()),
        Shell::Bash => "bash",
        Shell::Elvish => "elvish",
        Shell::Fish => "fish",
        Shell::Powershell => "powershell",
        Shell::Zsh => "zsh",
    };
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(name) else {
        return Err(format!("{name} is not a shell that attache has completions for").into());
    };
    let mut text = Vec::new();
    shell.write_registration(VARIABLE, "attache", "attache", "attache", &mut text)?;
    super::print(&String::from_utf8_lossy(&text))
}

/// The program that kubectl runs; users put it on the PATH.
fn script() -> String {
    format!(
        "#!/bin/sh\n# {PLUGIN}: kubectl asks it what can follow `kubectl attache`.\nexec attache {COMMAND} -- \"$@\"\n"
    )
}
