//! `docs/reference/reliability.md` names a test for each case, and the test exists. Also faults that need a process of their own:
//! signals, an unwritable log, little processor time, unknown host names.

mod clocks;
mod logs;
mod process;
mod secrets;
mod signals;
mod starved;
mod token;
mod unknown;
