//! Matches requests against routes: those in the tests of `attache explain`, and one with generated matches, compared
//! with a second implementation of the Gateway API's rules.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use attache::answer::explanation::{at_gateways, at_service};
use attache::answer::json;
use attache::cache::directory::{Links, Loaded};
use attache::cache::manifest::Manifests;
use attache::cache::repository::unbuilt;
use attache::engine::kinds::profile::ProfileRules;
use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::engine::routing::{Matching, Request, Scheme, Url};
use serde_json::{Value, json};

use super::budget;

static RULES: LazyLock<Arc<ProfileRules>> = LazyLock::new(Arc::default);

/// The state of each test of `attache explain`.
static PAGES: LazyLock<Vec<Loaded>> = LazyLock::new(|| {
    let folders = crate::root().join("tests/commands/explain");
    let entries = std::fs::read_dir(folders).expect("the pages");
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    assert!(folders.len() > 5, "{folders:?}");
    let load = |folder| Loaded::new(unbuilt(&[folder], Links::Within), &RULES, "default");
    folders.into_iter().map(load).collect()
});

/// An input is `{"url": …, "host": …, "method": …, "path": …, "query": …, "headers": …, "from": …, "matches": …}`: a
/// request and the matches of a rule.
pub fn run(input: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(input) else {
        return;
    };
    if let Some(text) = value["url"].as_str() {
        let _ = Url::read(text);
    }
    let request = request(&value);
    let from = value["from"].as_str();
    for page in PAGES.iter() {
        budget::within(input.len(), "an explanation", || {
            asked(page, &request, from)
        });
    }
    let matches = &value["matches"];
    let route = one_route(matches);
    let served = asked(&route, &request, from);
    if let Some(expected) = expected(matches, &request) {
        assert_eq!(served, expected, "{matches} of {request:?}");
    }
}

/// Matches a request at the Gateways and at a Service. Returns whether the Gateways serve it.
fn asked(state: &Loaded, request: &Request, from: Option<&str>) -> bool {
    let matching = Matching::new(&state.snapshot, &state.objects);
    let explanation = at_gateways(&matching, request, |_| true);
    assert_eq!(explanation.served, !explanation.steps.is_empty());
    assert!(explanation.served || !explanation.unserved.is_empty());
    let again = at_gateways(&matching, request, |_| true);
    let document = |explanation| json(explanation).expect("an answer");
    assert_eq!(document(&explanation), document(&again), "the same again");
    let service = ObjectKey::new(GroupKind::core("Service"), "shop", "cart");
    let called = at_service(&matching, request, &service, from);
    assert!(called.served || !called.unserved.is_empty());
    explanation.served
}

fn request(value: &Value) -> Request {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let pairs = |name: &str| {
        let pairs = value[name].as_object().into_iter().flatten();
        let pairs =
            pairs.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        pairs.collect()
    };
    Request {
        scheme: value["scheme"].as_str().and_then(Scheme::named),
        host: text("host"),
        sni: text("sni"),
        port: value["port"].as_u64().and_then(|port| port.try_into().ok()),
        method: text("method"),
        path: text("path").unwrap_or_default(),
        query: pairs("query"),
        headers: pairs("headers"),
    }
}

/// A state with a Gateway that accepts everything, and one route with one rule.
fn one_route(matches: &Value) -> Loaded {
    let api = "gateway.networking.k8s.io/v1";
    let gateway = json!({"apiVersion": api, "kind": "Gateway", "metadata": {"namespace": "shop", "name": "edge"},
        "spec": {"gatewayClassName": "c", "listeners": [{"name": "l", "port": 80, "protocol": "HTTP"}]}});
    let route = json!({"apiVersion": api, "kind": "HTTPRoute", "metadata": {"namespace": "shop", "name": "r"},
        "spec": {"parentRefs": [{"name": "edge"}], "rules": [{"matches": matches}]}});
    let mut manifests = Manifests::default();
    manifests.add("gateway.json", &gateway.to_string());
    manifests.add("route.json", &route.to_string());
    Loaded::new(manifests, &RULES, "default")
}

/// Whether a rule with these matches should serve the request; `None` if this implementation does not cover them.
fn expected(matches: &Value, request: &Request) -> Option<bool> {
    let is_plain_host =
        |host: &str| !host.is_empty() && host.bytes().all(|c| c.is_ascii_lowercase());
    let http = matches!(request.scheme, None | Some(Scheme::Http))
        && matches!(request.port, None | Some(80));
    if !http || !is_plain_host(request.host.as_deref()?) || !is_plain_path(&request.path) {
        return None;
    }
    let matches = match matches {
        Value::Null => &Vec::new(),
        matches => matches.as_array()?,
    };
    let holding: Option<Vec<bool>> = matches.iter().map(|each| holds(each, request)).collect();
    let holding = holding?;
    Some(holding.is_empty() || holding.contains(&true))
}

