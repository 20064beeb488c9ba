//! A progress line on standard error for slow commands. Silent if standard error is not a terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A command that takes less time shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// Moves to the first column and clears the line.
const CLEAR: &str = "\r\x1b[2K";

/// A progress line. Dropping it clears the line.
#[derive(Debug)]
pub(super) struct Progress(Option<(Sender<String>, JoinHandle<()>)>);

// === impl Progress ===

impl Progress {
    /// Without a line.
    pub(super) fn silent() -> Self {
        Self(None)
    }

    /// Starts with this text.
    pub(super) fn start(doing: &str) -> Self {
        if !io::stderr().is_terminal() {
            return Self(None);
        }
        let (sender, heard) = mpsc::channel::<String>();
        let mut doing = doing.to_owned();
        let line = thread::spawn(move || {
            let started = Instant::now();
            let mut shown = false;
            loop {
                let next = if shown {
                    heard.recv().map_err(|_| RecvTimeoutError::Disconnected)
                } else {
                    heard.recv_timeout(PATIENCE.saturating_sub(started.elapsed()))
                };
                match next {
                    Ok(next) => doing = next,
                    Err(RecvTimeoutError::Timeout) => shown = true,
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if shown {
                    write(&format!("{CLEAR}attache: {doing}…"));
                }
            }
            if shown {
                write(CLEAR);
            }
        });
        Self(Some((sender, line)))
    }

    /// Changes the text.
    pub(super) fn say(&self, doing: impl Into<String>) {
        if let Some((sender, _)) = &self.0 {
            // A line that cannot be shown does not stop the command.
            let _ = sender.send(doing.into());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, line)) = self.0.take() {
            drop(sender);
            let _ = line.join();
        }
    }
}

fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}
