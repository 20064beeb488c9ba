//! `attache serve --from examples/quickstart` in a separate process, so that its resources can be measured.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::Command;

use testing::serving::{Serving, quickstart};

/// Killed at the end of the test.
pub(crate) struct Process(Serving);

impl Process {
    pub(crate) fn start() -> Self {
        Self::start_with(|_, attache| attache)
    }

    /// `change` may add arguments or wrap the program; it receives the certificate's directory.
    pub(crate) fn start_with(change: impl FnOnce(&Path, Command) -> Command) -> Self {
        Self(Serving::start(|dir, mut attache| {
            attache.arg("--from").arg(quickstart());
            change(dir, attache)
        }))
    }

    /// Waits until `/readyz?verbose` contains the text.
    pub(crate) async fn says(&self, text: &str) {
        self.0.says("/readyz?verbose", text).await;
    }

    /// Resident memory in bytes, without pages of files: which part of the program is loaded says nothing about what
    /// requests leave behind.
    pub(crate) fn resident(&self) -> usize {
        let statm = self.proc("statm");
        let pages: Vec<usize> = statm
            .split_whitespace()
            .map(|pages| pages.parse().unwrap())
            .collect();
        (pages[1] - pages[2]) * 4096
    }

    /// The number of open file descriptors.
    pub(crate) fn descriptors(&self) -> usize {
        let folder = format!("/proc/{}/fd", self.pid());
        std::fs::read_dir(folder).unwrap().count()
    }

    /// Processor time, in hundredths of a second.
    pub(crate) fn ticks(&self) -> u64 {
        let stat = self.proc("stat");
        let (_, after) = stat.rsplit_once(") ").unwrap();
        let fields: Vec<&str> = after.split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    fn proc(&self, name: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{name}", self.pid())).unwrap()
    }
}

impl DerefMut for Process {
    fn deref_mut(&mut self) -> &mut Serving {
        &mut self.0
    }
}

impl Deref for Process {
    type Target = Serving;

    fn deref(&self) -> &Serving {
        &self.0
    }
}
