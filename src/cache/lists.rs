//! Reads a cluster once, with lists instead of watches, for a command that runs once.
//!
//! Discovery comes first. Then everything is requested at the same time: the CRDs, which are large; the kinds that can
//! be read without a CRD; and, once the CRDs are there, the policy kinds that only these reveal.

use std::collections::BTreeSet;
use std::sync::Arc;

use attache_guardrails::guardrail_kind;
use futures::future::{BoxFuture, FutureExt as _, Shared, join_all};
use futures::{StreamExt as _, stream};
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::PostParams;
use kube::{Api, Client};

use crate::engine::kinds::profile::{ProfileRules, is_policy_kind};
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::{
    Crd, Meta, Node, Object, is_gateway_kind, watched_gateway_kinds,
};
use crate::engine::state::snapshot::Snapshot;

use super::api_error::ApiError;
use super::crds::{self, Crds};
use super::kinds::{core_kinds, resource};
use super::raw::RawObject;
use super::served::Served;

mod fetch;
mod list_results;
mod referenced_objects;

use fetch::{Fetch, ListedKind};
pub(super) use fetch::{is_name, pages, text};
use list_results::ListResults;
pub use list_results::{Missing, MissingPart};

/// The part of a cluster that a command needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadScope {
    /// All policies, and everything that they may apply to.
    Everything,
    /// The objects needed to find the policies that apply to these objects.
    Around(Vec<ObjectKey>),
}

/// The result of reading a cluster.
#[derive(Debug, Default)]
pub struct Listed {
    /// The state.
    pub snapshot: Snapshot,
    /// The objects with their specs, sorted by key.
    pub objects: Vec<Object>,
    /// Everything that could not be read, with the reason; sorted.
    pub missing: Vec<Missing>,
}

/// The objects of a state, sorted by key, without CRDs.
pub fn shown(snapshot: &Snapshot) -> Vec<Object> {
    let all = snapshot.all();
    let all = all.filter(|object| !matches!(object.node, Node::Crd(_)));
    let mut objects: Vec<Object> = all.map(|object| Object::clone(object)).collect();
    objects.sort_by(|a, b| a.key.cmp(&b.key));
    objects
}

/// The most single objects that are read at the same time.
const AT_ONCE: usize = 16;

/// The CRDs, available once the request for them is finished.
type Definitions = Shared<BoxFuture<'static, Result<Arc<Crds>, ApiError>>>;

/// Reads a cluster once. It requests the CRDs while discovery is still in progress.
#[derive(Clone)]
pub struct Reader {
    fetch: Fetch,
    served: Arc<Served>,
    definitions: Definitions,
}

// === impl Reader ===

impl Reader {
    /// Starts discovery. A kind that may not be listed in all namespaces is listed in `namespace`.
    ///
    /// # Errors
    /// Fails if the API server does not answer, or does not recognize the user.
    pub async fn open(client: Client, namespace: &str) -> Result<Self, ApiError> {
        let coming = tokio::spawn(crds::read(client.clone())).map(|read| match read {
            Ok(listed_definitions) => listed_definitions.map(Arc::new),
            Err(error) => Err(ApiError::Failed(error.to_string())),
        });
        let definitions = coming.boxed().shared();
        let mut served = Served::own();
        match Served::ask(&client).await {
            Ok(asked) => served.add_missing(asked),
            Err(why @ (ApiError::Away(_) | ApiError::Unknown(_))) => return Err(why),
            Err(why) if why.is_of_impersonation() => return Err(why),
            // A user who may not use discovery may still be allowed to list CRDs.
            Err(_) => {
                if let Ok(definitions_read) = definitions.clone().await {
                    served.add_missing(Served::from_crds(
                        definitions_read.crds.iter().map(AsRef::as_ref),
                    ));
                }
            }
        }
        let namespace = namespace.into();
        Ok(Self {
            fetch: Fetch { client, namespace },
            served: Arc::new(served),
            definitions,
        })
    }

    /// Uses another connection from now on.
    pub fn connect(&mut self, client: Client) {
        self.fetch.client = client;
    }

    /// The kinds that the API server serves, and their names.
    pub fn served(&self) -> &Served {
        &self.served
    }

    /// The CRDs.
    ///
    /// # Errors
    /// Fails if they cannot be listed.
    pub async fn definitions(&self) -> Result<Arc<Crds>, ApiError> {
        self.definitions.clone().await
    }

