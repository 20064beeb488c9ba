//! Facts about a node besides its name: hostnames, ports, the matches of a rule.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::model::ids::{ObjectKey, Place};
use crate::engine::model::object::{Node, Object};
use crate::engine::model::section;
use crate::engine::model::wording::shortened;
use crate::engine::routing::{MatchSpec, Matching, TextMatch};
use crate::engine::topology::{listeners_of, why_unaccepted};

/// Facts about a node. A field that the node does not have is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// The name of the class of a Gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The protocol of a listener.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The number of the port of a listener or Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The hostnames of a route or a listener; empty for any hostname.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hostnames: Vec<String>,
    /// One text for each match of a rule: `PathPrefix /cart, method GET`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    /// The reason why a listener is not accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unaccepted: Option<String>,
}

/// The limit of matches shown per rule.
const MOST_MATCHES: usize = 64;
/// The limit of characters per match; a longer one is cut.
const MAX_MATCH_CHARACTERS: usize = 400;

/// The matches of each rule of a route; an error for a match that cannot be read.
type Matches = Vec<Vec<Result<MatchSpec, String>>>;

/// Reads the facts of nodes. Fast if the rules of one route come one after the other.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    matching: &'a Matching<'a>,
    /// The route read last, with its matches.
    last: Option<(ObjectKey, Matches)>,
}

// === impl Reader ===

impl<'a> Reader<'a> {
    pub(super) fn new(matching: &'a Matching<'a>) -> Self {
        Self {
            matching,
            last: None,
        }
    }

    /// The facts of a place; `ordinal` is the position of the section within its object.
    pub(super) fn facts(&mut self, place: &Place, ordinal: usize) -> Facts {
        let snapshot = self.matching.snapshot();
        let Some(object) = snapshot.get(&place.object) else {
            return Facts::default();
        };
        match (&object.node, &place.section) {
            (Node::Gateway { class, .. }, None) => Facts {
                class: Some(class.to_string()),
                ..Facts::default()
            },
            (Node::Gateway { .. } | Node::ListenerSet { .. }, Some(name)) => {
                let mut listeners = listeners_of(object).iter();
                let Some(listener) = listeners.find(|listener| listener.name == *name) else {
                    return Facts::default();
                };
                Facts {
                    protocol: Some(listener.protocol.to_string()),
                    port: Some(listener.port),
                    hostnames: listener.hostname.iter().map(ToString::to_string).collect(),
                    unaccepted: why_unaccepted(snapshot, place),
                    ..Facts::default()
                }
            }
            (Node::Route { hostnames, .. }, None) => Facts {
                hostnames: hostnames.iter().map(ToString::to_string).collect(),
                ..Facts::default()
            },
            (Node::Route { .. }, Some(_)) => self.of_rule(object, ordinal),
            (Node::Service { ports, .. }, Some(label)) => {
                let labels = section::labels(object);
                let port = ports.iter().zip(&labels).find(|(_, own)| *own == label);
                Facts {
                    port: port.map(|(port, _)| port.number),
                    ..Facts::default()
                }
            }
            _ => Facts::default(),
        }
    }

    fn of_rule(&mut self, route: &Object, index: usize) -> Facts {
        if self.last.as_ref().is_none_or(|(key, _)| *key != route.key) {
            self.last = Some((route.key.clone(), self.matching.match_specs(route)));
        }
        let rules = self.last.as_ref().map(|(_, rules)| &**rules);
        let match_spec = rules.and_then(|rules| rules.get(index));
        let match_spec = match_spec.into_iter().flatten();
        Facts {
            matches: match_spec.take(MOST_MATCHES).map(match_text).collect(),
            ..Facts::default()
        }
    }
}

fn match_text(match_spec: &Result<MatchSpec, String>) -> String {
    let text = match match_spec {
        Ok(match_spec) => text(match_spec),
        Err(why) => format!("unreadable match: {why}"),
    };
    shortened(&text, MAX_MATCH_CHARACTERS).into_owned()
}

/// A match in words: `PathPrefix /cart, method GET, header x-env=canary`.
fn text(match_spec: &MatchSpec) -> String {
    let pair = |what: &str, (name, text): &(String, TextMatch)| {
        let sign = if text.is_expression() { "=~" } else { "=" };
        format!("{what} {name}{sign}{}", text.value())
    };
    let condition = |what: &str, value: &Option<TextMatch>| {
        let value = value.as_ref();
        value.map(|value| format!("{what} {}", value.value()))
    };
    let path = match_spec.path.iter();
    let parts = path
        .map(|path| format!("{} {}", path.kind(), path.value()))
        .chain(condition("service", &match_spec.service))
        .chain(condition("method", &match_spec.call))
        .chain(
            match_spec
                .method
                .iter()
                .map(|method| format!("method {method}")),
        )
        .chain(
            match_spec
                .headers
                .iter()
                .map(|header| pair("header", header)),
        )
        .chain(
            match_spec
                .params
                .iter()
                .map(|param| pair("query parameter", param)),
        );
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        return "everything".to_owned();
    }
    parts.join(", ")
}
