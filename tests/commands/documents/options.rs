//! The page of options is made from the command line itself, so that it has every option. `ATTACHE_BLESS=1` writes it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use attache::cli::Cli;
use clap::builder::ValueRange;
use clap::{Arg, Command, CommandFactory as _};

use super::hold;

const PAGE: &str = "docs/reference/options.md";
/// An option of at least this many commands has a row in the first table alone.
const COMMON: usize = 6;

/// An option in the form of its row.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    option: String,
    default: String,
    meaning: String,
}

// === impl Row ===

impl Row {
    fn of(argument: &Arg) -> Self {
        let mut names = Vec::new();
        names.extend(argument.get_short().map(|short| format!("-{short}")));
        names.extend(argument.get_long().map(|long| format!("--{long}")));
        let values = argument.get_value_names().unwrap_or_default();
        let takes = argument.get_num_args().unwrap_or(ValueRange::SINGLE);
        let value = match values {
            [value, ..] if takes.takes_values() => {
                let shown = if argument.is_positional() {
                    value.to_string()
                } else if takes.min_values() == 0 {
                    format!("[={value}]")
                } else {
                    format!(" {value}")
                };
                if argument.is_positional() && takes.max_values() > 1 {
                    format!("{shown}…")
                } else {
                    shown
                }
            }
            _ => String::new(),
        };
        let long = argument.get_long_help().or(argument.get_help());
        let mut meaning = long.map(ToString::to_string).unwrap_or_default();
        let possible = argument.get_possible_values();
        let names_of_values: Vec<String> = possible
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        if values.iter().any(|value| value == "CODE") {
            meaning.push_str("; one of the codes in [Findings](findings.md)");
        } else if takes.takes_values() && !names_of_values.is_empty() {
            write!(meaning, "; one of {}", names_of_values.join(", ")).unwrap();
        }
        let defaults = argument.get_default_values().iter();
        let defaults: Vec<String> = defaults
            .map(|value| format!("`{}`", value.to_str().unwrap()))
            .collect();
        Self {
            option: format!("`{}{value}`", names.join("`, `")),
            default: if takes.takes_values() {
                defaults.join(", ")
            } else {
                String::new()
            },
            meaning: super::keys::cell(&meaning),
        }
    }
}

fn is_shown(argument: &Arg) -> bool {
    !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str())
}

fn table(rows: &[&Row]) -> String {
    let mut table = "| option | default | meaning |\n|---|---|---|\n".to_owned();
    for row in rows {
        table += &super::keys::row([&row.option, &row.default, &row.meaning]);
    }
    table
}

#[test]
fn the_page_has_every_option_of_every_command() {
    let mut all = Cli::command();
    all.build();
    let commands: Vec<&Command> = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
        .collect();
    let rows_of = |command: &Command| -> Vec<Row> {
        let shown = command
            .get_arguments()
            .filter(|argument| is_shown(argument));
        shown.map(Row::of).collect()
    };
    let mut counts: BTreeMap<Row, usize> = BTreeMap::new();
    for row in commands.iter().flat_map(|command| rows_of(command)) {
        *counts.entry(row).or_default() += 1;
    }
    let is_common = |row: &Row| counts[row] >= COMMON;
    let common: Vec<&Row> = counts.keys().filter(|row| is_common(row)).collect();
    let mut page = format!(
        "# Options\n\n\
        This page lists every option of every command. A test writes it from the command line itself.\n\
        `attache help COMMAND` shows the same with examples. [Commands](commands.md) explains what the commands show.\n\n\
        <!-- options: begin -->\n\n\
        ## Options of many commands\n\n\
        The commands that read a cluster or files have these options; `attache help COMMAND` lists those of one command.\n\n{}",
        table(&common)
    );
    for command in commands {
        let rows = rows_of(command);
        let own: Vec<&Row> = rows.iter().filter(|row| !is_common(row)).collect();
        let about = command.get_about().unwrap();
        write!(page, "\n## {}\n\n{about}.\n", command.get_name()).unwrap();
        if !own.is_empty() {
            write!(page, "\n{}", table(&own)).unwrap();
        }
    }
    page.push_str("\n<!-- options: end -->\n");
    hold(PAGE, &page);
}
