//! One kind or one object, read once.

use std::sync::Arc;

use kube::api::ListParams;
use kube::core::ApiResource;
use kube::{Api, Client};

use crate::cache::confirm::is_name;
use crate::cache::raw::RawObject;
use crate::cache::trouble::Trouble;
use crate::engine::ids::{GroupKind, ObjectKey};
use crate::engine::object::Object;

/// Objects per page of a list.
const PAGE: u32 = 500;
/// What was read is too old for the rest of it to be read.
const EXPIRED: u16 = 410;

/// A kind, and how to reach it.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    pub(super) gk: GroupKind,
    pub(super) resource: ApiResource,
    pub(super) namespaced: bool,
}

/// What a list came to.
#[derive(Debug)]
pub(super) struct List {
    /// What was read.
    pub(super) objects: Vec<Object>,
    /// What of it cannot be used, and why.
    pub(super) odd: Vec<(ObjectKey, String)>,
    /// The namespace that was listed in the place of all, and why not all.
    pub(super) only: Option<(Arc<str>, Trouble)>,
}

/// Reads; where all namespaces may not be listed, one.
#[derive(Clone)]
pub(super) struct Fetch {
    pub(super) client: Client,
    pub(super) namespace: Arc<str>,
}

impl Fetch {
    /// All objects of a kind, or those of the own namespace where no more may be seen.
    pub(super) async fn list(&self, kind: &Reach) -> Result<List, Trouble> {
        let client = self.client.clone();
        let all = Api::all_with(client, &kind.resource);
        match pages(&kind.gk, &all).await {
            Err(why @ Trouble::Forbidden(_)) if kind.namespaced => {
                let found = self.list_in(kind, &self.namespace).await;
                let mut list = found.map_err(|_| why.clone())?;
                list.only = Some((Arc::clone(&self.namespace), why));
                Ok(list)
            }
            found => found,
        }
    }

    /// The objects of a kind in one namespace.
    pub(super) async fn list_in(&self, kind: &Reach, namespace: &str) -> Result<List, Trouble> {
        let client = self.client.clone();
        let api = Api::namespaced_with(client, namespace, &kind.resource);
        pages(&kind.gk, &api).await
    }

    /// One object; none where it is not there.
    pub(super) async fn get(
        &self,
        kind: &Reach,
        key: &ObjectKey,
    ) -> Result<Option<Object>, Trouble> {
        if !is_name(&key.name) || (kind.namespaced && !is_name(&key.namespace)) {
            // No object can have such a name, and it would lead elsewhere in a URL.
            return Ok(None);
        }
        let client = self.client.clone();
        let api: Api<RawObject> = if kind.namespaced {
            Api::namespaced_with(client, &key.namespace, &kind.resource)
        } else {
            Api::all_with(client, &kind.resource)
        };
        match api.get(&key.name).await {
            Ok(raw) => {
                let object = raw.to_object(&key.gk);
                object
                    .map(Some)
                    .map_err(|why| Trouble::Failed(why.to_string()))
            }
            Err(error) => match Trouble::of(&error) {
                // The kind is served: it was asked for by what the API server says of itself.
                Trouble::NotServed => Ok(None),
                trouble => Err(trouble),
            },
        }
    }
}

async fn pages(gk: &GroupKind, api: &Api<RawObject>) -> Result<List, Trouble> {
    let mut params = ListParams::default().limit(PAGE);
    let mut list = List {
        objects: Vec::new(),
        odd: Vec::new(),
        only: None,
    };
    loop {
        let page = match api.list(&params).await {
            Ok(page) => page,
            Err(kube::Error::Api(status)) if status.code == EXPIRED && params.limit.is_some() => {
                // Reading took longer than the API server remembers: all at once, then.
                params = ListParams::default();
                (list.objects, list.odd) = (Vec::new(), Vec::new());
                continue;
            }
            Err(error) => return Err(Trouble::of(&error)),
        };
        for raw in &page.items {
            match raw.to_object(gk) {
                Ok(object) => list.objects.push(object),
                Err(why) => {
                    list.objects.extend(raw.outline(gk, raw.header(), &why));
                    list.odd.push((raw.key(gk), why.to_string()));
                }
            }
        }
        match page.metadata.continue_ {
            Some(token) if !token.is_empty() => params = params.continue_token(&token),
            _ => return Ok(list),
        }
    }
}
