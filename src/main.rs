//! The `attache` command.
fn main() {}
