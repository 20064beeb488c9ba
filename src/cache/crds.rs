//! The custom resource definitions of a cluster, once.

use std::sync::Arc;

use kube::api::ListParams;
use kube::{Api, Client};

use crate::engine::ids::GroupKind;
use crate::engine::object::{Crd, Node};

use super::kinds::crd_resource;
use super::raw::RawObject;
use super::watch::short;

/// CRDs are large: few at a time.
const PAGE: u32 = 50;

/// Lists the definitions, in the order of their names. Those that cannot be read are said and left
/// out.
///
/// # Errors
/// When the API server does not answer, or refuses; in its own words.
pub async fn list(client: Client) -> Result<Vec<Arc<Crd>>, String> {
    let api: Api<RawObject> = Api::all_with(client, &crd_resource());
    let mut params = ListParams::default().limit(PAGE);
    let mut found = Vec::new();
    loop {
        let page = api.list(&params).await.map_err(|e| short(&e))?;
        for raw in &page.items {
            match raw.to_object(&GroupKind::crd()) {
                Ok(object) => {
                    if let Node::Crd(crd) = object.node {
                        found.push(crd);
                    }
                }
                Err(why) => {
                    let name = raw.metadata.name.as_deref().unwrap_or_default();
                    let why = why.part();
                    tracing::warn!(crd = name, why, "definition left out");
                }
            }
        }
        match page.metadata.continue_ {
            Some(token) if !token.is_empty() => params = params.continue_token(&token),
            _ => return Ok(found),
        }
    }
}
