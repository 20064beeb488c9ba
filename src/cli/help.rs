//! `attache help`: the help of a command, or the page of a finding.

use clap::CommandFactory as _;

use super::{Cli, Failure, print};
use crate::answer::report::page;
use crate::engine::admission::finding::Code;
use crate::engine::model::hint::nearest;

/// Arguments of `attache help`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A command or the code of a finding; lists all commands if omitted.
    #[arg(value_name = "COMMAND|CODE")]
    topic: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// If there is no such command or code.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut all = Cli::command();
    let Some(topic) = &args.topic else {
        return print(&all.render_long_help().to_string());
    };
    if let Some(code) = Code::ALL.into_iter().find(|code| code.as_str() == topic) {
        return print(page(code));
    }
    all.build();
    if let Some(command) = all.find_subcommand_mut(topic) {
        return print(&command.render_long_help().to_string());
    }
    let commands = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let names: Vec<&str> = commands.map(clap::Command::get_name).collect();
    let codes = Code::ALL.iter().map(|code| code.as_str());
    let names: Vec<&str> = names.into_iter().chain(codes).collect();
    Err(match nearest(topic, &names) {
        Some(near) => format!("there is no command or finding {topic:?}; did you mean {near:?}?"),
        None => format!(
            "there is no command or finding {topic:?}; attache help lists the commands, docs/reference/findings.md the codes"
        ),
    }
    .into())
}
