//! `--watch`: prints the answer again whenever it changes.
//!
//! Files are read again when they change. A cluster is followed by watches. Until these are in sync, and for kinds that
//! may not be watched, the cluster is listed again each time.

use std::io::{self, IsTerminal as _, Write};
use std::os::fd::AsFd as _;
use std::time::Duration;

use jiff::Timestamp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::Failure;
use crate::cache::reload::Fingerprint;
use crate::engine::model::printable::escape;

/// The time between two looks at the state.
const PAUSE: Duration = Duration::from_secs(1);
/// Clears a terminal and moves to its top.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J\u{1b}[3J";
/// Between two answers if the output is not a terminal.
const SEPARATOR: &str = "---\n";

/// The argument of commands that can watch.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct Watching {
    /// Keep running, and print again when the answer changes.
    #[arg(short, long)]
    pub(super) watch: bool,
}

/// A state that can be read repeatedly.
pub(super) trait Query<T> {
    /// The current state. `None` if it has not changed since the last call.
    ///
    /// # Errors
    /// If the state cannot be read now.
    fn poll(&mut self) -> Result<Option<T>, Failure>;
}

/// A state as it was read, with the parts that could not be read.
pub(super) trait WatchedState {
    /// Everything that could not be read, one line each.
    fn missing_lines(&self) -> Vec<String>;
}

/// Prints answers.
pub(super) struct Printer<'a> {
    /// The output.
    pub(super) out: &'a mut dyn Write,
    /// Whether the output is a terminal: each answer then replaces the previous one.
    pub(super) screen: bool,
    /// Waits until the next look is due. False if the reader is gone.
    pub(super) wait: &'a mut dyn FnMut() -> bool,
    /// The current time.
    pub(super) clock: &'a dyn Fn() -> Timestamp,
}

/// Prints the answer whenever it changes, until the reader is gone.
///
/// # Errors
/// If the first look fails.
pub(super) fn to_stdout<T: WatchedState>(
    looked: &mut dyn Query<T>,
    answer: impl Fn(&T, Timestamp) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let stdout = io::stdout();
    let mut teller = Printer {
        out: &mut stdout.lock(),
        screen: stdout.is_terminal(),
        wait: &mut || is_read(&stdout, PAUSE),
        clock: &Timestamp::now,
    };
    follow(looked, &mut teller, answer)
}

/// [`to_stdout`] for any output.
///
/// # Errors
/// As for [`to_stdout`].
pub(super) fn follow<T: WatchedState>(
    looked: &mut dyn Query<T>,
    teller: &mut Printer<'_>,
    answer: impl Fn(&T, Timestamp) -> Result<String, Failure>,
) -> Result<(), Failure> {
    // Answers are compared as of the start: an age that grows is not a change.
    let start = (teller.clock)();
    let mut shown: Option<String> = None;
    let mut last_lines: Option<Vec<String>> = None;
    let mut trouble = String::new();
    loop {
        let answered = looked.poll().and_then(|view| match view {
            Some(view) => Ok(Some((answer(&view, start)?, view))),
            None => Ok(None),
        });
        match answered {
            Err(error) if shown.is_none() => return Err(error),
            Err(error) => {
                let error = error.to_string();
                if error != trouble {
                    eprintln!("attache: {}", super::escaped(&error));
                    trouble = error;
                }
            }
            Ok(None) => {}
            Ok(Some((text, view))) => {
                // The last error is over.
                let recovered = !std::mem::take(&mut trouble).is_empty();
                if recovered || shown.as_ref() != Some(&text) {
                    let before = match (teller.screen, &shown) {
                        (true, _) => CLEAR,
                        (false, Some(_)) => SEPARATOR,
                        (false, None) => "",
                    };
                    let now = answer(&view, (teller.clock)())?;
                    if !print(teller.out, &[before, &now])? {
                        return Ok(());
                    }
                    shown = Some(text);
                }
                let lines = view.missing_lines();
                if last_lines.as_ref() != Some(&lines) {
                    for line in &lines {
                        eprintln!("attache: {}", escape(line));
                    }
                    last_lines = Some(lines);
                }
            }
        }
        if !(teller.wait)() {
            return Ok(());
        }
    }
}

/// Prints texts. False if the reader has closed the pipe.
fn print(out: &mut dyn Write, texts: &[&str]) -> io::Result<bool> {
    let written = out
        .write_all(texts.concat().as_bytes())
        .and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

/// Waits. False as soon as the reader has closed the pipe.
fn is_read(stdout: &io::Stdout, pause: Duration) -> bool {
    let fd = stdout.as_fd();
    let mut polled = [PollFd::new(&fd, PollFlags::empty())];
    let pause = Timespec::try_from(pause).ok();
    matches!(poll(&mut polled, pause.as_ref()), Ok(0) | Err(Errno::INTR))
}

/// Files that are read again when they change.
pub(super) struct Files<F, R, T> {
    /// Takes the fingerprint of the files.
    pub(super) fingerprint: F,
    pub(super) read: R,
    /// The state that was read before the watch began.
    pub(super) first: Option<T>,
    pub(super) seen: Option<Fingerprint>,
}

impl<F, R, T> Query<T> for Files<F, R, T>
where
    F: FnMut() -> Fingerprint,
    R: FnMut() -> Result<T, Failure>,
{
    fn poll(&mut self) -> Result<Option<T>, Failure> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        // The fingerprint comes first: a change during the read causes another read.
        let now = (self.fingerprint)();
        if self.seen.as_ref() == Some(&now) {
            return Ok(None);
        }
        self.seen = Some(now);
        (self.read)().map(Some)
    }
}

#[cfg(test)]
mod tests;