    /// The `Guardrail` objects; none if the API server does not serve the kind.
    ///
    /// # Errors
    /// Fails if they cannot be listed.
    pub async fn guardrails(&self) -> Result<Vec<RawObject>, ApiError> {
        match self.reach(&guardrail_kind()) {
            Some(kind) => self.fetch.raw(&kind).await,
            None => Ok(Vec::new()),
        }
    }

    /// The user who asks, if the API server names it.
    pub async fn user(&self) -> Option<String> {
        let api: Api<SelfSubjectReview> = Api::all(self.fetch.client.clone());
        let asked = SelfSubjectReview::default();
        let review = api.create(&PostParams::default(), &asked).await.ok()?;
        review.status?.user_info?.username
    }

    /// One object as the API server stores it, as JSON; `None` if it does not exist or its kind is not served.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    pub async fn text(&self, key: &ObjectKey) -> Result<Option<String>, ApiError> {
        match self.reach(&key.gk) {
            Some(kind) => self.fetch.text(&kind, key).await,
            None => Ok(None),
        }
    }

    /// Reads the wanted objects. Those that cannot be read are in `missing`.
    pub async fn read(&self, rules: &Arc<ProfileRules>, read_scope: &ReadScope) -> Listed {
        // A CRD decides which version to list; kinds with a single version need not wait for theirs.
        let (listed, unlisted): (Vec<ListedKind>, Vec<GroupKind>) = self.policies(rules);
        let policies = self.lists(listed);
        let others = async {
            let definitions = self.definitions().await;
            let others = self.others(rules, &unlisted, definitions.as_deref().ok());
            (self.lists(others).await, definitions)
        };
        let targets = self.targets(read_scope);
        let (policies, (others, definitions), targets) = tokio::join!(policies, others, targets);
        let mut results = policies.and(others).and(targets);
        match &definitions {
            Ok(listed_definitions) => {
                for (name, why) in &listed_definitions.odd {
                    let why = ApiError::Failed(why.clone());
                    results.miss(MissingPart::Definition(name.clone()), why);
                }
            }
            Err(why) => results.miss(
                MissingPart::Definitions(self.unexplained(rules)),
                why.clone(),
            ),
        }
        if !self.served.kinds().any(|(gk, _)| is_gateway_kind(gk)) {
            results.miss(MissingPart::GatewayApi, ApiError::NotServed);
        }
        results.listed(rules, definitions.as_deref().ok())
    }

    /// Kinds named like policy kinds for which there is no profile.
    pub fn unexplained(&self, rules: &ProfileRules) -> Vec<GroupKind> {
        let known = |gk: &GroupKind| rules.kinds().any(|kind| kind == gk);
        let kinds = self.served.kinds().map(|(gk, _)| gk);
        let called = kinds.filter(|gk| gk.kind.ends_with("Policy") && gk.group.contains('.'));
        let of_kubernetes = |gk: &GroupKind| gk.group.ends_with(".k8s.io") && !is_gateway_kind(gk);
        called
            .filter(|gk| !known(gk) && !of_kubernetes(gk))
            .cloned()
            .collect()
    }

    /// Splits the served kinds that have a profile into those that can be listed without a CRD and the rest.
    fn policies(&self, rules: &ProfileRules) -> (Vec<ListedKind>, Vec<GroupKind>) {
        let mut listed = Vec::new();
        let mut unlisted = Vec::new();
        for gk in rules.kinds() {
            let Some(kind) = self.served.get(gk) else {
                continue;
            };
            match (kind.versions.as_slice(), self.reach(gk)) {
                ([_], Some(reach)) => listed.push(reach),
                _ => unlisted.push(gk.clone()),
            }
        }
        (listed, unlisted)
    }

    /// The other policy kinds, found by their CRDs.
    fn others(
        &self,
        rules: &ProfileRules,
        unlisted: &[GroupKind],
        definitions: Option<&Crds>,
    ) -> Vec<ListedKind> {
        let Some(known_definitions) = definitions else {
            return unlisted.iter().filter_map(|gk| self.reach(gk)).collect();
        };
        let is_listed = |gk: &GroupKind| {
            !unlisted.contains(gk)
                && rules.kinds().any(|kind| kind == gk)
                && self.served.get(gk).is_some()
        };
        // Discovery lags behind a CRD that was just created.
        let crds = known_definitions.crds.iter().filter(|crd| {
            if is_gateway_kind(&crd.gk) {
                self.served.get(&crd.gk).is_none()
            } else {
                is_policy_kind(rules, crd) && !is_listed(&crd.gk)
            }
        });
        let reach = |crd: &Arc<Crd>| {
            Some(ListedKind {
                gk: crd.gk.clone(),
                resource: resource(crd)?,
                namespaced: crd.namespaced,
            })
        };
        crds.filter_map(reach).collect()
    }

    async fn targets(&self, read_scope: &ReadScope) -> ListResults {
        let keys = match read_scope {
            ReadScope::Around(keys) if referenced_objects::is_little(keys) => {
                let kinds_needed = referenced_objects::needed_whole(keys);
                let all_of_kinds = self.lists(
                    kinds_needed
                        .iter()
                        .filter_map(|gk| self.reach(gk))
                        .collect(),
                );
                let (listed, around) = tokio::join!(all_of_kinds, self.around(keys));
                return listed.and(around);
            }
            ReadScope::Around(keys) => keys.as_slice(),
            ReadScope::Everything => &[],
        };
        let kinds = watched_gateway_kinds().chain(core_kinds().map(|(gk, _)| gk));
        let kinds = kinds.filter_map(|gk| self.reach(&gk)).collect();
        // The objects in question may be of a kind that is not read otherwise.
        let others = keys.iter().filter(|key| !is_gateway_kind(&key.gk));
        let (lists, others) = tokio::join!(self.lists(kinds), self.gets(others));
        lists.and(others)
    }

    /// Reads the objects needed to find the policies that apply to routes.
    async fn around(&self, keys: &[ObjectKey]) -> ListResults {
        let mut results = ListResults::default();
        let mut asked = BTreeSet::new();
        let mut needed: Vec<ObjectKey> = keys
            .iter()
            .flat_map(referenced_objects::needed_for)
            .collect();
        while !needed.is_empty() {
            asked.extend(needed.iter().cloned());
            let related = self.gets(needed.iter()).await;
            let further = related
                .objects()
                .flat_map(referenced_objects::referenced_objects);
            let further: BTreeSet<ObjectKey> = further.collect();
            needed = further
                .into_iter()
                .filter(|key| !asked.contains(key))
                .collect();
            results = results.and(related);
        }
        // If an object does not exist, list its kind, so that an error can suggest another name.
        let absent = keys.iter().filter(|key| results.lacks(key));
        let kinds: BTreeSet<&GroupKind> = absent.map(|key| &key.gk).collect();
        let kinds = kinds.into_iter().filter_map(|gk| self.reach(gk)).collect();
        results.and(self.lists(kinds).await)
    }

    async fn lists(&self, kinds: Vec<ListedKind>) -> ListResults {
        let lists = kinds.into_iter().map(|kind| async move {
            let list = self.fetch.list(&kind).await;
            (kind.gk, list)
        });
        let mut results = ListResults::default();
        for (gk, list) in join_all(lists).await {
            results.list(gk, list);
        }
        results
    }

    async fn gets(&self, keys: impl Iterator<Item = &ObjectKey>) -> ListResults {
        let kinds = keys.filter_map(|key| Some((key, self.reach(&key.gk)?)));
        let gets = kinds.map(|(key, kind)| async move {
            let result = self.fetch.get(&kind, key).await;
            (key.clone(), result)
        });
        let mut results = ListResults::default();
        let mut gets = stream::iter(gets).buffer_unordered(AT_ONCE);
        while let Some((key, result)) = gets.next().await {
            results.object(key, result);
        }
        results
    }

    /// The API resource of a kind, if it is served.
    fn reach(&self, gk: &GroupKind) -> Option<ListedKind> {
        let kind = self.served.get(gk)?;
        Some(ListedKind {
            gk: gk.clone(),
            resource: kind.resource(gk)?,
            namespaced: kind.namespaced,
        })
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

/// A CRD as an object of a snapshot.
fn of_crd(crd: &Arc<Crd>) -> Object {
    let name = format!("{}.{}", crd.plural, crd.gk.group);
    let key = ObjectKey::new(GroupKind::CRD, "", name.as_str());
    Object {
        key,
        meta: Meta::default(),
        node: Node::Crd(Arc::clone(crd)),
        spec: None,
        reported: None,
        unread: None,
    }
}
