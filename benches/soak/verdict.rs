//! Compares results with requirements.

use std::fmt::Display;
use std::process::ExitCode;

#[derive(Default)]
pub(crate) struct Verdict {
    missed: usize,
}

impl Verdict {
    pub(crate) fn check(&mut self, what: &str, holds: bool, measured: &dyn Display) {
        println!(
            "{} {what}: {measured}",
            if holds { "ok    " } else { "MISSED" }
        );
        self.missed += usize::from(!holds);
    }

    pub(crate) fn end(&self) -> ExitCode {
        println!("\n{} missed", self.missed);
        ExitCode::from(u8::from(self.missed > 0))
    }
}
