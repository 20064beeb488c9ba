//! The backends that get copies of requests.

use super::backends::{State, state};
use super::spec::RuleSpec;
use super::unsupported_filters::UnsupportedFilters;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{BackendRef, Object};
use crate::state::snapshot::Snapshot;

/// A backend that receives copies of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirrored {
    /// The object.
    pub object: ObjectKey,
    /// The port in the reference.
    pub port: Option<u16>,
    /// The share of requests that are copied, in words; `None` for all.
    pub part: Option<String>,
    /// Whether the copies reach it.
    pub state: State,
}

/// The targets of the mirror filters of the rule and of its backends.
pub(super) fn mirrors(
    snapshot: &Snapshot,
    route: &Object,
    rule: &RuleSpec,
    unsupported: UnsupportedFilters<'_>,
    in_mesh: bool,
) -> Vec<Mirrored> {
    let backends = rule.backends.iter();
    let served = backends.filter(|backend| {
        let filters = &backend.filters.types;
        unsupported.of_backend(route, filters).is_none()
    });
    let of_backends = served.flat_map(|backend| &backend.filters.mirrors);
    let all = rule.filters.mirrors.iter().chain(of_backends);
    all.map(|mirror| {
        let to = &mirror.backend_ref;
        let group = to.group.as_deref().unwrap_or_default();
        let gk = GroupKind::new(group, to.kind.as_deref().unwrap_or("Service"));
        let namespace = to.namespace.as_deref().unwrap_or(&route.key.namespace);
        let reference = BackendRef {
            object: ObjectKey::new(gk, namespace, &*to.name),
            port: to.port,
            has_no_share: false,
        };
        Mirrored {
            state: state(snapshot, route, &reference, in_mesh),
            object: reference.object,
            port: to.port,
            part: mirror.part(),
        }
    })
    .collect()
}
