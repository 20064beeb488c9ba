//! Finds the user of a token: `TokenReview`, with a short-lived cache of the answers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec};
use kube::Api;
use kube::api::PostParams;
use ring::digest::{SHA256, digest};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::cache::ttl_cache::TtlCache;
use crate::engine::admission::disclosure::Subject;
use crate::ui::Refusal;

/// The time for which an answer is cached: a token that is withdrawn is good for that long.
const YES: Duration = Duration::from_secs(30);
const NO: Duration = Duration::from_secs(10);
/// The most answers to cache.
const REMEMBERED: usize = 10_000;
/// The most reviews at a time: a client that reaches the port can send any number of tokens.
const AT_ONCE: usize = 8;
/// The longest that a request waits for a review.
const PATIENCE: Duration = Duration::from_secs(5);

/// A token is remembered by its digest.
type Digest = [u8; 32];
/// A user, or nobody.
type Person = Option<Arc<Subject>>;

/// Asks the API server whose token it is.
pub(super) struct TokenUsers {
    client: kube::Client,
    known: Mutex<TtlCache<Digest, Person>>,
    permits: Semaphore,
}

// === impl TokenUsers ===

impl TokenUsers {
    pub(super) fn new(client: kube::Client) -> Self {
        Self {
            client,
            known: Mutex::new(TtlCache::new(REMEMBERED)),
            permits: Semaphore::new(AT_ONCE),
        }
    }

    /// The user with this token.
    ///
    /// # Errors
    /// If the token is nobody's, or the API server does not answer.
    pub(super) async fn whose(&self, token: &str) -> Result<Arc<Subject>, Refusal> {
        let refused = || {
            Refusal::unknown(
                "the API server does not accept the token: it may have expired; sign in with another",
            )
        };
        let known = self.known().get(&digest_of(token));
        let person = match known {
            Some(person) => person,
            None => self.ask(token).await?,
        };
        person.ok_or_else(refused)
    }

    async fn ask(&self, token: &str) -> Result<Person, Refusal> {
        let busy = || {
            Refusal::busy(
                "the API server does not name the user of the token: ask again in a moment",
            )
        };
        let permit = timeout(PATIENCE, self.permits.acquire()).await;
        let _permit = permit.map_err(|_| busy())?.map_err(|_| busy())?;
        // Another request with the token may have been answered meanwhile.
        let known = self.known().get(&digest_of(token));
        if let Some(person) = known {
            return Ok(person);
        }
        let review = TokenReview {
            spec: TokenReviewSpec {
                token: token.to_owned(),
                ..TokenReviewSpec::default()
            },
            ..TokenReview::default()
        };
        let api: Api<TokenReview> = Api::all(self.client.clone());
        let params = PostParams::default();
        let answer = timeout(PATIENCE, api.create(&params, &review)).await;
        let answer = answer.map_err(|_| busy())?;
        let review = answer.map_err(|error| {
            // The message may quote the request, which has the token.
            if let kube::Error::Api(status) = &error
                && status.code == 403
            {
                return Refusal::busy(
                    "attache may not ask for the user of a token: install the component manifests/ui, which has this right",
                );
            }
            busy()
        })?;
        let person = review.status.and_then(person);
        let life = if person.is_some() { YES } else { NO };
        self.known().put(digest_of(token), person.clone(), life);
        Ok(person)
    }

    fn known(&self) -> MutexGuard<'_, TtlCache<Digest, Person>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn digest_of(token: &str) -> Digest {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
    bytes
}

/// The user of an answer; `None` if the token was not accepted.
fn person(status: k8s_openapi::api::authentication::v1::TokenReviewStatus) -> Person {
    let user = status.user.filter(|_| status.authenticated == Some(true))?;
    let name = user.username.filter(|name| !name.is_empty())?;
    Some(Arc::new(Subject {
        user: name,
        uid: user.uid.unwrap_or_default(),
        groups: user.groups.unwrap_or_default(),
        extra: user.extra.unwrap_or_default(),
    }))
}
