//! Server-sent events: one when the state has changed.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt as _, stream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Answers, Refusal};

/// The interval between two comments that show that the connection is alive; proxies cut silent ones after a minute.
const ALIVE: Duration = Duration::from_secs(15);
/// The time for which a page listens before it must ask again, when its token and rights are looked at anew.
const LIFE: Duration = Duration::from_mins(10);
/// The most pages that may listen at the same time.
const LISTENERS: usize = 256;

/// The pages that listen.
#[derive(Clone, Debug)]
pub(super) struct Listeners(Arc<Semaphore>);

impl Default for Listeners {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LISTENERS)))
    }
}

// === impl Listeners ===

impl Listeners {
    /// The stream of events: the generation at once, then each new one. A page that is slow misses those in between.
    pub(super) fn add(&self, answers: &Arc<dyn Answers>) -> Response {
        let Ok(permit) = self.0.clone().try_acquire_owned() else {
            return Refusal::busy("too many pages are open: close some of them").into_response();
        };
        let mut generations = answers.generations();
        generations.mark_changed();
        // Held as long as somebody listens.
        let held: (Arc<dyn Answers>, OwnedSemaphorePermit) = (Arc::clone(answers), permit);
        let events = stream::unfold((generations, held), async |(mut generations, held)| {
            generations.changed().await.ok()?;
            let generation = *generations.borrow_and_update();
            let data = serde_json::json!({ "generation": generation }).to_string();
            let event = Event::default().event("changed").data(data);
            Some((Ok::<_, Infallible>(event), (generations, held)))
        });
        let events = events.take_until(tokio::time::sleep(LIFE));
        let alive = KeepAlive::new().interval(ALIVE);
        Sse::new(events).keep_alive(alive).into_response()
    }
}
