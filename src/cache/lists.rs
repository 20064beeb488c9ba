//! A cluster read once: lists in place of watches, for a command that answers and ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::join_all;
use kube::api::ListParams;
use kube::core::ApiResource;
use kube::{Api, Client};

use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::object::{Crd, Node, Object};
use crate::engine::profile::{ProfileRules, is_policy_kind};
use crate::engine::snapshot::{Change, Snapshot};

use super::kinds::{core_kinds, is_gateway_kind, resource};
use super::raw::RawObject;
use super::watch::short;

/// Objects per page of a list.
const PAGE: u32 = 500;

/// What of a cluster is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Everything that policies act on, and all policies.
    Everything,
    /// What is needed to tell what acts on these objects.
    Around(Vec<ObjectKey>),
}

/// What was read.
#[derive(Debug, Default)]
pub struct Listed {
    /// The state.
    pub snapshot: Snapshot,
    /// The objects, specs included.
    pub objects: Vec<Object>,
    /// What could not be read: the kind, and why.
    pub missing: Vec<Missing>,
}

/// A kind that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// The kind.
    pub gk: GroupKind,
    /// Why, in the words of the API server.
    pub why: String,
}

/// Lists what is wanted, all kinds at once. A kind that cannot be listed is said in `missing`; the
/// rest is there.
pub async fn read(
    client: &Client,
    rules: &Arc<ProfileRules>,
    crds: &[Arc<Crd>],
    _wants: &Wants,
) -> Listed {
    let lists = wanted(rules, crds).into_iter().map(|(gk, resource)| {
        let client = client.clone();
        async move {
            let found = list(client, &gk, &resource).await;
            (gk, found)
        }
    });
    let mut listed = Listed::default();
    let mut snapshot = Snapshot::new(Arc::clone(rules));
    for crd in crds {
        let object = of_crd(crd);
        snapshot = snapshot.apply(Change::Applied(Box::new(object)));
    }
    for (gk, found) in join_all(lists).await {
        match found {
            Ok(objects) => {
                listed.objects.extend(objects.iter().cloned());
                snapshot = snapshot.apply(Change::Listed(gk, objects));
            }
            Err(why) => listed.missing.push(Missing { gk, why }),
        }
    }
    listed.missing.sort();
    listed.snapshot = snapshot;
    listed
}

fn wanted(rules: &ProfileRules, crds: &[Arc<Crd>]) -> BTreeMap<GroupKind, ApiResource> {
    let mut wanted: BTreeMap<_, _> = core_kinds().into_iter().collect();
    for crd in crds {
        if let (true, Some(resource)) = (
            is_gateway_kind(&crd.gk) || is_policy_kind(rules, crd),
            resource(crd),
        ) {
            wanted.insert(crd.gk.clone(), resource);
        }
    }
    wanted
}

async fn list(
    client: Client,
    gk: &GroupKind,
    resource: &ApiResource,
) -> Result<Vec<Object>, String> {
    let api: Api<RawObject> = Api::all_with(client, resource);
    let mut params = ListParams::default().limit(PAGE);
    let mut found = Vec::new();
    loop {
        let page = api.list(&params).await.map_err(|e| short(&e))?;
        found.extend(page.items.iter().filter_map(|raw| raw.to_object(gk).ok()));
        match page.metadata.continue_ {
            Some(token) if !token.is_empty() => params = params.continue_token(&token),
            _ => return Ok(found),
        }
    }
}

/// A definition as an object of a snapshot.
fn of_crd(crd: &Arc<Crd>) -> Object {
    let name = format!("{}.{}", crd.plural, crd.gk.group);
    let key = ObjectKey::new(GroupKind::crd(), "", name.as_str());
    let meta = crate::engine::object::Meta {
        name: name.into(),
        ..crate::engine::object::Meta::default()
    };
    Object {
        key,
        meta,
        node: Node::Crd(Arc::clone(crd)),
        spec: None,
    }
}
