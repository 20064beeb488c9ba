//! The session of one reader of the page: the newest state, the answers about it, and the changes
//! since it began.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::about::About;
use super::answer::answer;
use super::answer_cache::AnswerCache;
use super::history::History;
use super::page_state::{Numbered, PageState};
use super::text;
use crate::serve::ReadText;
use crate::ui::{Answers, Question, Refusal, Reply};

/// The number of answers that are computed at the same time; the rest of the machine is for others.
const AT_ONCE: usize = 2;
/// The number of questions that may wait for that.
const WAITING: usize = 64;
/// The time that a question waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// The session of one reader.
pub(super) struct Session {
    about: About,
    newest: ArcSwap<Numbered>,
    generations: watch::Sender<u64>,
    /// The start of the session, which no other session has.
    instance: String,
    history: Mutex<History>,
    answer_cache: Mutex<AnswerCache>,
    texts: Option<ReadText>,
    work: Arc<Work>,
}

/// The bounds of the work for all readers.
#[derive(Debug)]
pub(super) struct Work {
    permits: Semaphore,
    places: Semaphore,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            permits: Semaphore::new(AT_ONCE),
            places: Semaphore::new(WAITING),
        }
    }
}

// === impl Session ===

impl Session {
    /// Begins with a state. `texts` reads the objects of a cluster; those of files are in the state.
    pub(super) fn new(
        about: About,
        page_state: Arc<PageState>,
        texts: Option<ReadText>,
        work: Arc<Work>,
    ) -> Self {
        let now = Timestamp::now();
        Self {
            about,
            newest: ArcSwap::from_pointee(Numbered {
                generation: 1,
                page_state,
                trouble: None,
            }),
            generations: watch::Sender::new(1),
            instance: format!("{:x}", now.as_nanosecond()),
            history: Mutex::new(History::new(now)),
            answer_cache: Mutex::default(),
            texts,
            work,
        }
    }

    /// Shows a new state.
    pub(super) fn show(&self, page_state: &Arc<PageState>) {
        // Requests for the history wait from now on until it has this change.
        let mut history = self.history();
        let before = self.newest.load_full();
        let generation = self.number(Arc::clone(page_state), None);
        history.add(generation, Timestamp::now(), &before.page_state, page_state);
    }

    /// Says why the state cannot be read now; it stays as it was.
    pub(super) fn fail(&self, why: &str) {
        let newest = self.newest.load_full();
        if newest.trouble.as_deref() != Some(why) {
            self.number(Arc::clone(&newest.page_state), Some(why.to_owned()));
        }
    }

    /// Says that the state is readable again and has not changed.
    pub(super) fn recover(&self) {
        let newest = self.newest.load_full();
        if newest.trouble.is_some() {
            self.number(Arc::clone(&newest.page_state), None);
        }
    }

    fn number(&self, page_state: Arc<PageState>, trouble: Option<String>) -> u64 {
        let generation = self.newest.load().generation + 1;
        self.newest.store(Arc::new(Numbered {
            generation,
            page_state,
            trouble,
        }));
        self.generations.send_replace(generation);
        generation
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer_cache(&self) -> MutexGuard<'_, AnswerCache> {
        self.answer_cache
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn respond(self: Arc<Self>, question: Question) -> Result<Reply, Refusal> {
        let newest = self.newest.load_full();
        let generation = newest.generation;
        if let Some(json) = self.answer_cache().get(generation, &question) {
            return Ok(Reply { generation, json });
        }
        let busy = || Refusal::busy("too many questions at once: ask again in a moment");
        let _place = self.work.places.try_acquire().map_err(|_| busy())?;
        let permit = timeout(PATIENCE, self.work.permits.acquire()).await;
        let _permit = permit.map_err(|_| busy())?.map_err(|_| busy())?;
        let text = match &question {
            Question::Object(name) => self.text(&newest.page_state, name).await,
            _ => None,
        };
        let (session, asked) = (Arc::clone(&self), question.clone());
        let computed = spawn_blocking(move || session.compute(&newest, &asked, text)).await;
        let json = computed.map_err(|_| {
            Refusal::fault("the answer could not be computed: a fault of attache, please report it")
        })??;
        self.answer_cache().put(generation, question, &json);
        Ok(Reply { generation, json })
    }

    fn compute(
        &self,
        newest: &Numbered,
        question: &Question,
        text: Option<Result<String, String>>,
    ) -> Result<Bytes, Refusal> {
        let json = match question {
            Question::History => self.history().json(),
            question => answer(&self.about, newest, question, text),
        };
        Ok(Bytes::from(json?))
    }

    /// The text of an object, or why it is not known.
    async fn text(&self, page_state: &PageState, name: &str) -> Option<Result<String, String>> {
        let key = page_state.place(name).ok()?.object;
        if !text::is_shown(&key) {
            return None;
        }
        if let Some(own) = page_state.texts.get(&key) {
            return Some(Ok(own.get().to_owned()));
        }
        page_state.view.snapshot.get(&key)?;
        let read = self.texts.as_ref()?;
        read(key).await.transpose()
    }
}

impl Answers for Session {
    fn generations(&self) -> watch::Receiver<u64> {
        self.generations.subscribe()
    }

    fn instance(&self) -> &str {
        &self.instance
    }

    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Result<Reply, Refusal>> {
        Box::pin(self.respond(question))
    }
}
