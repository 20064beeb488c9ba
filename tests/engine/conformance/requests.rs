//! Requests in the suite: the backend that receives each, or the response.

use attache::engine::model::object::{Listener, Object};
use attache::engine::routing::{Outcome, Request, Scheme, Served, State, of_path};
use attache::engine::topology::listeners_of;
use serde_json::Value;

use super::asked::{Answer, of_type, said};
use super::test_state::TestState;

/// The address that the client dials without a host.
const ADDRESS: &str = "192.0.2.1";
const GRPC: &str = "/gateway_api_conformance.echo_basic.grpcecho.GrpcEcho/";

/// Checks the outcome of a request.
pub(crate) fn ask(state: &TestState, func: &str, args: &[Value]) -> Answer {
    let Some(reference) = of_type(args, "GatewayRef").next() else {
        return Answer::NotAsked;
    };
    let Some(gateway) = state.get("Gateway", &reference["gateway"]) else {
        return Answer::NotAsked;
    };
    let Some(listener) = listener(gateway, reference) else {
        return Answer::NotAsked;
    };
    let expected = of_type(args, "ExpectedResponse").next();
    match (func, expected) {
        ("http.MakeRequestAndExpectEventuallyConsistentResponse", Some(expected)) => {
            let mut request = http(expected, listener, Scheme::Http);
            // The client dials the port in the host if a listener has it.
            let port = request.host.as_ref().and_then(|host| host.rsplit_once(':'));
            let port = port.and_then(|(_, port)| port.parse().ok());
            let mut ports = listeners_of(gateway).iter().map(|l| l.port);
            request.port = port
                .filter(|port| ports.any(|p| p == *port))
                .or(request.port);
            answered(state, gateway, &request, expected)
        }
        ("tls.MakeTLSRequestAndExpectEventuallyConsistentResponse", Some(expected)) => {
            let scheme = match &*listener.protocol {
                "TLS" => Scheme::Tls,
                _ => Scheme::Https,
            };
            let mut request = http(expected, listener, scheme);
            request.sni = server_name(args).map(str::to_owned);
            answered(state, gateway, &request, expected)
        }
        ("tls.MakeTLSConnectionAndExpectEventuallyConnectionRejection", _) => {
            let request = Request {
                scheme: Some(Scheme::Tls),
                host: server_name(args).map(str::to_owned),
                port: Some(listener.port),
                ..Request::default()
            };
            let matches = state
                .matching()
                .at_gateways(&request, |k| *k == gateway.key);
            let taken = matches
                .iter()
                .any(attache::engine::routing::MatchResult::is_taken);
            said(!taken, || format!("{request:?} is taken"))
        }
        ("grpc.MakeRequestAndExpectEventuallyConsistentResponse", Some(expected)) => {
            grpc(state, gateway, listener, expected)
        }
        _ => Answer::NotAsked,
    }
}

/// The server name: the string argument that is none of the suite's own.
fn server_name(args: &[Value]) -> Option<&str> {
    let own = ["RoundTripper", "TimeoutConfig", "Client", "GRPCClient"];
    let mut texts = args.iter().filter_map(Value::as_str);
    texts.find(|text| !own.contains(text))
}

/// The listener that the client dials: the named one, else the first.
fn listener<'a>(gateway: &'a Object, reference: &Value) -> Option<&'a Listener> {
    let named = reference["listeners"]
        .as_array()?
        .first()
        .and_then(Value::as_str);
    let mut all = listeners_of(gateway).iter();
    match named {
        Some(name) => all.find(|listener| *listener.name == *name),
        None => all.next(),
    }
}

fn http(expected: &Value, listener: &Listener, scheme: Scheme) -> Request {
    let asked = &expected["Request"];
    let host = asked["Host"].as_str().filter(|host| !host.is_empty());
    let (path, query) = of_path(asked["Path"].as_str().unwrap_or("/"));
    let headers = asked["Headers"].as_object();
    let headers = headers.into_iter().flatten();
    let headers =
        headers.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
    Request {
        scheme: Some(scheme),
        host: Some(host.unwrap_or(ADDRESS).to_owned()),
        sni: None,
        port: Some(listener.port),
        method: asked["Method"].as_str().map(str::to_owned),
        path: if path.is_empty() {
            "/".to_owned()
        } else {
            path
        },
        query,
        headers: headers.collect(),
    }
}

