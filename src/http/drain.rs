//! The end of the process: drain on the first signal, stop on the second.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// How far the process is on its way out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Serving.
    #[default]
    Running,
    /// Not ready any more, still answering: endpoints take seconds to forget this pod.
    Draining,
    /// Out, at once.
    Aborted,
}

/// Turns SIGTERM and SIGINT into phases. Handlers are installed when this returns: as PID 1 a process without
/// them does not see the signals at all.
///
/// # Errors
/// When handlers cannot be installed.
pub fn on_signals(phase: watch::Sender<Phase>) -> io::Result<impl Future<Output = ()> + Send> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        for next in [Phase::Draining, Phase::Aborted] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            tracing::info!(phase = ?next, "signal");
            phase.send_replace(next);
        }
    })
}

/// Waits until the process is at least that far; for ever when nobody can say so any more.
pub async fn reached(phase: &mut watch::Receiver<Phase>, wanted: Phase) {
    if phase.wait_for(|now| *now >= wanted).await.is_err() {
        std::future::pending::<()>().await;
    }
}
