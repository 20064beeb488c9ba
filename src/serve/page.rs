//! The live page in a cluster: each reader is shown what they may list, and no more.
//!
//! A request carries a token. The API server says whose it is (`TokenReview`) and which kinds that user may list where
//! (`SubjectAccessReview`). The answers are computed from a snapshot that has only these objects, by the code that
//! `attache ui` runs with the user's own credentials: what a user may not list is not there when an answer is computed.

mod restricted;
mod rights;
mod sessions;
mod token_users;

use std::sync::Arc;

use arc_swap::ArcSwap;
use attache_guardrails::Guardrails;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::state::State;
use crate::cache::lists::Listed;
use crate::engine::admission::disclosure::Subject;
use crate::engine::admission::settings::ReviewSettings;
use crate::engine::admission::verdict::escape;
use crate::engine::kinds::profile::ProfileRules;
use crate::engine::model::ids::ObjectKey;
use crate::ui::signed_in::{Authenticator, below_ui};
use crate::ui::{Answers, Question, Refusal, Reply};

use rights::Readers;
use sessions::{Origin, Sessions, follow};
use token_users::TokenUsers;

/// The part of the state that a reader may see.
#[derive(Debug)]
pub struct Readable {
    /// The objects, and what is left out.
    pub listed: Listed,
    /// The rules for policy kinds.
    pub rules: Arc<ProfileRules>,
    /// The guardrails in use, if the reader may list guardrails.
    pub guardrails: Guardrails,
    /// The settings by which findings are weighed.
    pub settings: Arc<ReviewSettings>,
}

/// Reads the JSON of an object; `None` if it does not exist. An error is a sentence.
pub type ReadText =
    Arc<dyn Fn(ObjectKey) -> BoxFuture<'static, Result<Option<String>, String>> + Send + Sync>;

/// The answers to readers with the same rights.
pub trait Page: Answers {
    /// Shows a new state.
    fn show(&self, state: Readable);
}

/// Begins with a state.
pub type StartSession = Arc<dyn Fn(Readable, ReadText) -> Arc<dyn Page> + Send + Sync>;

/// The routes of the page. `None` without a cluster, which knows the users.
pub(super) fn router(
    state: &State,
    settings: &Arc<ArcSwap<ReviewSettings>>,
    rules: watch::Receiver<Arc<ProfileRules>>,
    begin: StartSession,
    background: &mut JoinSet<String>,
) -> Option<axum::Router> {
    let (cluster_access, sync) = (state.cluster_access.as_ref()?, state.sources.sync.clone()?);
    let confirm = Arc::clone(&cluster_access.confirm);
    let texts: ReadText = Arc::new(move |key| {
        let confirm = Arc::clone(&confirm);
        Box::pin(async move {
            let read = confirm.text(&key).await;
            read.map_err(|_| format!("{} cannot be read now", escape(&key.to_string())))
        })
    });
    let sessions = Sessions::new(Origin {
        snapshot: Arc::clone(&state.snapshot),
        sync,
        resources: Arc::clone(&cluster_access.resources),
        guardrails: Arc::clone(&state.guardrails),
        settings: Arc::clone(settings),
        rules,
        texts,
        begin,
    });
    background.spawn(follow(Arc::clone(&sessions)));
    let authenticator = TokenAuthenticator::new(cluster_access.client.clone(), sessions);
    Some(below_ui(Arc::new(authenticator)))
}

/// Lets users with a token of the cluster in.
struct TokenAuthenticator {
    people: TokenUsers,
    readers: Readers,
    sessions: Arc<Sessions>,
}

/// A session, for one user of it.
struct Named {
    session: Arc<dyn Answers>,
    user: Arc<Subject>,
}

// === impl TokenAuthenticator ===

impl TokenAuthenticator {
    fn new(client: kube::Client, sessions: Arc<Sessions>) -> Self {
        Self {
            people: TokenUsers::new(client.clone()),
            readers: Readers::new(client),
            sessions,
        }
    }
}

impl Authenticator for TokenAuthenticator {
    fn authenticate(&self, token: String) -> BoxFuture<'_, Result<Arc<dyn Answers>, Refusal>> {
        Box::pin(async move {
            let user = self.people.whose(&token).await?;
            let rights = match self.readers.remembered(&user) {
                Some(rights) => rights,
                None => self.readers.rights(&user, self.sessions.asked()?).await?,
            };
            let session = self.sessions.session_for(rights).await?;
            Ok(Arc::new(Named { session, user }) as Arc<dyn Answers>)
        })
    }
}

impl Answers for Named {
    fn generations(&self) -> watch::Receiver<u64> {
        self.session.generations()
    }

    fn instance(&self) -> &str {
        self.session.instance()
    }

    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let question = match question {
            Question::State { .. } => Question::State {
                user: Some(self.user.user.clone()),
            },
            other => other,
        };
        Arc::clone(&self.session).answer(question)
    }
}
