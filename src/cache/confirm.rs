//! Live reads: whether what the cache does not show is absent in truth.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared, WeakShared};
use kube::Api;
use kube::core::ApiResource;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::engine::ids::ObjectKey;
use crate::engine::object::Object;

use super::kinds::Resources;
use super::raw::RawObject;
use super::watch::short;

type Answer = Result<Option<Arc<Object>>, String>;
type Read = BoxFuture<'static, Answer>;

/// Reads single objects, each once however many reviews ask at the same time.
pub struct Confirm {
    client: kube::Client,
    resources: Arc<Resources>,
    /// A review waits for it, and has 10 s in all.
    budget: Duration,
    /// Reads under way. Weak: a read that nobody waits for any more is over.
    reads: Mutex<HashMap<ObjectKey, WeakShared<Read>>>,
}

// === impl Confirm ===

impl Confirm {
    /// The client must not retry (see [`super::tuned`]): the time is gone after one attempt.
    pub fn new(client: kube::Client, resources: Arc<Resources>, budget: Duration) -> Self {
        Self {
            client,
            resources,
            budget,
            reads: Mutex::default(),
        }
    }

    /// The object as it is now; none when there is no such object.
    ///
    /// # Errors
    /// A short reason, when the API server does not say in time.
    pub async fn read(&self, key: ObjectKey) -> Result<Option<Object>, String> {
        if !(is_name(&key.name) && (key.namespace.is_empty() || is_name(&key.namespace))) {
            // No object can have such a name, and it would lead elsewhere in a URL.
            return Ok(None);
        }
        let Some(resource) = self.resources.get(&key.gk) else {
            return Err(format!("{} is not watched", key.gk));
        };
        let answer = self.join(key, resource).await.await;
        Ok(answer?.map(|object| Object::clone(&object)))
    }

    /// The read of this object that is under way, or a new one.
    async fn join(&self, key: ObjectKey, resource: ApiResource) -> Shared<Read> {
        let mut reads = self.reads.lock().await;
        // One that has its answer is history: a new question needs a new answer.
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
            // Who asks may not be allowed to read it.
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

/// Whether an object can have this name, for the kinds that are read here.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= 253
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c))
}
