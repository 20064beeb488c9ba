//! Expensive bodies: some small, some as large as the API server allows.

use std::fmt::Write as _;
use std::rc::Rc;

mod crowds;
mod definitions;
mod disputes;
mod metadata;
mod products;
mod settings;
mod targets;
mod topology;

pub use crowds::{crowds, far};
pub use definitions::definitions;
pub use disputes::disputes;
pub use metadata::metadata;
pub use products::products;
pub use settings::settings;
pub use targets::targets;
pub use topology::topology;

/// The uid of every body.
pub const UID: &str = "u";
const MIB: usize = 1 << 20;
/// The size limit of an object in the API server: 3 MiB.
const LARGEST: usize = 3 * MIB;

/// A state for reviews.
#[derive(Clone, Copy, Debug)]
pub enum State {
    /// A Gateway, a route and a policy.
    Small,
    /// A `GatewayClass` with 100 Gateways and 10,000 routes.
    Wide,
    /// A Gateway with 64 listeners, each with all 1,000 routes.
    Dense,
    /// A thousand policies of each of four kinds on one Gateway.
    Crowded,
    /// A `GatewayClass` with 200 Gateways, each with a policy of two thousand settings.
    Heavy,
    /// A `GatewayClass` with ten Gateways, with few policies of many settings and many policies of few.
    Conflicts,
    /// Sixty-four Gateways with policies that conflict by their fields, and one with deeply nested settings.
    Disputed,
    /// A `GatewayClass` with two thousand routes that set fields themselves.
    Owned,
    /// A thousand routes to Services on all of 64 listeners.
    Backends,
    /// Two thousand policies with label selectors, and three thousand routes.
    Selected,
    /// Ten thousand routes with sixteen hostnames each, on listeners with hostnames.
    Hostnames,
    /// Policies on five thousand sections of one object, and three thousand with custom merge rules.
    Sections,
    /// Ten thousand Services in one Namespace.
    Called,
    /// A `GatewayClass` with a hundred Gateways with six policies each, whose settings are few and long.
    Long,
    /// Five thousand policies on a `GatewayClass`, and one on every second of 10,000 routes.
    Above,
}

/// A body, and the state for which it is most expensive. Bodies are made one at a time, since all of them are a
/// gigabyte.
#[derive(Clone)]
pub struct Hostile {
    pub name: String,
    pub state: State,
    operation: &'static str,
    object: Rc<str>,
    old: Option<Rc<str>>,
    /// The name of the object.
    of: &'static str,
    /// A replacement in the envelope: the text and its replacement.
    replacement: Option<(&'static str, Rc<str>)>,
}

/// A review of an object in the small state.
fn hostile(
    name: &str,
    operation: &'static str,
    object: &Rc<str>,
    old: Option<&Rc<str>>,
) -> Hostile {
    Hostile {
        name: format!("{operation} {name}"),
        state: State::Small,
        operation,
        object: object.clone(),
        old: old.cloned(),
        of: "x",
        replacement: None,
    }
}

/// CREATE, UPDATE and DELETE of an object. The update changes the zeros of a policy, and the allowed routes of a
/// Gateway.
fn changes(name: &str, state: State, object: &str) -> [Hostile; 3] {
    let name_of_object = if name.starts_with("gateway") {
        "edge"
    } else {
        "x"
    };
    let old = object.replacen(":0", ":1", 1).replacen("All", "Same", 1);
    let (object, old) = (object.into(), old.into());
    let some = [
        hostile(name, "CREATE", &object, None),
        hostile(name, "UPDATE", &object, Some(&old)),
        hostile(name, "DELETE", &"null".into(), Some(&object)),
    ];
    some.map(|one| Hostile {
        state,
        of: name_of_object,
        ..one
    })
}

impl Hostile {
    /// The request body.
    pub fn body(&self) -> String {
        let name = self.name.split(' ').nth(1).unwrap_or_default();
        let Kind { group, kind } = Kind::of(name);
        let (operation, of, object) = (self.operation, self.of, &self.object);
        let old = self.old.as_deref().unwrap_or("null");
        let mut body = format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"{UID}","operation":"{operation}","name":"{of}","namespace":"infra","kind":{{"group":"{group}","version":"v1","kind":"{kind}"}},"userInfo":{{"username":"jane"}},"object":{object},"oldObject":{old}}}}}"#
        );
        if let Some((what, by)) = &self.replacement {
            assert!(body.contains(what), "{what}");
            body = body.replacen(what, by, 1);
        }
        assert!(body.len() <= 7 * MIB, "{}: {}", self.name, body.len());
        body
    }
}

/// The kind of the object, by the first word of the body's name.
#[derive(Clone, Copy)]
struct Kind {
    group: &'static str,
    kind: &'static str,
}

impl Kind {
    fn of(name: &str) -> Self {
        let (group, kind) = match name {
            "policy" => ("policies.example.com", "RetryPolicy"),
            "direct" => ("policies.example.com", "TLSPolicy"),
            "several" => ("policies.example.com", "SeveralPolicy"),
            "older" => ("policies.example.com", "OlderPolicy"),
            "plain" => ("policies.example.com", "PlainPolicy"),
            "overlapping" => ("policies.example.com", "OverlapPolicy"),
            "reaching" => ("policies.example.com", "ReachingPolicy"),
            "opaque" => ("policies.example.com", "OpaquePolicy"),
            "mesh" => ("policies.example.com", "MeshPolicy"),
            "disputed" => ("policies.example.com", "DisputedPolicy"),
            "agreeing" => ("policies.example.com", "AgreeingPolicy"),
            "owned" => ("policies.example.com", "OwnedPolicy"),
            "equal" => ("policies.example.com", "EqualPolicy"),
            "gateway" => ("gateway.networking.k8s.io", "Gateway"),
            "set" => ("gateway.networking.k8s.io", "ListenerSet"),
            "route" => ("gateway.networking.k8s.io", "HTTPRoute"),
            "class" => ("gateway.networking.k8s.io", "GatewayClass"),
            "grant" => ("gateway.networking.k8s.io", "ReferenceGrant"),
            "service" => ("", "Service"),
            "namespace" => ("", "Namespace"),
            "definition" => ("apiextensions.k8s.io", "CustomResourceDefinition"),
            other => panic!("no kind {other:?}"),
        };
        Self { group, kind }
    }
}

/// An object with this spec.
fn with(spec: &str) -> String {
    format!(r#"{{"metadata":{{"name":"x","namespace":"infra"}},"spec":{spec}}}"#)
}

/// As many copies as fit into an object, separated by commas; `#` is replaced by a number.
fn many(one: &str) -> String {
    let parts: Vec<&str> = one.split('#').collect();
    let mut text = String::with_capacity(LARGEST);
    let mut i = 0;
    while text.len() + one.len() + 8 < LARGEST {
        text += if i == 0 { "" } else { "," };
        match parts[..] {
            [same] => text += same,
            [before, after] => write!(text, "{before}{i}{after}").unwrap(),
            _ => text += &one.replace('#', &i.to_string()),
        }
        i += 1;
    }
    text
}

const TARGET: &str =
    r#""targetRef":{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"edge"}"#;

/// A policy on the Gateway with additional fields.
fn on_edge(fields: &str) -> String {
    with(&format!("{{{TARGET},{fields}}}"))
}
