//! `attache serve --from examples/quickstart` in a separate process, so that its resources can be measured.

use std::ops::Deref;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use testing::client::LONG;
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
        self.page_says("/readyz?verbose", text).await;
    }

    pub(crate) async fn page_says(&self, path: &str, text: &str) {
        let mut last = String::new();
        let said = async {
            loop {
                last = self.get(path).await.body;
                if last.contains(text) {
                    return;
                }
                sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = timeout(LONG, said).await;
        assert!(waited.is_ok(), "no {text:?} in {last}");
    }

    pub(crate) fn runs(&mut self) -> bool {
        self.0.child.try_wait().unwrap().is_none()
    }

    /// Resident memory in bytes.
    pub(crate) fn resident(&self) -> usize {
        let statm = self.proc("statm");
        let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
        pages * 4096
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

impl Deref for Process {
    type Target = Serving;

    fn deref(&self) -> &Serving {
        &self.0
    }
}
