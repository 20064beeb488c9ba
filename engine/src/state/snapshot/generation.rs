//! A generation number for everything above the routes. Edits of routes, Services and their policies, which are most
//! edits, do not change it.

use std::sync::atomic::{AtomicU64, Ordering};

/// A topology generation, in which only routes, Services and policies that name nothing above them change. Results
/// about objects above the routes stay valid within one generation. The default generation is never cached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TopologyGeneration(u64);

// === impl TopologyGeneration ===

impl TopologyGeneration {
    /// A generation that is unique in this process.
    pub(super) fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Whether results of this generation may be cached.
    pub(crate) fn is_cacheable(self) -> bool {
        self != Self::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::value::to_raw_value;
    use serde_json::{Value, json};

    use crate::model::ids::GroupKind;
    use crate::model::object::Object;
    use crate::state::snapshot::{Change, Snapshot};

    fn object(gk: &GroupKind, value: &Value) -> Change {
        let object = Object::from_json(gk, &to_raw_value(value).unwrap()).unwrap();
        Change::Applied(Arc::new(object))
    }

    fn definition() -> Change {
        let target = json!({"properties": {"group": {}, "kind": {}, "name": {}}});
        let spec = json!({"properties": {"targetRef": target}});
        object(
            &GroupKind::crd(),
            &json!({
                "metadata": {"name": "retries.x.io"},
                "spec": {"group": "x.io", "scope": "Namespaced",
                    "names": {"kind": "Retry", "plural": "retries"},
                    "versions": [{"name": "v1", "served": true, "storage": true,
                        "schema": {"openAPIV3Schema": {"properties": {"spec": spec}}}}]},
            }),
        )
    }

    fn policy(on: &str) -> Change {
        let target = json!({"group": "gateway.networking.k8s.io", "kind": on, "name": "x"});
        object(
            &GroupKind::new("x.io", "Retry"),
            &json!({"metadata": {"namespace": "a", "name": "p"}, "spec": {"targetRef": target}}),
        )
    }

    #[test]
    fn a_policy_on_a_route_ends_no_era_and_one_above_does() {
        let empty = Snapshot::default().apply(definition());
        let on_route = empty.apply(policy("HTTPRoute"));
        assert_eq!(on_route.generation(), empty.generation());
        let on_gateway = on_route.apply(policy("Gateway"));
        assert_ne!(on_gateway.generation(), on_route.generation());
        // The policy leaves the Gateway.
        assert_ne!(
            on_gateway.apply(policy("HTTPRoute")).generation(),
            on_gateway.generation()
        );
        assert!(
            !empty
                .with_change(policy("Gateway"))
                .generation()
                .is_cacheable()
        );
    }
}