fn answered(state: &TestState, gateway: &Object, request: &Request, expected: &Value) -> Answer {
    let matches = state.matching().at_gateways(request, |k| *k == gateway.key);
    let taken = matches
        .iter()
        .filter_map(|request_match| match &request_match.outcome {
            Outcome::Taken(taken) => Some(taken),
            Outcome::Missed(_) => None,
        });
    let taken: Vec<&Served> = taken.map(|taken| &**taken).collect();
    let response = &expected["Response"];
    let codes = response["StatusCodes"].as_array().into_iter().flatten();
    let codes = codes
        .chain(response.get("StatusCode"))
        .filter_map(Value::as_u64);
    let mut codes: Vec<u64> = codes.collect();
    if codes.is_empty() {
        codes.push(200);
    }
    if codes.iter().all(|code| *code == 504) {
        // attache does not know how long a backend takes.
        return Answer::NotAsked;
    }
    let difference = || format!("{request:?}: {matches:?}, not {expected}");
    match taken.as_slice() {
        [] => {
            let misdirected = matches
                .iter()
                .any(|request_match| match &request_match.outcome {
                    Outcome::Missed(missed) => missed.why.contains("421"),
                    Outcome::Taken(_) => false,
                });
            let code = if misdirected { 421 } else { 404 };
            said(codes.contains(&code), difference)
        }
        [taken] => {
            if let Some(answer) = &taken.answer {
                let status = answer.status.as_deref().unwrap_or_default();
                let fits = codes.iter().any(|code| status.contains(&code.to_string()));
                let fits = fits && redirects(answer.location.as_deref(), request, expected);
                said(fits, difference)
            } else {
                // Statuses from a backend or from a missing protocol are ignored.
                let is_answer = codes.contains(&200) || expected["Backend"].is_string();
                said(is_answer && reaches(taken, expected), difference)
            }
        }
        _ => Answer::Differs(difference()),
    }
}

/// Whether the rule has the expected backend; true if none is expected.
fn reaches(taken: &Served, expected: &Value) -> bool {
    let Some(name) = expected["Backend"].as_str().filter(|name| !name.is_empty()) else {
        return true;
    };
    let namespace = expected["Namespace"].as_str().unwrap_or_default();
    taken.backends.iter().any(|backend| {
        // The suite names Deployments; a Service has the same name, or one is a prefix of the other.
        let same = backend.object.name.starts_with(name) || name.starts_with(&*backend.object.name);
        let is_in_namespace = namespace.is_empty() || *backend.object.namespace == *namespace;
        backend.weight > 0 && !matches!(backend.state, State::Missing) && same && is_in_namespace
    })
}

/// Whether a redirect leads to the expected location. Unexpected parts stay as requested.
fn redirects(location: Option<&str>, request: &Request, expected: &Value) -> bool {
    let wanted = &expected["RedirectRequest"];
    if wanted.is_null() {
        return true;
    }
    let Some((scheme, rest)) = location.and_then(|location| location.split_once("://")) else {
        return false;
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, ""));
    let is = |field: &str, found: &str| {
        let wanted = wanted[field].as_str().filter(|text| !text.is_empty());
        wanted.is_none_or(|wanted| wanted == found)
    };
    let path_fits = match wanted["Path"].as_str() {
        Some(wanted) => wanted == path,
        None => path == request.path,
    };
    is("Scheme", scheme) && is("Host", host) && (is("Port", port) || port.is_empty()) && path_fits
}

fn grpc(state: &TestState, gateway: &Object, listener: &Listener, expected: &Value) -> Answer {
    let calls = [
        ("EchoRequest", "Echo"),
        ("EchoTwoRequest", "EchoTwo"),
        ("EchoThreeRequest", "EchoThree"),
    ];
    let called = calls.iter().find(|(field, _)| !expected[field].is_null());
    let Some((_, method)) = called else {
        return Answer::NotAsked;
    };
    let metadata = &expected["RequestMetadata"];
    let headers = metadata["Metadata"].as_object().into_iter().flatten();
    let headers =
        headers.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
    let authority = metadata["Authority"].as_str().unwrap_or(ADDRESS);
    let request = Request {
        scheme: Some(Scheme::Http),
        host: Some(authority.to_owned()),
        port: Some(listener.port),
        method: Some("POST".to_owned()),
        path: format!("{GRPC}{method}"),
        headers: headers.collect(),
        ..Request::default()
    };
    let matches = state
        .matching()
        .at_gateways(&request, |k| *k == gateway.key);
    let taken = matches
        .iter()
        .find_map(|request_match| match &request_match.outcome {
            Outcome::Taken(taken) => Some(taken),
            Outcome::Missed(_) => None,
        });
    let code = expected["Response"]["Code"].as_str().unwrap_or("OK");
    let agrees = match (code, taken) {
        ("OK", Some(taken)) => taken.answer.is_none() && reaches(taken, expected),
        ("Unimplemented", taken) => taken.is_none(),
        ("Unavailable", Some(taken)) => taken.answer.is_some(),
        _ => false,
    };
    said(agrees, || {
        format!("{request:?}: {matches:?}, not {expected}")
    })
}
