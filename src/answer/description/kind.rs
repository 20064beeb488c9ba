//! `attache describe` for a policy kind: its facts and its policies.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::KindDescription;
use crate::answer::kinds::kinds;
use crate::answer::policies::{PolicyQuery, Sort, policies};
use crate::engine::kinds::profile::ProfileRules;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::Crd;
use crate::engine::model::selector::Selector;
use crate::engine::state::snapshot::Snapshot;

/// Describes a policy kind. `None` if `gk` is not a policy kind. The creation time of the policies in `undated` is made
/// up and only encodes their order.
pub fn kind(
    snapshot: &Snapshot,
    rules: &ProfileRules,
    gk: &GroupKind,
    undated: &BTreeSet<ObjectKey>,
) -> Option<KindDescription> {
    let definitions = snapshot.definitions().filter(|crd| crd.gk == *gk);
    let crds: Vec<Arc<Crd>> = definitions.cloned().collect();
    let kinds_found = kinds(rules, &crds, std::slice::from_ref(gk), false);
    let policy_kind = kinds_found.kinds.into_iter().next()?;
    let asked = PolicyQuery {
        kind: Some(gk.clone()),
        namespace: None,
        selector: Selector::default(),
        acting_on: None,
        states: BTreeSet::new(),
        sort: Sort::Name,
        undated,
    };
    Some(KindDescription {
        policy_kind,
        policies: policies(snapshot, &asked).policies,
    })
}
