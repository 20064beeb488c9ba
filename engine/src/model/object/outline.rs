//! Reads as much as possible of an object that cannot be read as a whole: each part separately, without the parts
//! that are malformed.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::bounded_vec::{MAX_ITEMS, MOST_HOSTNAMES};
use super::frontend_tls::GatewayTlsJson;
use super::json::{self, ListenerJson, ParentJson, RuleJson, grant_from, grant_to};
use super::service::{MOST_PORTS, service, service_port};
use super::{
    From, Header, Listener, Matches, Node, Object, ParentRef, Paths, ROUTES, Rule, RuleMatches,
    Unreadable,
};
use crate::model::ids::{GATEWAY_API, GATEWAY_API_X, GroupKind, MULTICLUSTER};
use crate::model::label_map::LabelMap;

impl Object {
    /// The known parts of an object that cannot be read as a whole: its existence, the names of its sections, its
    /// references. `None` for a CRD.
    pub fn outline(
        gk: &GroupKind,
        header: &Header,
        spec: Option<&RawValue>,
        why: &Unreadable,
    ) -> Option<Self> {
        if header.name.is_empty() || *gk == GroupKind::CRD {
            return None;
        }
        Some(Self {
            key: header.key(gk),
            node: node(gk, header, spec.map_or("{}", RawValue::get)),
            meta: header.meta.clone(),
            spec: None,
            reported: None,
            unread: Some(Arc::new(why.clone())),
        })
    }
}

/// The kind-specific part of an object.
fn node(gk: &GroupKind, header: &Header, spec: &str) -> Node {
    match (&*gk.group, &*gk.kind) {
        (GATEWAY_API, "GatewayClass") => {
            let [controller] = fields(spec, ["controllerName"]);
            Node::GatewayClass {
                controller: text(controller).unwrap_or_default(),
            }
        }
        (GATEWAY_API, "Gateway") => {
            let [class, listeners, sets, stated, addresses, tls] = fields(
                spec,
                [
                    "gatewayClassName",
                    "listeners",
                    "allowedListeners",
                    "infrastructure",
                    "addresses",
                    "tls",
                ],
            );
            let addresses: Box<[json::AddressJson]> =
                items(addresses, MAX_ITEMS, |address| read(address));
            Node::Gateway {
                class: text(class).unwrap_or_default(),
                listeners: items(listeners, MAX_ITEMS, listener),
                sets: sets.map_or(From::None, |sets| {
                    read(sets).map_or(From::Unknown, json::sets)
                }),
                infrastructure: json::infrastructure(stated.and_then(read), addresses.iter()),
                frontend_tls: tls
                    .and_then(read)
                    .and_then(GatewayTlsJson::client_certificates),
            }
        }
        (GATEWAY_API, "ListenerSet") | (GATEWAY_API_X, "XListenerSet") => {
            let [parent, listeners] = fields(spec, ["parentRef", "listeners"]);
            let parent: ParentJson = parent.and_then(read).unwrap_or_default();
            Node::ListenerSet {
                parent: json::parent(parent, header),
                listeners: items(listeners, MAX_ITEMS, listener),
            }
        }
        (GATEWAY_API, kind) if ROUTES.contains(&kind) => route(header, spec),
        ("", "Service") | (MULTICLUSTER, "ServiceImport") => {
            let [ports, kind, ip] = fields(spec, ["ports", "type", "clusterIP"]);
            let ports = items(ports, MOST_PORTS, |port| read(port).map(service_port));
            service(gk, ports, [text(kind), text(ip)])
        }
        (GATEWAY_API, "ReferenceGrant") => {
            let [from, to] = fields(spec, ["from", "to"]);
            Node::ReferenceGrant {
                from: items(from, MAX_ITEMS, |from| read(from).map(grant_from)),
                to: items(to, MAX_ITEMS, |to| read(to).map(grant_to)),
            }
        }
        _ => Node::Other,
    }
}

fn route(header: &Header, spec: &str) -> Node {
    let [parents, hostnames, rules] = fields(spec, ["parentRefs", "hostnames", "rules"]);
    let parent = |parent: &RawValue| -> Option<ParentRef> {
        read(parent).map(|parent: ParentJson| json::parent(parent, header))
    };
    let rule = |rule: &RawValue| -> Option<Rule> {
        let readable = read(rule).map(|rule: RuleJson<'_>| json::rule(rule, header));
        let named = || {
            let [name] = fields(rule.get(), ["name"]);
            Some(Rule {
                name: text(name).filter(|name| !name.is_empty()),
                backends: Box::default(),
                filters: None,
            })
        };
        readable.or_else(named)
    };
    let unreadable: Option<&RawValue> = serde_json::from_str("7").ok();
    Node::Route {
        parents: items(parents, MAX_ITEMS, parent),
        hostnames: items(hostnames, MOST_HOSTNAMES, |host| text(Some(host))),
        rules: items(rules, MAX_ITEMS, rule),
        // Its rules may match anything.
        matches: Matches::from_rules(std::iter::once(unreadable)),
        paths: Paths::from_rules(std::iter::empty()),
        rule_matches: RuleMatches::default(),
    }
}

/// A listener. If it cannot be read, its name, port, protocol and hostname as far as they can.
fn listener(json: &RawValue) -> Option<Listener> {
    if let Some(readable) = read::<ListenerJson<'_>>(json) {
        return Some(json::listener(readable));
    }
    let [name, port, protocol, hostname] =
        fields(json.get(), ["name", "port", "protocol", "hostname"]);
    Some(Listener {
        name: text(name)?,
        port: port.and_then(read).unwrap_or_default(),
        protocol: text(protocol).unwrap_or_default(),
        passes_tls_through: false,
        is_without_tls: false,
        lacks_certificates: false,
        lacks_selector: false,
        foreign_certificates: Box::default(),
        tls_options: LabelMap::default(),
        hostname: text(hostname).filter(|hostname| !hostname.is_empty()),
        routes_from: From::Unknown,
        routes_of: Box::default(),
    })
}

