//! Compares results with requirements.

use std::fmt::Display;
use std::process::ExitCode;

#[derive(Default)]
pub(crate) struct Verdict {
    missed: usize,
}

impl Verdict {
    pub(crate) fn of(&mut self, what: &str, holds: bool, said: &dyn Display) {
        println!("{} {what}: {said}", if holds { "ok    " } else { "MISSED" });
        self.missed += usize::from(!holds);
    }

    pub(crate) fn end(&self) -> ExitCode {
        println!("\n{} missed", self.missed);
        ExitCode::from(u8::from(self.missed > 0))
    }
}
