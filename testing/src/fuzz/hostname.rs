//! Compares the hostname matching of listeners and routes with a second implementation of the Gateway API's rules.

use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::{Node, Object};
use attache::engine::state::snapshot::Snapshot;
use attache::engine::topology::{ListenerHostname, ListenerWithOwner, why_not_attached};
use serde_json::json;
use serde_json::value::to_raw_value;

/// An input is the hostname of a listener, followed by those of a route, one per line.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let (listener, route) = text.split_once('\n').unwrap_or((text, ""));
    let route: Vec<&str> = route.split('\n').take(16).collect();
    let taken = takes(listener, &route);
    // With one hostname each, the relation is symmetric.
    if let ([one], false) = (route.as_slice(), listener.is_empty() || route[0].is_empty()) {
        assert_eq!(taken, takes(one, &[listener]), "{listener:?} {one:?}");
        assert!(takes(one, &[one]), "{one:?} and itself");
    }
    let upper: Vec<String> = route.iter().map(|host| host.to_ascii_uppercase()).collect();
    let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
    assert_eq!(
        taken,
        takes(&listener.to_ascii_lowercase(), &upper),
        "case counts: {text:?}"
    );
    let ours = labels(listener);
    let theirs: Option<Vec<_>> = route.iter().map(|host| labels(host)).collect();
    if let (Some(ours), Some(theirs)) = (ours, theirs) {
        let expected = theirs.iter().any(|theirs| meet(&ours, theirs));
        assert_eq!(taken, expected, "{listener:?} {route:?}");
    }
}

/// Whether a listener accepts a route, by its hostnames.
fn takes(listener: &str, route: &[&str]) -> bool {
    let gateway = object(
        "Gateway",
        &json!({"gatewayClassName": "c", "listeners": [{"name": "l", "port": 80, "protocol": "HTTP", "hostname": listener}]}),
    );
    let route = object(
        "HTTPRoute",
        &json!({"parentRefs": [{"name": "x"}], "hostnames": route}),
    );
    let (Node::Gateway { listeners, .. }, Node::Route { parents, .. }) =
        (&gateway.node, &route.node)
    else {
        panic!("no Gateway, or no route");
    };
    let own = ListenerWithOwner {
        owner: &gateway,
        listener: &listeners[0],
        fault: None,
        hostname: ListenerHostname {
            name: listeners[0].hostname.clone(),
            ..ListenerHostname::default()
        },
    };
    why_not_attached(&Snapshot::default(), &own, &route, &parents[0]).is_none()
}

fn object(kind: &str, spec: &serde_json::Value) -> Object {
    let object = json!({"metadata": {"namespace": "ns", "name": "x"}, "spec": spec});
    Object::from_json(
        &GroupKind::gateway_api(kind),
        &to_raw_value(&object).expect("JSON"),
    )
    .expect("an object")
}

/// A hostname as the CRDs of Gateway API allow it: its labels from right to left, and whether a wildcard precedes them.
fn labels(host: &str) -> Option<(Vec<String>, bool)> {
    let (host_without_wildcard, wild) = match host.strip_prefix("*.") {
        Some(suffix) => (suffix, true),
        None => (host, false),
    };
    let is_label = |label: &str| {
        let ends = label.bytes().next().zip(label.bytes().last());
        let plain = |c: u8| c.is_ascii_alphanumeric() || c == b'-';
        label.bytes().all(plain) && ends.is_some_and(|(a, b)| a != b'-' && b != b'-')
    };
    let labels: Vec<String> = host_without_wildcard
        .split('.')
        .rev()
        .map(str::to_ascii_lowercase)
        .collect();
    labels
        .iter()
        .all(|label| is_label(label))
        .then_some((labels, wild))
}

/// Whether two hostnames match a common host.
fn meet((ours, any): &(Vec<String>, bool), (theirs, all): &(Vec<String>, bool)) -> bool {
    match (any, all) {
        (false, false) => ours == theirs,
        (true, false) => theirs.len() > ours.len() && theirs.starts_with(ours),
        (false, true) => ours.len() > theirs.len() && ours.starts_with(theirs),
        (true, true) => ours.starts_with(theirs) || theirs.starts_with(ours),
    }
}

/// Pairs of hostnames that match and that do not.
pub fn seeds() -> Vec<Vec<u8>> {
    let hosts = [
        "*.example.com",
        "shop.example.com",
        "a.b.example.com",
        "example.com",
        "*.shop.example.com",
        "*",
        "",
        "*.com",
        "xexample.com",
    ];
    let pairs = hosts
        .iter()
        .flat_map(|one| hosts.iter().map(move |other| format!("{one}\n{other}")));
    pairs
        .chain(["*.example.com\nshop.example.org\nshop.example.com".to_owned()])
        .map(String::into_bytes)
        .collect()
}
