//! Whether a user may read a policy: `SubjectAccessReview`, with a short-lived cache of the answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::Api;
use kube::api::PostParams;
use kube::core::ApiResource;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::engine::admission::disclosure::Subject;
use crate::engine::model::ids::ObjectKey;
use crate::metrics::Metrics;

use super::kinds::Resources;
use super::ttl_cache::TtlCache;
use super::watch::unquoted;

/// The time for which a positive answer is cached.
const YES: Duration = Duration::from_mins(1);
/// The time for which a negative answer is cached. It is short so that a newly granted right takes effect soon.
const NO: Duration = Duration::from_secs(10);
/// Access reviews count as working again after this many answers in a row.
const WORKS: u32 = 10;
/// The most answers to cache.
const REMEMBERED: usize = 10_000;

/// Asks the API server whether a user may read an object.
pub struct Access {
    client: kube::Client,
    resources: Arc<Resources>,
    metrics: Arc<Metrics>,
    /// The longest that a review waits for an answer.
    budget: Duration,
    /// The number of further answers that are needed until access reviews count as working again; 0 while they work. This
    /// keeps the log from getting a line for each failure.
    owed: AtomicU32,
    known: Mutex<TtlCache<Question, bool>>,
}

type Question = (Arc<Subject>, ObjectKey);

// === impl Access ===

impl Access {
    /// Creates an empty cache. `budget` is how long a review waits for an answer.
    pub fn new(
        client: kube::Client,
        resources: Arc<Resources>,
        metrics: Arc<Metrics>,
        budget: Duration,
    ) -> Self {
        Self {
            client,
            resources,
            metrics,
            budget,
            owed: AtomicU32::default(),
            known: Mutex::new(TtlCache::new(REMEMBERED)),
        }
    }

    /// Whether the user may `get` the object. An error counts as no and is not cached.
    pub async fn may_get(&self, subject: Arc<Subject>, object: ObjectKey) -> bool {
        let question = (subject, object);
        let known = self.known.lock().await.get(&question);
        if let Some(answer) = known {
            self.count(answer, true);
            return answer;
        }
        let Some(answer) = self.ask(&question).await else {
            self.metrics
                .sar
                .with_label_values(&["failed", "false"])
                .inc();
            return false;
        };
        self.count(answer, false);
        let life = if answer { YES } else { NO };
        self.known.lock().await.put(question, answer, life);
        answer
    }

    async fn ask(&self, (subject, object): &Question) -> Option<bool> {
        let resource = self.resources.get(&object.gk)?;
        let review = review(subject, "get", &resource, [&object.namespace, &object.name]);
        let api: Api<SubjectAccessReview> = Api::all(self.client.clone());
        let (params, asked) = (PostParams::default(), Instant::now());
        let answer = timeout(self.budget, api.create(&params, &review)).await;
        let took = asked.elapsed().as_secs_f64();
        self.metrics.sar_duration.observe(took);
        let allowed = match answer {
            Ok(Ok(review)) => review.status.ok_or_else(|| "no answer in it".to_owned()),
            Ok(Err(error)) => Err(unquoted(&error)),
            Err(_) => Err(format!("no answer within {:?}", self.budget)),
        };
        self.tell(allowed.as_ref().err().map(String::as_str));
        allowed.ok().map(|status| status.allowed)
    }

    /// Logs when access reviews start to fail, and when they work again.
    fn tell(&self, error: Option<&str>) {
        let Some(error) = error else {
            let less = |owed: u32| owed.checked_sub(1);
            if self.owed.fetch_update(Relaxed, Relaxed, less) == Ok(1) {
                tracing::info!("access reviews are answered again");
            }
            return;
        };
        if self.owed.swap(WORKS, Relaxed) == 0 {
            tracing::warn!(error, "access reviews fail; what they are for is not shown");
        } else {
            tracing::debug!(error, "another access review failed");
        }
    }

    fn count(&self, answer: bool, cached: bool) {
        let labels = [
            if answer { "allowed" } else { "denied" },
            if cached { "true" } else { "false" },
        ];
        self.metrics.sar.with_label_values(&labels).inc();
    }
}

/// The question whether a user may do something with a resource: in a namespace, or everywhere if it is empty; with the
/// object of a name, or with all.
pub fn review(
    user: &Subject,
    verb: &str,
    resource: &ApiResource,
    [namespace, name]: [&str; 2],
) -> SubjectAccessReview {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: text(&user.user),
            uid: text(&user.uid),
            groups: Some(user.groups.clone()),
            extra: Some(user.extra.clone()),
            resource_attributes: Some(ResourceAttributes {
                verb: Some(verb.to_owned()),
                group: Some(resource.group.clone()),
                version: Some(resource.version.clone()),
                resource: Some(resource.plural.clone()),
                namespace: text(namespace),
                name: text(name),
                ..ResourceAttributes::default()
            }),
            ..SubjectAccessReviewSpec::default()
        },
        ..SubjectAccessReview::default()
    }
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}
