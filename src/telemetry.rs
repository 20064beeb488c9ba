//! Logs: to standard error, as text or JSON, filtered by `ATTACHE_LOG` (or `RUST_LOG`).

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::TryInitError;

/// How a log line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Why logging cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter cannot be read.
    #[error("failed to read {variable}: {source}")]
    Filter {
        /// Where the filter came from.
        variable: &'static str,
        /// What is wrong with it.
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
    /// Somebody else has set it up.
    #[error("failed to start logging: {0}")]
    Init(#[from] TryInitError),
}

/// Starts logging for the process; once.
///
/// # Errors
/// When the filter cannot be read, or logging is set up already.
pub fn init(format: LogFormat) -> Result<(), TelemetryError> {
    use tracing_subscriber::util::SubscriberInitExt as _;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter()?)
        .with_writer(io::stderr);
    match format {
        LogFormat::Text => {
            let ansi = io::IsTerminal::is_terminal(&io::stderr());
            builder.with_ansi(ansi).finish().try_init()?;
        }
        LogFormat::Json => builder.json().flatten_event(true).finish().try_init()?,
    }
    Ok(())
}

fn filter() -> Result<EnvFilter, TelemetryError> {
    for variable in ["ATTACHE_LOG", "RUST_LOG"] {
        if let Ok(text) = std::env::var(variable) {
            let filter = EnvFilter::try_new(text);
            return filter.map_err(|source| TelemetryError::Filter { variable, source });
        }
    }
    // kube logs every retry; the cache says once what changed.
    Ok(EnvFilter::new("info,kube_client=off,kube_runtime=error"))
}