fn read<'a, T: Deserialize<'a>>(json: &'a RawValue) -> Option<T> {
    serde_json::from_str(json.get()).ok()
}

fn text(json: Option<&RawValue>) -> Option<Arc<str>> {
    let text = read(json?)?;
    Some(text)
}

/// The values of these fields of an object; `None` for each if the text is not an object.
fn fields<'a, const N: usize>(text: &'a str, names: [&str; N]) -> [Option<&'a RawValue>; N] {
    struct Wanted<'n, const N: usize>([&'n str; N]);
    impl<'de, const N: usize> Visitor<'de> for Wanted<'_, N> {
        type Value = [Option<&'de RawValue>; N];
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut values = [None; N];
            while let Some(key) = map.next_key::<Arc<str>>()? {
                let place = self.0.iter().position(|name| *name == &*key);
                match place.and_then(|place| values.get_mut(place)) {
                    Some(place) => *place = Some(map.next_value()?),
                    None => drop(map.next_value::<IgnoredAny>()?),
                }
            }
            Ok(values)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.deserialize_map(Wanted(names)).unwrap_or([None; N])
}

/// The readable items among the first `limit` of a list.
fn items<T>(
    list: Option<&RawValue>,
    limit: usize,
    item: impl Fn(&RawValue) -> Option<T>,
) -> Box<[T]> {
    struct Items<T, F> {
        limit: usize,
        item: F,
        read: Vec<T>,
    }
    impl<'de, T, F: Fn(&RawValue) -> Option<T>> Visitor<'de> for &mut Items<T, F> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
            while self.read.len() < self.limit
                && let Some(item) = items.next_element::<&RawValue>()?
            {
                self.read.extend((self.item)(item));
            }
            Ok(())
        }
    }
    let mut all = Items {
        limit,
        item,
        read: Vec::new(),
    };
    if let Some(list) = list {
        // Items before a malformed one count.
        let _ = serde_json::Deserializer::from_str(list.get()).deserialize_seq(&mut all);
    }
    all.read.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::super::{Node, Object, Unreadable};
    use crate::model::ids::GroupKind;
    use crate::model::object::Incoming;

    fn outline(gk: &GroupKind, spec: &serde_json::Value) -> Object {
        let object =
            to_raw_value(&json!({"metadata": {"name": "a", "namespace": "n"}, "spec": spec}));
        let object = object.unwrap();
        let parts = Incoming::parse(&object).unwrap();
        let why = Unreadable::new("odd");
        Object::outline(gk, &parts.header, parts.spec, &why).unwrap()
    }

    #[test]
    fn sections_of_what_is_odd_are_known() {
        let gateway = GroupKind::gateway_api("Gateway");
        let spec = json!({"gatewayClassName": "c", "listeners": [
            {"name": "http", "port": 80, "protocol": "HTTP"}, 7, {"port": 1},
            {"name": "odd", "port": "x", "allowedRoutes": {"kinds": 7}},
        ]});
        let object = outline(&gateway, &spec);
        let names: Vec<String> = object
            .sections()
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(names, ["http", "odd"]);
        assert!(object.unread.is_some());

        let route = GroupKind::gateway_api("HTTPRoute");
        let spec = json!({
            "parentRefs": [{"name": "g"}, 7], "hostnames": ["a.example", 7],
            "rules": [{"name": "one", "backendRefs": 7}, 7],
        });
        let Node::Route {
            parents,
            hostnames,
            rules,
            ..
        } = outline(&route, &spec).node
        else {
            panic!("no route");
        };
        assert_eq!((parents.len(), hostnames.len()), (1, 1));
        assert_eq!(rules[0].name.as_deref(), Some("one"));
    }

    #[test]
    fn what_is_no_object_has_no_parts() {
        for spec in [json!(7), json!([]), json!("x")] {
            let object = outline(&GroupKind::core("Service"), &spec);
            assert_eq!(object.sections().map(|names| names.len()), Some(0));
        }
    }
}
