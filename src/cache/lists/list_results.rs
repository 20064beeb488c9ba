//! Combines the results of lists and gets, and records what could not be read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::fetch::List;
use super::{Listed, of_crd};
use crate::cache::api_error::ApiError;
use crate::cache::crds::Crds;
use crate::engine::kinds::profile::ProfileRules;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::{From, Node, Object};
use crate::engine::state::snapshot::{Change, Snapshot};

/// Something that is not in the state, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// The missing part of the state.
    pub what: MissingPart,
    /// Why.
    pub why: ApiError,
}

/// A part of the state that may be missing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissingPart {
    /// The CRDs. Policy kinds without a profile are unknown then; these kinds may be some.
    Definitions(Vec<GroupKind>),
    /// A CRD, by its name.
    Definition(Arc<str>),
    /// Gateway API: the API server serves none of its kinds.
    GatewayApi,
    /// The objects of a kind.
    Kind(GroupKind),
    /// The objects of a kind outside this namespace.
    Elsewhere(Arc<str>, GroupKind),
    /// One object.
    Object(ObjectKey),
}

/// The results so far.
#[derive(Debug, Default)]
pub(super) struct ListResults {
    lists: BTreeMap<GroupKind, List>,
    objects: BTreeMap<ObjectKey, Option<Object>>,
    missing: BTreeSet<Missing>,
}

impl ListResults {
    /// Adds the result of a list.
    pub(super) fn list(&mut self, gk: GroupKind, list: Result<List, ApiError>) {
        match list {
            Ok(list) => {
                for (key, why) in &list.odd {
                    self.miss(
                        MissingPart::Object(key.clone()),
                        ApiError::Failed(why.clone()),
                    );
                }
                if let Some((namespace, why)) = &list.only {
                    self.miss(
                        MissingPart::Elsewhere(namespace.clone(), gk.clone()),
                        why.clone(),
                    );
                }
                self.lists.insert(gk, list);
            }
            Err(why) => self.miss(MissingPart::Kind(gk), why),
        }
    }

    /// Adds the result of a get.
    pub(super) fn object(&mut self, key: ObjectKey, result: Result<Option<Object>, ApiError>) {
        match result {
            Ok(object) => {
                self.objects.insert(key, object);
            }
            Err(why) => self.miss(MissingPart::Object(key), why),
        }
    }

    /// The objects that were read with a get.
    pub(super) fn objects(&self) -> impl Iterator<Item = &Object> {
        self.objects.values().flatten()
    }

    /// Whether a get found that an object does not exist.
    pub(super) fn lacks(&self, key: &ObjectKey) -> bool {
        self.objects.get(key).is_some_and(Option::is_none)
    }

    /// Records something that could not be read.
    pub(super) fn miss(&mut self, what: MissingPart, why: ApiError) {
        self.missing.insert(Missing { what, why });
    }

    /// Adds the results of another part.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.lists.extend(other.lists);
        self.objects.extend(other.objects);
        self.missing.extend(other.missing);
        self
    }

    /// Builds the state. CRDs go first, because policies are read according to them.
    pub(super) fn listed(self, rules: &Arc<ProfileRules>, crds: Option<&Crds>) -> Listed {
        let mut snapshot = Snapshot::new(Arc::clone(rules));
        let mut objects: Vec<Object> = Vec::new();
        if let Some(definitions) = crds {
            let crds = definitions
                .crds
                .iter()
                .map(|crd| Arc::new(of_crd(crd)))
                .collect();
            snapshot = snapshot.apply(Change::Listed(GroupKind::CRD, crds));
        }
        for (gk, list) in self.lists {
            objects.extend(list.objects.iter().cloned());
            let listed = list.objects.into_iter().map(Arc::new).collect();
            snapshot = snapshot.apply(match list.only {
                None => Change::Listed(gk, listed),
                Some((namespace, _)) => Change::ListedIn(gk, namespace, listed),
            });
        }
        for (key, result) in self.objects {
            if snapshot.knows(&key.gk) {
                // The list has the object too, as of one point in time.
                continue;
            }
            snapshot = snapshot.apply(match result {
                Some(object) => {
                    objects.push(object.clone());
                    Change::Applied(Arc::new(object))
                }
                None => Change::Deleted(key),
            });
        }
        for missing in &self.missing {
            if let MissingPart::Kind(gk) | MissingPart::Elsewhere(_, gk) = &missing.what {
                snapshot = snapshot.apply(Change::Hidden(gk.clone()));
            } else if let MissingPart::Object(key) = &missing.what {
                snapshot = snapshot.apply(Change::Hidden(key.gk.clone()));
            }
        }
        objects.sort_by(|a, b| a.key.cmp(&b.key));
        objects.dedup_by(|a, b| a.key == b.key);
        let mut missing: Vec<Missing> = self.missing.into_iter().collect();
        if !asks_for_namespaces(&snapshot) {
            missing.retain(|missing| !missing.what.is_of_namespaces());
        }
        Listed {
            snapshot,
            objects,
            missing,
        }
    }
}

/// Whether labels of Namespaces matter: something selects Namespaces by label.
fn asks_for_namespaces(snapshot: &Snapshot) -> bool {
    let selects = |from: &From| matches!(from, From::Selector(_));
    let by_node = |object: &Arc<Object>| match &object.node {
        Node::Gateway {
            listeners, sets, ..
        } => selects(sets) || listeners.iter().any(|l| selects(&l.routes_from)),
        Node::ListenerSet { listeners, .. } => listeners.iter().any(|l| selects(&l.routes_from)),
        _ => false,
    };
    let by_policy = |object: &Arc<Object>| {
        let policy = snapshot.policy(&object.key);
        let namespaces = GroupKind::core("Namespace");
        policy.is_some_and(|policy| {
            let mut targets = policy.targets.iter();
            targets.any(|target| selects(&target.from) || target.gk == namespaces)
        })
    };
    snapshot
        .all()
        .any(|object| by_node(object) || by_policy(object))
}

// === impl MissingPart ===

impl MissingPart {
    fn is_of_namespaces(&self) -> bool {
        match self {
            Self::Kind(gk) => gk.is_core("Namespace"),
            Self::Object(key) => key.gk.is_core("Namespace"),
            _ => false,
        }
    }
}
