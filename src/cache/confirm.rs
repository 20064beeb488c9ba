//! Live reads, which confirm that an object the cache does not have is really absent.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared, WeakShared};
use kube::Api;
use kube::core::ApiResource;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::Object;

use super::api_error::ApiError;
use super::kinds::Resources;
use super::lists::{is_name, pages, text};
use super::raw::RawObject;
use super::watch::short;

type Answer = Result<Option<Arc<Object>>, String>;
type Read = BoxFuture<'static, Answer>;
/// All objects of a kind, or why they are not known.
pub type ListAnswer = Result<Arc<Vec<Arc<Object>>>, String>;
type ListRead = BoxFuture<'static, ListAnswer>;

/// The longest that a list of a kind may take. Only a request that would be refused waits for it.
const LIST: Duration = Duration::from_secs(3);

/// Reads single objects and lists kinds. Concurrent reviews that need the same share one read.
pub struct Confirm {
    client: kube::Client,
    resources: Arc<Resources>,
    /// The longest that a review waits for a read; the review itself has 10 s in all.
    budget: Duration,
    /// Reads in progress. The references are weak, so that a read is dropped when nobody waits for it.
    reads: Mutex<HashMap<ObjectKey, WeakShared<Read>>>,
    /// Lists by kind.
    lists: Mutex<HashMap<GroupKind, Arc<Lists>>>,
}

/// The lists of one kind: at most one at a time.
#[derive(Default)]
struct Lists {
    running: Mutex<()>,
    /// The list that begins after the running one. Weak, so that it is dropped when nobody waits for it.
    next: Mutex<Option<WeakShared<ListRead>>>,
}

// === impl Lists ===

impl Lists {
    /// The next list to begin. One that has begun may be older than the question.
    async fn next(
        self: Arc<Self>,
        client: kube::Client,
        gk: GroupKind,
        resource: ApiResource,
    ) -> Shared<ListRead> {
        let mut next = self.next.lock().await;
        if let Some(next) = next.as_ref().and_then(WeakShared::upgrade) {
            return next;
        }
        let lists = Arc::clone(&self);
        let list = async move {
            let _one_at_a_time = lists.running.lock().await;
            *lists.next.lock().await = None;
            list(client, gk, resource).await
        };
        let list = list.boxed().shared();
        *next = list.downgrade();
        list
    }
}

// === impl Confirm ===

impl Confirm {
    /// The client must not retry (see [`super::tuned`]): the budget allows one attempt.
    pub fn new(client: kube::Client, resources: Arc<Resources>, budget: Duration) -> Self {
        Self {
            client,
            resources,
            budget,
            reads: Mutex::default(),
            lists: Mutex::default(),
        }
    }

    /// The object as it is now; `None` if there is no such object.
    ///
    /// # Errors
    /// Returns a short reason if the API server does not answer in time.
    pub async fn read(&self, key: ObjectKey) -> Result<Option<Object>, String> {
        if !(is_name(&key.name) && (key.namespace.is_empty() || is_name(&key.namespace))) {
            // No object can have such a name, and in a URL it would address something else.
            return Ok(None);
        }
        let Some(resource) = self.resources.get(&key.gk) else {
            return Err(format!("{} is not watched", key.gk));
        };
        let answer = self.join(key, resource).await.await;
        Ok(answer?.map(|object| Object::clone(&object)))
    }

    /// The object as JSON, as it is now; `None` if there is no such object, or its kind is not watched.
    ///
    /// # Errors
    /// Fails if it cannot be read in time.
    pub async fn text(&self, key: &ObjectKey) -> Result<Option<String>, ApiError> {
        let Some(resource) = self.resources.get(&key.gk) else {
            return Ok(None);
        };
        let read = text(&self.client, &resource, &key.namespace, &key.name);
        let read = timeout(LIST, read).await;
        read.map_err(|_| ApiError::Away(format!("timed out after {} s", LIST.as_secs())))?
    }

    /// All objects of a kind as they are now.
    ///
    /// # Errors
    /// Returns a short reason if the API server does not answer in time.
    pub async fn list(&self, gk: GroupKind) -> ListAnswer {
        let Some(resource) = self.resources.get(&gk) else {
            return Err(format!("{gk} is not watched"));
        };
        let lists = self
            .lists
            .lock()
            .await
            .entry(gk.clone())
            .or_default()
            .clone();
        lists.next(self.client.clone(), gk, resource).await.await
    }

    /// Joins the read of this object that is in progress, or starts one.
    async fn join(&self, key: ObjectKey, resource: ApiResource) -> Shared<Read> {
        let mut reads = self.reads.lock().await;
        // A finished read is outdated: a new question needs a new answer.
        reads.retain(|_, read| read.upgrade().is_some_and(|read| read.peek().is_none()));
        if let Some(read) = reads.get(&key).and_then(WeakShared::upgrade) {
            return read;
        }
        let read = get(self.client.clone(), key.clone(), resource, self.budget)
            .boxed()
            .shared();
        if let Some(weak) = read.downgrade() {
            reads.insert(key, weak);
        }
        read
    }
}

impl std::fmt::Debug for Confirm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Confirm").finish_non_exhaustive()
    }
}

async fn get(
    client: kube::Client,
    key: ObjectKey,
    resource: ApiResource,
    budget: Duration,
) -> Answer {
    let api: Api<RawObject> = if key.namespace.is_empty() {
        Api::all_with(client, &resource)
    } else {
        Api::namespaced_with(client, &key.namespace, &resource)
    };
    match timeout(budget, api.get(&key.name)).await {
        Err(_) => Err(format!("timed out after {} ms", budget.as_millis())),
        Ok(Ok(raw)) => match raw.to_object(&key.gk) {
            Ok(object) => Ok(Some(Arc::new(object))),
            // The requesting user may not be allowed to read it, so the error quotes nothing of it.
            Err(why) => Err(why.part().to_owned()),
        },
        Ok(Err(kube::Error::Api(status))) => match status.code {
            404 => Ok(None),
            403 => Err("forbidden".to_owned()),
            code => Err(format!("the API server answered {code}")),
        },
        Ok(Err(error)) => Err(short(&error)),
    }
}

async fn list(client: kube::Client, gk: GroupKind, resource: ApiResource) -> ListAnswer {
    let api: Api<RawObject> = Api::all_with(client, &resource);
    match timeout(LIST, pages(&gk, &api)).await {
        Err(_) => Err(format!("timed out after {} s", LIST.as_secs())),
        Ok(Ok(list)) => Ok(Arc::new(list.objects.into_iter().map(Arc::new).collect())),
        Ok(Err(error)) => Err(error.to_string()),
    }
}
