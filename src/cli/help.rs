//! `attache help`: the help of a command, or the page of a finding.

use clap::CommandFactory as _;

use super::render::style::Style;
use super::render::table::Table;
use super::{Cli, Failure, print};
use crate::answer::report::{page, rule};
use crate::engine::admission::finding::Code;
use crate::engine::model::hint::nearest;

/// Arguments of `attache help`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A command, the code of a finding, or `findings` for a list of all codes; lists all commands if omitted.
    #[arg(value_name = "COMMAND|CODE")]
    topic: Option<String>,
}

/// The topic that lists the codes of findings.
const FINDINGS: &str = "findings";

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
    if topic == FINDINGS {
        return print(&codes());
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
    let names = names.into_iter().chain(codes).chain([FINDINGS]);
    let names: Vec<&str> = names.collect();
    Err(match nearest(topic, &names) {
        Some(near) => format!("there is no command or finding {topic:?}; did you mean {near:?}?"),
        None => format!(
            "there is no command or finding {topic:?}; attache help lists the commands, attache help findings the codes"
        ),
    }
    .into())
}

/// The codes of all findings, each with its meaning.
fn codes() -> String {
    let mut table = Table::new(&["CODE", "MEANING"]).sentences(&["MEANING"]);
    for code in Code::ALL {
        table.row([code.as_str().into(), rule(code).title.into()]);
    }
    let table = table.show(Style::of_stdout(), "");
    format!("{table}\nattache help CODE explains one of them and how to fix it.\n")
}
