//! Logs: to standard error, as text or JSON, filtered by `ATTACHE_LOG` (or `RUST_LOG`).
//!
//! No thread waits for a log: lines go through a bounded queue, and those for which there is no
//! room are counted. The contents of objects are never logged, and their names only at `debug`.
//!
//! The queue is not that of `tracing-appender`: if that queue is full at the end of the process, its guard prints to the
//! standard output, where commands print their answers. It also counts lost lines in a place of its own, so that the metric
//! `attache_log_lines_lost_total` would need a collector around it, which is as much code as the queue.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};
use tracing_subscriber::{EnvFilter, Layer as _, filter};

use crate::metrics::LOST_LOG_LINES;

/// Lines that wait to be written.
const QUEUE: usize = 1024;
/// The longest that the end of the process waits for them.
const LAST: Duration = Duration::from_millis(500);
/// The filter if no variable sets one.
const DEFAULT: &str = "info";
/// The rest of the process: a bare level is about attache itself, not about every library.
const LIBRARIES: &str = "warn";
/// These libraries log answers of the API server that they cannot read, whole objects among them.
/// The cache reports their retries once.
const NEVER: [&str; 2] = ["kube_client", "kube_runtime"];

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// Plain text.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Why logging cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter cannot be read.
    #[error("failed to read {variable}: {source}")]
    Filter {
        /// The source of the filter.
        variable: &'static str,
        /// The mistake in it.
        #[source]
        source: filter::ParseError,
    },
    /// There is no thread for it.
    #[error("failed to start the thread that writes logs: {0}")]
    Thread(#[from] io::Error),
    /// Somebody else has set it up.
    #[error("failed to start logging: {0}")]
    Init(#[from] TryInitError),
}

/// The log of the process. Dropping it writes the waiting lines, if its output accepts them in
/// time.
#[derive(Debug)]
#[must_use = "the last lines are lost without it"]
pub struct Logs(Lines);

/// The sending end of the queue of lines.
#[derive(Clone, Debug)]
struct Lines(SyncSender<Entry>);

/// An entry of the queue.
enum Entry {
    Line(Vec<u8>),
    /// Tells when all before it has been written.
    End(Sender<()>),
}

/// Starts logging for the process; once.
///
/// # Errors
/// When the filter cannot be read, or logging is set up already.
pub fn init(format: LogFormat) -> Result<Logs, TelemetryError> {
    let (lines, queue) = sync_channel(QUEUE);
    let lines = Lines(lines);
    let writer = lines.clone();
    let layer = tracing_subscriber::fmt::layer().with_writer(writer);
    let layer = match format {
        LogFormat::Text => {
            let ansi = io::IsTerminal::is_terminal(&io::stderr());
            layer.with_ansi(ansi).boxed()
        }
        LogFormat::Json => layer.with_ansi(false).json().flatten_event(true).boxed(),
    };
    let allowed = filter::filter_fn(|metadata| {
        let target = metadata.target();
        !NEVER.iter().any(|never| target.starts_with(never))
    });
    let layer = layer.with_filter(allowed).with_filter(filter()?);
    tracing_subscriber::registry().with(layer).try_init()?;
    let thread = thread::Builder::new().name("logs".to_owned());
    thread.spawn(move || write(&queue, &mut io::stderr()))?;
    Ok(Logs(lines))
}

fn filter() -> Result<EnvFilter, TelemetryError> {
    for variable in ["ATTACHE_LOG", "RUST_LOG"] {
        if let Ok(text) = std::env::var(variable) {
            let filter = EnvFilter::try_new(wanted(&text));
            return filter.map_err(|source| TelemetryError::Filter { variable, source });
        }
    }
    Ok(EnvFilter::new(wanted(DEFAULT)))
}

/// The directives of a filter: a bare level applies to attache itself. Libraries log warnings
/// unless the filter names them.
fn wanted(text: &str) -> String {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let parts = parts.map(|part| {
        let is_level = part.parse::<filter::LevelFilter>().is_ok();
        format!(",{}{part}", if is_level { "attache=" } else { "" })
    });
    format!("{LIBRARIES}{}", parts.collect::<String>())
}

/// Writes lines until all senders are dropped. A line that cannot be written is lost.
fn write(queue: &Receiver<Entry>, to: &mut impl Write) {
    while let Ok(entry) = queue.recv() {
        match entry {
            Entry::Line(line) => {
                let _ = to.write_all(&line);
            }
            Entry::End(done) => {
                let _ = to.flush();
                let _ = done.send(());
            }
        }
    }
}

// === impl Lines ===

impl<'a> MakeWriter<'a> for Lines {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Err(TrySendError::Full(_)) = self.0.try_send(Entry::Line(line.to_vec()))
            && let Some(lost) = &*LOST_LOG_LINES
        {
            lost.inc();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

// === impl Logs ===

impl Drop for Logs {
    fn drop(&mut self) {
        let (done, written) = channel();
        if self.0.0.try_send(Entry::End(done)).is_ok() {
            let _ = written.recv_timeout(LAST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::wanted;

    #[test]
    fn a_level_alone_is_of_attache() {
        assert_eq!(wanted("debug"), "warn,attache=debug");
        assert_eq!(wanted("hyper=trace, WARN"), "warn,hyper=trace,attache=WARN");
        assert_eq!(wanted(""), "warn");
    }
}
