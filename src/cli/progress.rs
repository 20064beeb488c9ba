//! A line on the standard error while a command takes its time; nothing where nobody looks.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Whoever waits less is not told.
const PATIENCE: Duration = Duration::from_secs(1);
/// Back to the first column, and the line is cleared.
const CLEAR: &str = "\r\x1b[2K";

/// What is being done. The line goes when this is dropped.
#[derive(Debug)]
pub(super) struct Progress(Option<(Sender<String>, JoinHandle<()>)>);

// === impl Progress ===

impl Progress {
    /// Begins with this.
    pub(super) fn start(doing: &str) -> Self {
        if !io::stderr().is_terminal() {
            return Self(None);
        }
        let (said, heard) = mpsc::channel::<String>();
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
        Self(Some((said, line)))
    }

    /// Goes on with something else.
    pub(super) fn say(&self, doing: impl Into<String>) {
        if let Some((said, _)) = &self.0 {
            // A line that cannot be shown is no reason to stop.
            let _ = said.send(doing.into());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((said, line)) = self.0.take() {
            drop(said);
            let _ = line.join();
        }
    }
}

fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}
