//! Records when the API server last confirmed the cached objects of a kind, with a complete list or any data on a
//! watch. Bookmarks count too, which is why this observes the connection instead of the watch events.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::Request;
use kube::Client;
use kube::client::Body;
use tokio::time::Instant;

use crate::engine::model::ids::GroupKind;
use crate::metrics::{Metrics, watched_kind};

/// When a kind was last confirmed. Shared, without a lock.
#[derive(Debug)]
pub struct LastContact {
    made: Instant,
    /// The last contact, in nanoseconds after `made`.
    nanos: AtomicU64,
    /// The number of contacts; 0 means never.
    words: AtomicU64,
}

/// Records contacts for a kind.
#[derive(Clone, Debug)]
pub(super) struct Listener {
    last_contact: Arc<LastContact>,
    label: Arc<str>,
    metrics: Arc<Metrics>,
}

// === impl LastContact ===

impl Default for LastContact {
    fn default() -> Self {
        Self {
            made: Instant::now(),
            nanos: AtomicU64::new(0),
            words: AtomicU64::new(0),
        }
    }
}

impl LastContact {
    /// Time since the last contact; `None` if there was none.
    pub fn age(&self) -> Option<Duration> {
        let is_heard = self.words.load(Ordering::Acquire) > 0;
        let last = Duration::from_nanos(self.nanos.load(Ordering::Relaxed));
        is_heard.then(|| self.made.elapsed().saturating_sub(last))
    }

    fn now(&self) {
        let nanos = u64::try_from(self.made.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanos.store(nanos, Ordering::Relaxed);
        self.words.fetch_add(1, Ordering::Release);
    }
}

// === impl Listener ===

impl Listener {
    pub(super) fn new(
        gk: &GroupKind,
        last_contact: Arc<LastContact>,
        metrics: &Arc<Metrics>,
    ) -> Self {
        Self {
            last_contact,
            label: watched_kind(gk).into(),
            metrics: Arc::clone(metrics),
        }
    }

    /// Records that the cached objects of the kind are current now.
    pub(super) fn note(&self) {
        self.last_contact.now();
        self.metrics.record_contact(&self.label);
    }

    /// The number of contacts so far.
    pub(super) fn words(&self) -> u64 {
        self.last_contact.words.load(Ordering::Acquire)
    }

    /// Wraps a client. The headers of a successful watch response and each frame of its body count as a contact. Frames
    /// of lists do not, because the list may never be complete.
    pub(super) fn on(&self, client: Client) -> Client {
        let listener = self.clone();
        let namespace = client.default_namespace().to_owned();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (client, listener) = (client.clone(), listener.clone());
            let query = request.uri().query().unwrap_or_default();
            let is_watch = query.split('&').any(|pair| pair == "watch=true");
            async move {
                let response = client.send(request).await?;
                let is_heard = is_watch && response.status().is_success();
                if is_heard {
                    listener.note();
                }
                let response = response.map(|body| {
                    body.map_frame(move |frame| {
                        if is_heard {
                            listener.note();
                        }
                        frame
                    })
                });
                Ok::<_, kube::Error>(response)
            }
        });
        Client::new(service, namespace)
    }
}