fn is_plain_path(path: &str) -> bool {
    let is_plain = |c: u8| c.is_ascii_lowercase() || c == b'/';
    path.starts_with('/') && !path.contains("//") && path.bytes().all(is_plain)
}

/// Whether one match should hold; `None` if this implementation does not cover it.
fn holds(each: &Value, request: &Request) -> Option<bool> {
    let each = each.as_object()?;
    let known = ["path", "method", "headers", "queryParams"];
    if each.keys().any(|key| !known.contains(&key.as_str())) {
        return None;
    }
    let path = match each.get("path") {
        None => true,
        Some(path) => {
            let path = path.as_object()?;
            let value = path
                .get("value")?
                .as_str()
                .filter(|value| is_plain_path(value))?;
            match path.get("type")?.as_str()? {
                "Exact" => request.path == value,
                "PathPrefix" => {
                    let suffix = request.path.strip_prefix(value.trim_end_matches('/'));
                    suffix.is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('/'))
                }
                _ => return None,
            }
        }
    };
    let method = match each.get("method") {
        None => true,
        Some(method) => {
            let method = method
                .as_str()
                .filter(|method| ["GET", "POST"].contains(method))?;
            request.method.as_deref().unwrap_or("GET") == method
        }
    };
    let headers = pairs_hold(each.get("headers"), &request.headers)?;
    let query = pairs_hold(each.get("queryParams"), &request.query)?;
    Some(path && method && headers && query)
}

/// Whether a request has all these names with exactly these values.
fn pairs_hold(wanted: Option<&Value>, has: &[(String, String)]) -> Option<bool> {
    let Some(wanted) = wanted else {
        return Some(true);
    };
    let is_plain = |name: &str| {
        !name.is_empty() && name.len() < 10 && name.bytes().all(|c| c.is_ascii_lowercase())
    };
    let mut names = Vec::new();
    let mut hold = true;
    for pair in wanted.as_array()? {
        let pair = pair.as_object().filter(|pair| pair.len() == 2)?;
        let name = pair
            .get("name")?
            .as_str()
            .filter(|name| is_plain(name) && *name != "host")?;
        let value = pair
            .get("value")?
            .as_str()
            .filter(|value| is_plain(value))?;
        if names.contains(&name) || !has.iter().all(|(name, _)| is_plain(name)) {
            return None;
        }
        names.push(name);
        hold &= has.iter().any(|(n, v)| n == name && v == value);
    }
    Some(hold)
}

/// Requests that are served, that are not, and malformed ones.
pub fn seeds() -> Vec<Vec<u8>> {
    let matches = [
        json!(null),
        json!([]),
        json!([{"path": {"type": "Exact", "value": "/cart"}}]),
        json!([{"path": {"type": "PathPrefix", "value": "/cart/"}}, {"method": "POST"}]),
        json!([{"path": {"type": "RegularExpression", "value": "/c.*t"}, "method": "GET"}]),
        json!([{"headers": [{"name": "x", "value": "one"}], "queryParams": [{"name": "q", "value": "two"}]}]),
        json!([{"headers": [{"type": "RegularExpression", "name": "x", "value": "(a+)+b"}]}]),
    ];
    let requests = [
        json!({"url": "https://shop.example.com/cart?q=two#f", "host": "shop", "path": "/cart", "query": {"q": "two"},
            "headers": {"x": "one"}}),
        json!({"url": "shop.example.com:8443/", "host": "shop.example.com", "path": "/cart/a", "method": "POST",
            "headers": {"content-type": "application/grpc"}, "from": "shop"}),
        json!({"url": "[::1]:80/%2e%2e/%zz", "host": "[::1]:80", "path": "/%2e%2e//cart", "port": 443, "scheme": "https",
            "from": ""}),
        json!({"url": "tls://*.", "host": "*.", "path": "", "scheme": "tls", "query": {"": "%00"}}),
    ];
    let all = requests.iter().flat_map(|request| {
        matches.iter().map(move |matches| {
            let mut request = request.clone();
            request["matches"] = matches.clone();
            request.to_string().into_bytes()
        })
    });
    all.collect()
}
