//! Certificates from mounted files, read again and again.
//!
//! Content is compared, not file events: kubelet swaps the symlink `..data`, and a watch on the file that it led
//! to is dead after the first rotation.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::{Certificates, TlsError};
use crate::metrics::Metrics;

/// Files that change again and again are taken as they are; the next round brings the rest.
const MAX_REREADS: usize = 3;

/// Where the pair is.
#[derive(Clone, Debug)]
pub struct Files {
    /// Chain in PEM, leaf first.
    pub cert: PathBuf,
    /// Private key in PEM.
    pub key: PathBuf,
}

/// Keeps certificates as the files are.
pub struct Reload {
    files: Files,
    certificates: Arc<Certificates>,
    metrics: Arc<Metrics>,
    last_good: Option<Pair>,
    last_bad: Option<Result<Pair, String>>,
}

/// The bytes of both files. Not `Debug`: one of them is a key.
#[derive(Clone, PartialEq)]
struct Pair {
    cert: Vec<u8>,
    key: Vec<u8>,
}

// === impl Reload ===

impl Reload {
    /// Nothing is read before [`Reload::poll`].
    pub fn new(files: Files, certificates: Arc<Certificates>, metrics: Arc<Metrics>) -> Self {
        Self {
            files,
            certificates,
            metrics,
            last_good: None,
            last_bad: None,
        }
    }

    /// Reads now and then every so often, for ever. Files that are not there yet are waited for.
    pub async fn run(mut self, every: Duration) {
        loop {
            self.poll().await;
            sleep(every).await;
        }
    }

    /// Reads once. A pair that cannot be used leaves the current one in place; it is counted and logged once.
    pub async fn poll(&mut self) {
        let read = self.read().await;
        let bad = match read {
            Ok(pair) if self.last_good.as_ref() == Some(&pair) => {
                self.last_bad = None;
                return;
            }
            Ok(pair) => match self.certificates.store(&pair.cert, &pair.key) {
                Ok(()) => {
                    self.accepted(pair);
                    return;
                }
                Err(error) => (Ok(pair), error),
            },
            Err(error) => (Err(error.to_string()), error),
        };
        let (content, error) = bad;
        if self.last_bad.as_ref() != Some(&content) {
            let serving = self.certificates.loaded();
            tracing::warn!(%error, serving, "failed to load the serving certificate");
            self.metrics
                .cert_reload
                .with_label_values(&["failed"])
                .inc();
            self.last_bad = Some(content);
        }
    }

    /// Both files as of one moment: a swap between the two reads would mix an old certificate with a new key.
    async fn read(&self) -> Result<Pair, TlsError> {
        let mut pair = self.read_once().await?;
        for _ in 0..MAX_REREADS {
            let again = self.read_once().await?;
            if again == pair {
                break;
            }
            pair = again;
        }
        Ok(pair)
    }

    async fn read_once(&self) -> Result<Pair, TlsError> {
        Ok(Pair {
            cert: read(&self.files.cert).await?,
            key: read(&self.files.key).await?,
        })
    }

    fn accepted(&mut self, pair: Pair) {
        self.metrics
            .cert_reload
            .with_label_values(&["loaded"])
            .inc();
        self.certificates.tell_end(&self.metrics);
        let not_after = self.certificates.not_after();
        tracing::info!(not_after, "serving certificate loaded");
        self.last_good = Some(pair);
        self.last_bad = None;
    }
}

async fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    tokio::fs::read(path)
        .await
        .map_err(|source| TlsError::Read {
            path: path.display().to_string(),
            source,
        })
}
