//! Shutdown: drain on the first signal, stop on the second.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// The phases of a shutdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Serving.
    #[default]
    Running,
    /// No longer ready, but still answering: endpoints take seconds to drop this pod.
    Draining,
    /// Stop at once.
    Aborted,
}

/// Turns SIGTERM and SIGINT into phases. The handlers are installed when this returns: a process with PID 1 that has
/// none does not receive the signals at all.
///
/// # Errors
/// Fails if the handlers cannot be installed.
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

/// Waits until the process has reached a phase; never returns if the sender is gone before.
pub async fn reached(phase: &mut watch::Receiver<Phase>, wanted: Phase) {
    if phase.wait_for(|now| *now >= wanted).await.is_err() {
        std::future::pending::<()>().await;
    }
}
