//! Reads the CRDs of a cluster once.

use std::sync::Arc;

use kube::api::ListParams;
use kube::{Api, Client};

use crate::engine::model::ids::GroupKind;
use crate::engine::model::object::{Crd, Node};

use super::api_error::ApiError;
use super::kinds::crd_resource;
use super::raw::RawObject;

/// The CRDs that a cluster has.
#[derive(Clone, Debug, Default)]
pub struct Crds {
    /// Usable CRDs, sorted by name.
    pub crds: Vec<Arc<Crd>>,
    /// Names of unusable CRDs, each with the reason.
    pub odd: Vec<(Arc<str>, String)>,
}

/// Lists the CRDs.
///
/// # Errors
/// Fails if the API server does not answer, or refuses.
pub async fn read(client: Client) -> Result<Crds, ApiError> {
    let api: Api<RawObject> = Api::all_with(client, &crd_resource());
    let mut params = ListParams::default();
    let mut found = Crds::default();
    loop {
        let page = api
            .list(&params)
            .await
            .map_err(|e| ApiError::classify(&e))?;
        for raw in &page.items {
            match raw.to_object(&GroupKind::CRD) {
                Ok(object) => {
                    if let Node::Crd(crd) = object.node {
                        found.crds.push(crd);
                    }
                }
                Err(why) => {
                    found.odd.push((raw.header().name.clone(), why.to_string()));
                }
            }
        }
        match page.metadata.continue_ {
            Some(token) if !token.is_empty() => params = params.continue_token(&token),
            _ => return Ok(found),
        }
    }
}
