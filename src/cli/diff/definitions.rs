//! CRDs of kinds that only one of two states of files has.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::cache::manifest::{Manifest, Manifests};
use crate::engine::model::ids::GroupKind;

#[derive(Deserialize)]
struct Named {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

/// Gives each state the CRDs that only the other one has: a directory often has none, and both
/// states of a cluster have the same policy kinds.
pub(super) fn share(a: &mut Manifests, b: &mut Manifests) {
    let (of_a, of_b) = (definitions(a), definitions(b));
    let names = |definitions: &[(String, Manifest)]| {
        let names = definitions.iter().map(|(name, _)| name.clone());
        names.collect::<BTreeSet<_>>()
    };
    let (in_a, in_b) = (names(&of_a), names(&of_b));
    let lacking = |manifests: Vec<(String, Manifest)>, known: &BTreeSet<String>| {
        let lacking = manifests
            .into_iter()
            .filter(|(name, _)| !known.contains(name));
        lacking.map(|(_, manifest)| manifest).collect::<Vec<_>>()
    };
    a.objects.extend(lacking(of_b, &in_a));
    b.objects.extend(lacking(of_a, &in_b));
}

/// The CRDs with their names.
fn definitions(manifests: &Manifests) -> Vec<(String, Manifest)> {
    let crd = GroupKind::CRD;
    let definitions = manifests
        .objects
        .iter()
        .filter(|manifest| manifest.gk == crd);
    let named = definitions.filter_map(|manifest| {
        let named: Named = serde_json::from_str(manifest.json.get()).ok()?;
        Some((named.metadata.name, manifest.clone()))
    });
    named.collect()
}
