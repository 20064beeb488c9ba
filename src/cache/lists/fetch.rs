//! Reads one kind or one object once.

use std::sync::Arc;

use kube::api::{GetParams, ListParams, Request};
use kube::core::ApiResource;
use kube::{Api, Client, Resource as _};

use crate::cache::api_error::ApiError;
use crate::cache::raw::RawObject;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::intern::Interner;
use crate::engine::model::object::Object;

/// Objects per page of a list.
const PAGE: u32 = 500;
/// Status code: the continue token of a list has expired.
const EXPIRED: u16 = 410;

/// A kind and its API resource.
#[derive(Clone, Debug)]
pub(super) struct ListedKind {
    pub(super) gk: GroupKind,
    pub(super) resource: ApiResource,
    pub(super) namespaced: bool,
}

/// The result of a list.
#[derive(Debug)]
pub(in crate::cache) struct List {
    /// The objects that can be used.
    pub(in crate::cache) objects: Vec<Object>,
    /// The objects that cannot, and why.
    pub(super) odd: Vec<(ObjectKey, String)>,
    /// The only namespace that could be listed, and why not all of them.
    pub(super) only: Option<(Arc<str>, ApiError)>,
}

/// Lists and gets objects. If the user may not list all namespaces, it lists one.
#[derive(Clone)]
pub(super) struct Fetch {
    pub(super) client: Client,
    pub(super) namespace: Arc<str>,
}

impl Fetch {
    /// Lists all objects of a kind, or those of one namespace if the user may not see more.
    pub(super) async fn list(&self, kind: &ListedKind) -> Result<List, ApiError> {
        let client = self.client.clone();
        let all = Api::all_with(client, &kind.resource);
        match pages(&kind.gk, &all).await {
            Err(why @ ApiError::Forbidden(_)) if kind.namespaced => {
                let in_namespace = self.list_in(kind, &self.namespace).await;
                let mut list = in_namespace.map_err(|_| why.clone())?;
                list.only = Some((Arc::clone(&self.namespace), why));
                Ok(list)
            }
            found => found,
        }
    }

    /// The objects of a kind in one namespace.
    pub(super) async fn list_in(
        &self,
        kind: &ListedKind,
        namespace: &str,
    ) -> Result<List, ApiError> {
        let client = self.client.clone();
        let api = Api::namespaced_with(client, namespace, &kind.resource);
        pages(&kind.gk, &api).await
    }

    /// All objects of a cluster-scoped kind of which there are few, as they are.
    pub(super) async fn raw(&self, kind: &ListedKind) -> Result<Vec<RawObject>, ApiError> {
        let api: Api<RawObject> = Api::all_with(self.client.clone(), &kind.resource);
        let list = api.list(&ListParams::default()).await;
        list.map(|list| list.items)
            .map_err(|error| ApiError::classify(&error))
    }

    /// The JSON of one object; `None` if it does not exist.
    pub(super) async fn text(
        &self,
        kind: &ListedKind,
        key: &ObjectKey,
    ) -> Result<Option<String>, ApiError> {
        let namespace = if kind.namespaced { &*key.namespace } else { "" };
        text(&self.client, &kind.resource, namespace, &key.name).await
    }

    /// Gets one object; `None` if it does not exist.
    pub(super) async fn get(
        &self,
        kind: &ListedKind,
        key: &ObjectKey,
    ) -> Result<Option<Object>, ApiError> {
        if !is_name(&key.name) || (kind.namespaced && !is_name(&key.namespace)) {
            // No object can have such a name, and in a URL it would address something else.
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
                    .map_err(|why| ApiError::Failed(why.to_string()))
            }
            Err(error) => match ApiError::classify(&error) {
                // Discovery says that the kind is served, so 404 means that the object does not exist.
                ApiError::NotServed => Ok(None),
                trouble => Err(trouble),
            },
        }
    }
}

/// The JSON of one object; `None` if it does not exist. A cluster-scoped one has no namespace.
pub(in crate::cache) async fn text(
    client: &Client,
    resource: &ApiResource,
    namespace: &str,
    name: &str,
) -> Result<Option<String>, ApiError> {
    let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
    if !is_name(name) || !namespace.is_none_or(is_name) {
        // No object can have such a name, and in a URL it would address something else.
        return Ok(None);
    }
    let request = Request::new(RawObject::url_path(resource, namespace));
    let request = request.get(name, &GetParams::default());
    let request = request.map_err(|error| ApiError::Failed(error.to_string()))?;
    match client.request_text(request).await {
        Ok(text) => Ok(Some(text)),
        Err(error) => match ApiError::classify(&error) {
            ApiError::NotServed => Ok(None),
            trouble => Err(trouble),
        },
    }
}

/// All objects of a kind, page by page.
pub(in crate::cache) async fn pages(
    gk: &GroupKind,
    api: &Api<RawObject>,
) -> Result<List, ApiError> {
    let mut params = ListParams::default().limit(PAGE);
    let mut list = List {
        objects: Vec::new(),
        odd: Vec::new(),
        only: None,
    };
    let mut interner = Interner::default();
    loop {
        let page = match api.list(&params).await {
            Ok(page) => page,
            Err(kube::Error::Api(status)) if status.code == EXPIRED && params.limit.is_some() => {
                // Paging took longer than the API server keeps its history, so list everything in one request.
                params = ListParams::default();
                (list.objects, list.odd) = (Vec::new(), Vec::new());
                continue;
            }
            Err(error) => return Err(ApiError::classify(&error)),
        };
        for mut raw in page.items {
            match raw.to_interned(gk, &mut interner) {
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

/// Whether an object can have this name, for the kinds that are read here.
pub(in crate::cache) fn is_name(name: &str) -> bool {
    name.len() <= 253
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c))
}
