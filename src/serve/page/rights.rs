//! The rights of a user to list objects of each kind: everywhere, in some namespaces, or nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use k8s_openapi::api::authorization::v1::SubjectAccessReview;
use kube::Api;
use kube::api::PostParams;
use kube::core::ApiResource;
use tokio::time::timeout;

use crate::cache::access::review;
use crate::cache::ttl_cache::TtlCache;
use crate::engine::admission::disclosure::Subject;
use crate::engine::model::ids::GroupKind;
use crate::ui::Refusal;

/// The time for which the rights of a user are cached: a right that is withdrawn holds for that long.
const LIFE: Duration = Duration::from_secs(30);
/// The most questions at a time, for each user.
const AT_ONCE: usize = 16;
/// The most questions for one user. Kinds and namespaces beyond are left out.
const QUESTIONS: usize = 2_000;
/// The longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most users to remember.
const REMEMBERED: usize = 1_000;

/// The namespaces in which a user may list the objects of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum AllowedNamespaces {
    Everywhere,
    In(BTreeSet<Arc<str>>),
    Nowhere,
}

/// The kinds that a user may list, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Rights(pub(super) BTreeMap<GroupKind, AllowedNamespaces>);

/// A kind to ask about, and the namespaces that have objects of it; none for a cluster-scoped kind.
#[derive(Clone, Debug)]
pub(super) struct AskedKind {
    pub(super) gk: GroupKind,
    pub(super) resource: ApiResource,
    pub(super) namespaces: BTreeSet<Arc<str>>,
}

/// The rights of users.
type Known = TtlCache<Arc<Subject>, Arc<Rights>>;

/// Asks the API server what users may list.
pub(super) struct Readers {
    client: kube::Client,
    known: Mutex<Known>,
}

// === impl Rights ===

impl Rights {
    /// The namespaces in which the user may list a kind: none, if the API server was not asked about it.
    pub(super) fn rights_on(&self, gk: &GroupKind) -> &AllowedNamespaces {
        self.0.get(gk).unwrap_or(&AllowedNamespaces::Nowhere)
    }
}

// === impl Readers ===

impl Readers {
    pub(super) fn new(client: kube::Client) -> Self {
        Self {
            client,
            known: Mutex::new(TtlCache::new(REMEMBERED)),
        }
    }

    /// The rights of a user, if the API server was asked a short time ago.
    pub(super) fn remembered(&self, user: &Arc<Subject>) -> Option<Arc<Rights>> {
        self.known().get(user)
    }

    /// Asks the API server for the rights of a user on these kinds.
    ///
    /// # Errors
    /// If the API server does not answer: then nothing is shown.
    pub(super) async fn rights(
        &self,
        user: &Arc<Subject>,
        asked: Vec<AskedKind>,
    ) -> Result<Arc<Rights>, Refusal> {
        let rights = Arc::new(self.ask(user, asked).await?);
        self.known()
            .put(Arc::clone(user), Arc::clone(&rights), LIFE);
        Ok(rights)
    }

    async fn ask(&self, user: &Arc<Subject>, asked: Vec<AskedKind>) -> Result<Rights, Refusal> {
        let may_list = |kind: &AskedKind, namespace: &str| {
            review(user, "list", &kind.resource, [namespace, ""])
        };
        let everywhere = asked.iter().map(|kind| may_list(kind, ""));
        let allowed = self.each(everywhere.collect()).await?;
        let mut rights = Rights::default();
        let mut not_cached: Vec<AskedKind> = Vec::new();
        for (kind, allowed) in asked.into_iter().zip(allowed) {
            if allowed {
                rights.0.insert(kind.gk, AllowedNamespaces::Everywhere);
            } else {
                not_cached.push(kind);
            }
        }
        let parts = not_cached.iter().flat_map(|kind| {
            let namespaces = kind.namespaces.iter();
            namespaces.map(move |namespace| (kind.gk.clone(), Arc::clone(namespace), kind))
        });
        let parts = parts.take(QUESTIONS).map(|(gk, namespace, kind)| {
            let review = may_list(kind, &namespace);
            ((gk, namespace), review)
        });
        let (parts, reviews): (Vec<_>, Vec<_>) = parts.unzip();
        let allowed = self.each(reviews).await?;
        let mut within: BTreeMap<GroupKind, BTreeSet<Arc<str>>> = BTreeMap::new();
        let parts = parts.into_iter().zip(allowed);
        for ((gk, namespace), _) in parts.filter(|(_, allowed)| *allowed) {
            within.entry(gk).or_default().insert(namespace);
        }
        for kind in not_cached {
            let place = match within.remove(&kind.gk) {
                Some(namespaces) => AllowedNamespaces::In(namespaces),
                None => AllowedNamespaces::Nowhere,
            };
            rights.0.insert(kind.gk, place);
        }
        Ok(rights)
    }

    /// The answers to questions, in their order.
    async fn each(&self, reviews: Vec<SubjectAccessReview>) -> Result<Vec<bool>, Refusal> {
        let api: Api<SubjectAccessReview> = Api::all(self.client.clone());
        let answers = reviews
            .into_iter()
            .map(|review| answer(api.clone(), review));
        let mut answers = stream::iter(answers).buffered(AT_ONCE);
        let mut all = Vec::new();
        while let Some(allowed) = answers.next().await {
            all.push(allowed?);
        }
        Ok(all)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer to a question. Without one, nothing is shown.
async fn answer(
    api: Api<SubjectAccessReview>,
    review: SubjectAccessReview,
) -> Result<bool, Refusal> {
    let params = PostParams::default();
    let answer = timeout(PATIENCE, api.create(&params, &review)).await;
    let answer = answer.ok().and_then(Result::ok);
    let status = answer.and_then(|review| review.status).ok_or_else(|| {
        Refusal::busy("the API server does not say what you may read: ask again in a moment")
    })?;
    Ok(status.allowed)
}
