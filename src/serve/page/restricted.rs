//! A state with only the objects that a reader may list, as if they had listed it themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

use attache_guardrails::guardrail_kind;

use super::rights::{AllowedNamespaces, Rights};
use crate::cache::api_error::ApiError;
use crate::cache::lists::{Listed, Missing, MissingPart, shown};
use crate::engine::admission::disclosure::DisclosureLevels;
use crate::engine::kinds::profile::ProfileRules;
use crate::engine::model::ids::GroupKind;
use crate::engine::model::object::Object;
use crate::engine::state::snapshot::{Change, Snapshot};

/// The most namespaces that a sentence names.
const MAX_NAMED_NAMESPACES: usize = 5;

/// The part of a state that a reader may list. `levels` are what the configuration lets any user learn: policies of a
/// kind whose settings nobody may learn are left out too.
pub(super) fn restricted(
    full: &Snapshot,
    rules: &Arc<ProfileRules>,
    rights: &Rights,
    levels: &DisclosureLevels,
) -> Listed {
    let mut snapshot = Snapshot::new(Arc::clone(rules));
    let mut missing = Vec::new();
    let mut objects: BTreeMap<GroupKind, Vec<Arc<Object>>> = BTreeMap::new();
    for gk in full.known_kinds() {
        let all = full.objects(gk).cloned().collect();
        objects.insert(gk.clone(), all);
    }
    for gk in rights.0.keys() {
        objects.entry(gk.clone()).or_default();
    }
    // CRDs first, because policies are read according to their CRD.
    let crds = objects.remove_entry(&GroupKind::CRD);
    for (gk, all) in crds.into_iter().chain(objects) {
        let place = if levels.restricts(&gk) {
            missing.push(left_out(
                &gk,
                "the configuration of attache lets nobody learn their settings",
            ));
            &AllowedNamespaces::Nowhere
        } else {
            rights.rights_on(&gk)
        };
        // Guardrails are not part of the state.
        let is_known = full.knows(&gk) || gk == guardrail_kind();
        if !is_known && *place != AllowedNamespaces::Nowhere {
            missing.push(left_out(&gk, "attache itself has no complete list of them"));
        }
        match place {
            AllowedNamespaces::Everywhere if gk == guardrail_kind() => continue,
            AllowedNamespaces::Everywhere if is_known => {
                snapshot = snapshot.apply(Change::Listed(gk, all));
                continue;
            }
            AllowedNamespaces::Everywhere => {
                let each = all.into_iter().map(Change::Applied);
                snapshot = each.fold(snapshot, |snapshot, change| snapshot.apply(change));
            }
            AllowedNamespaces::In(namespaces) => {
                for namespace in namespaces {
                    let these = all
                        .iter()
                        .filter(|object| object.key.namespace == *namespace);
                    let these = these.cloned().collect();
                    let change = Change::ListedIn(gk.clone(), Arc::clone(namespace), these);
                    snapshot = snapshot.apply(change);
                }
                let why = format!("you may list them only in {}", names(namespaces));
                missing.push(left_out(&gk, &why));
            }
            AllowedNamespaces::Nowhere if levels.restricts(&gk) => {}
            AllowedNamespaces::Nowhere if gk == GroupKind::CRD => missing.push(Missing {
                what: MissingPart::Definitions(Vec::new()),
                why: ApiError::Forbidden("you may not list them".to_owned()),
            }),
            AllowedNamespaces::Nowhere => missing.push(left_out(&gk, "you may not list them")),
        }
        snapshot = snapshot.apply(Change::Hidden(gk));
    }
    Listed {
        objects: shown(&snapshot),
        snapshot,
        missing,
    }
}

fn left_out(gk: &GroupKind, why: &str) -> Missing {
    Missing {
        what: MissingPart::Kind(gk.clone()),
        why: ApiError::Forbidden(why.to_owned()),
    }
}

fn names(namespaces: &std::collections::BTreeSet<Arc<str>>) -> String {
    let first: Vec<&str> = namespaces
        .iter()
        .take(MAX_NAMED_NAMESPACES)
        .map(AsRef::as_ref)
        .collect();
    let more = namespaces.len().saturating_sub(MAX_NAMED_NAMESPACES);
    let noun = if namespaces.len() == 1 {
        "namespace"
    } else {
        "the namespaces"
    };
    match more {
        0 => format!("{noun} {}", first.join(", ")),
        more => format!("{noun} {} and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::engine::model::ids::ObjectKey;
    use crate::engine::model::object::{Meta, Node};

    fn object(gk: &GroupKind, namespace: &str, name: &str) -> Arc<Object> {
        Arc::new(Object {
            key: ObjectKey::new(gk.clone(), namespace, name),
            meta: Meta::default(),
            node: Node::Other,
            spec: None,
            reported: None,
            unread: None,
        })
    }

    /// Exactly the objects that a reader may list are there, in whatever way kinds and namespaces
    /// are allowed.
    #[test]
    fn only_what_may_be_listed_is_there() {
        let rules = Arc::<ProfileRules>::default();
        let kinds = ["A", "B", "C", "D"].map(|kind| GroupKind::new("example.com", kind));
        let mut full = Snapshot::new(Arc::clone(&rules));
        for gk in &kinds {
            let all = ["x", "y"]
                .iter()
                .flat_map(|namespace| ["one", "two"].map(|name| object(gk, namespace, name)));
            full = full.apply(Change::Listed(gk.clone(), all.collect()));
        }
        let [a, b, c, d] = kinds;
        let rights = Rights(BTreeMap::from([
            (a.clone(), AllowedNamespaces::Everywhere),
            (
                b.clone(),
                AllowedNamespaces::In(BTreeSet::from(["x".into(), "z".into()])),
            ),
            (c.clone(), AllowedNamespaces::Nowhere),
        ]));
        let listed = restricted(&full, &rules, &rights, &DisclosureLevels::default());
        let shown = |gk: &GroupKind| {
            let keys = listed.objects.iter().filter(|object| object.key.gk == *gk);
            keys.map(|object| object.key.path()).collect::<Vec<_>>()
        };
        assert_eq!(shown(&a), ["x/one", "x/two", "y/one", "y/two"]);
        assert_eq!(shown(&b), ["x/one", "x/two"]);
        // Neither forbidden kinds nor kinds about which the API server was not asked.
        assert!(shown(&c).is_empty() && shown(&d).is_empty());
        assert_eq!(listed.snapshot.all().count(), 6);
        for gk in [&b, &c, &d] {
            assert!(!listed.snapshot.knows(gk));
            assert!(
                listed
                    .snapshot
                    .hides(&ObjectKey::new(gk.clone(), "y", "one"))
            );
            assert!(
                listed
                    .missing
                    .iter()
                    .any(|it| it.what == MissingPart::Kind(gk.clone()))
            );
        }
        assert!(listed.snapshot.lacks(&ObjectKey::new(b, "z", "one")));
    }
}
