//! How a command prints: for people, or for programs.

use clap::ValueEnum;

/// The formats of the commands that have these two and no other.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Output {
    Text,
    Json,
}
