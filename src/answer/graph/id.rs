//! Ids of nodes: stable, readable and unique.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::{GATEWAY_API, GroupKind, Place};
use crate::engine::model::object::is_route;

/// The id of a node; `frontend` marks a Service in its role as a parent of mesh routes.
pub(super) fn node_id(place: &Place, frontend: bool) -> Arc<str> {
    let object = &place.object;
    let mut id = kind(&object.gk);
    if !object.namespace.is_empty() {
        id.push('/');
        plain(&object.namespace, "", &mut id);
    }
    id.push('/');
    plain(&object.name, "", &mut id);
    if frontend {
        id.push_str("@frontend");
    }
    if let Some(section) = &place.section {
        id.push('#');
        plain(section, "", &mut id);
    }
    id.into()
}

/// The kind, followed by its group unless the kind is one of the Gateway API's own or of core. A core kind with the
/// name of a Gateway API kind ends in a dot and the empty group.
fn kind(gk: &GroupKind) -> String {
    let mut text = String::new();
    plain(&gk.kind, ".", &mut text);
    let gateway_api = GroupKind::gateway_api(&gk.kind);
    let is_own = ["GatewayClass", "Gateway", "ListenerSet"].contains(&&*gk.kind);
    let is_own = is_own || is_route(&gateway_api);
    let short_group = match &*gk.group {
        GATEWAY_API => is_own,
        group => group.is_empty() && !is_own,
    };
    if !short_group {
        text.push('.');
        plain(&gk.group, "", &mut text);
    }
    text
}

/// Appends a part of an id. Separators, the characters in `more`, and unprintable characters are percent-encoded.
fn plain(part: &str, more: &str, text: &mut String) {
    for c in part.chars() {
        let mut bytes = [0; 4];
        let own = c.encode_utf8(&mut bytes);
        let has_meaning = matches!(c, '/' | '#' | '@' | '%') || more.contains(c);
        if has_meaning || ((c.is_control() || !c.is_ascii()) && escape(own) != *own) {
            for byte in own.bytes() {
                let _ = write!(text, "%{byte:02X}");
            }
        } else {
            text.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{GroupKind, node_id};
    use crate::engine::model::ids::ObjectKey;

    fn id(group: &str, kind: &str, namespace: &str, name: &str, section: Option<&str>) -> String {
        let object = ObjectKey::new(GroupKind::new(group, kind), namespace, name);
        let place = match section {
            Some(section) => object.section(section),
            None => object.whole(),
        };
        node_id(&place, false).to_string()
    }

    #[test]
    fn ids_read_as_people_write_objects() {
        let gateway_api = "gateway.networking.k8s.io";
        let edge = id(gateway_api, "Gateway", "infra", "edge", Some("http"));
        assert_eq!(edge, "Gateway/infra/edge#http");
        assert_eq!(
            id(gateway_api, "GatewayClass", "", "example", None),
            "GatewayClass/example"
        );
        assert_eq!(id("", "Service", "shop", "cart", None), "Service/shop/cart");
        assert_eq!(
            id("policies.example.com", "RetryPolicy", "a", "b", None),
            "RetryPolicy.policies.example.com/a/b"
        );
    }

    #[test]
    fn no_two_objects_have_one_id() {
        let gateway_api = "gateway.networking.k8s.io";
        let ids = [
            id(gateway_api, "Gateway", "a", "b", None),
            id("", "Gateway", "a", "b", None),
            id("x", "Gateway", "a", "b", None),
            id("", "Service", "a", "b", None),
            id(gateway_api, "Service", "a", "b", None),
            id("", "Service", "", "a/b", None),
            id("", "Service", "a", "b#c", None),
            id("", "Service", "a", "b", Some("c")),
            id("b.c", "A", "a", "b", None),
            id("c", "A.b", "a", "b", None),
            id("", "Service", "a", "b@frontend", None),
            id("", "Service", "a", "b%40frontend", None),
        ];
        let different: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(different.len(), ids.len(), "{ids:#?}");
    }
}
