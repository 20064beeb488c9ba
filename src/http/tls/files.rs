//! Reloads certificates from mounted files.
//!
//! It compares contents instead of using file events: kubelet swaps the symlink `..data`, and a watch on its former
//! target is dead after the first rotation.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::sleep;

use super::clients::Callers;
use super::{Certificates, TlsError};
use crate::metrics::Metrics;
use crate::reading::{self, Pipes};

/// If files keep changing while they are read, they are used as they are; the next poll gets the rest.
const MAX_REREADS: usize = 3;

/// The files of the serving pair.
#[derive(Clone, Debug)]
pub struct Files {
    /// Chain in PEM, leaf first.
    pub cert: PathBuf,
    /// Private key in PEM.
    pub key: PathBuf,
}

/// Keeps certificates in sync with their files.
pub struct Reload {
    files: Vec<PathBuf>,
    purpose: Purpose,
    metrics: Arc<Metrics>,
    last_good: Option<Contents>,
    last_bad: Option<Result<Contents, String>>,
    /// The last logged problem with the validity of the certificate in use.
    last_trouble: Option<String>,
}

/// The contents of all files. Not `Debug`, because one may be a key.
type Contents = Vec<Vec<u8>>;

/// The purpose of the files.
enum Purpose {
    Serving(Arc<Certificates>),
    Callers(Arc<Callers>),
}

// === impl Reload ===

impl Reload {
    /// Reloads the serving pair. Nothing is read before [`Reload::poll`].
    pub fn new(files: Files, certificates: Arc<Certificates>, metrics: Arc<Metrics>) -> Self {
        let files = vec![files.cert, files.key];
        Self::with_purpose(files, Purpose::Serving(certificates), metrics)
    }

    /// Reloads the client CA.
    pub fn client_ca(file: PathBuf, callers: Arc<Callers>, metrics: Arc<Metrics>) -> Self {
        Self::with_purpose(vec![file], Purpose::Callers(callers), metrics)
    }

    fn with_purpose(files: Vec<PathBuf>, purpose: Purpose, metrics: Arc<Metrics>) -> Self {
        Self {
            files,
            purpose,
            metrics,
            last_good: None,
            last_bad: None,
            last_trouble: None,
        }
    }

    /// Polls now and then at an interval, for ever. Files may be missing at first.
    pub async fn run(mut self, every: Duration) {
        loop {
            self.poll().await;
            sleep(every).await;
        }
    }

    /// Polls once. If the files cannot be used, the current certificate stays; the failure is counted and logged once.
    pub async fn poll(&mut self) {
        let now = Timestamp::now();
        match self.read().await {
            Ok(contents) if self.last_good.as_ref() == Some(&contents) => self.well(),
            Ok(contents) => match self.purpose.take(&contents, now) {
                Ok(()) => {
                    self.count("loaded");
                    self.last_good = Some(contents);
                    self.purpose.tell(&self.metrics);
                    self.well();
                }
                Err(error) => self.refused(Ok(contents), &error),
            },
            Err(error) => self.refused(Err(error.to_string()), &error),
        }
        self.look_at_the_time(now);
    }

    fn well(&mut self) {
        self.last_bad = None;
        self.purpose.note(None);
        self.current(true);
    }

    fn refused(&mut self, content: Result<Contents, String>, error: &TlsError) {
        if self.last_bad.as_ref() != Some(&content) {
            let what = self.purpose.what();
            let then = if self.purpose.loaded() {
                "the one in use stays"
            } else {
                "none is in use yet"
            };
            tracing::warn!(%error, "failed to load the {what}; {then}");
            self.count("failed");
            self.purpose.note(Some(error.to_string()));
            self.last_bad = Some(content);
        }
        self.current(false);
    }

    /// A certificate may expire while it is served, without any change to the files; clients will refuse it then.
    fn look_at_the_time(&mut self, now: Timestamp) {
        let Purpose::Serving(certificates) = &self.purpose else {
            return;
        };
        let problem = certificates.time_trouble(now);
        if let Some(why) = problem.as_ref().filter(|_| problem != self.last_trouble) {
            tracing::error!(%why, "the serving certificate is not valid now; it is served nevertheless");
        }
        self.last_trouble = problem;
    }

    /// Reads all files consistently: a swap between two reads would combine an old certificate with a new key.
    async fn read(&self) -> Result<Contents, TlsError> {
        let mut contents = self.read_once().await?;
        for _ in 0..MAX_REREADS {
            let again = self.read_once().await?;
            if again == contents {
                break;
            }
            contents = again;
        }
        Ok(contents)
    }

    async fn read_once(&self) -> Result<Contents, TlsError> {
        let mut contents = Vec::with_capacity(self.files.len());
        for file in &self.files {
            contents.push(read(file).await?);
        }
        Ok(contents)
    }

    fn count(&self, result: &str) {
        let loads = match self.purpose {
            Purpose::Serving(_) => &self.metrics.cert_reload,
            Purpose::Callers(_) => &self.metrics.client_ca_reload,
        };
        loads.with_label_values(&[result]).inc();
    }

    fn current(&self, is_current: bool) {
        let file = match self.purpose {
            Purpose::Serving(_) => "serving",
            Purpose::Callers(_) => "client-ca",
        };
        let gauge = self.metrics.cert_current.with_label_values(&[file]);
        gauge.set(i64::from(is_current));
    }
}

async fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let file = path.to_owned();
    // The file is read repeatedly, so a pipe in its place must not block.
    let read = move || reading::bytes(&file, reading::SMALL, Pipes::Refused);
    let read = tokio::task::spawn_blocking(read).await;
    let read = read.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    read.map_err(|source| TlsError::Read {
        path: path.display().to_string(),
        source,
    })
}

// === impl Purpose ===

impl Purpose {
    fn take(&self, contents: &[Vec<u8>], now: Timestamp) -> Result<(), TlsError> {
        match (self, contents) {
            (Self::Serving(certificates), [cert, key]) => certificates.replace(cert, key, now),
            (Self::Callers(callers), [ca]) => callers.store(ca),
            _ => Ok(()),
        }
    }

    fn loaded(&self) -> bool {
        match self {
            Self::Serving(certificates) => certificates.loaded(),
            Self::Callers(callers) => callers.loaded(),
        }
    }

    fn note(&self, wrong: Option<String>) {
        let wrong = Arc::new(wrong);
        match self {
            Self::Serving(certificates) => certificates.wrong.store(wrong),
            Self::Callers(callers) => callers.wrong.store(wrong),
        }
    }

    fn what(&self) -> &'static str {
        match self {
            Self::Serving(_) => "serving certificate",
            Self::Callers(_) => "client CA",
        }
    }

    /// Logs the certificates in use.
    fn tell(&self, metrics: &Metrics) {
        let Self::Serving(certificates) = self else {
            tracing::info!("client CA loaded");
            return;
        };
        certificates.tell_end(metrics);
        let until = certificates
            .validity()
            .map(|validity| validity.until.to_string());
        tracing::info!(until, "serving certificate loaded");
    }
}
