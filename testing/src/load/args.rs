//! Command-line arguments of a bench.

use std::fmt::Debug;
use std::str::FromStr;

/// Flags, each followed by its value, if it has one.
pub struct Args(Vec<String>);

impl Args {
    pub fn read() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    pub fn has(&self, flag: &str) -> bool {
        self.0.iter().any(|arg| arg == flag)
    }

    pub fn value(&self, flag: &str) -> Option<&str> {
        let at = self.0.iter().position(|arg| arg == flag)?;
        self.0.get(at + 1).map(String::as_str)
    }

    pub fn number<T: FromStr<Err: Debug>>(&self, flag: &str) -> Option<T> {
        self.value(flag).map(|n| n.parse().expect("a number"))
    }
}
