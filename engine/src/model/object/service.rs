//! Services: their ports, and whether they stand for a name outside of the cluster.

use std::sync::Arc;

use serde::Deserialize;

use super::Node;
use super::bounded_vec::BoundedVec;
use super::values::{not_empty, port};
use crate::model::ids::GroupKind;

/// Services of media servers have some thousand ports.
pub(super) const MOST_PORTS: usize = 16_384;

/// A port of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name, the section name; a single port may have none.
    pub name: Option<Arc<str>>,
    /// Its number.
    pub number: u16,
    /// Its protocol.
    pub protocol: PortProtocol,
}

/// The protocol of a port of a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortProtocol {
    /// TCP, also if the port has no protocol.
    Tcp,
    /// UDP.
    Udp,
    /// Another one.
    Other,
}

/// `spec` of a Service.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ServiceJson {
    pub ports: Option<BoundedVec<PortJson, MOST_PORTS>>,
    pub r#type: Option<Arc<str>>,
    #[serde(rename = "clusterIP")]
    pub cluster_ip: Option<Arc<str>>,
}

/// One of `ports` of a Service.
#[derive(Deserialize)]
pub(super) struct PortJson {
    name: Option<Arc<str>>,
    port: Option<u32>,
    protocol: Option<Arc<str>>,
}

// === impl Node ===

impl Node {
    /// Whether it is a Service of type `ExternalName`.
    pub fn is_external_name(&self) -> bool {
        matches!(
            self,
            Self::Service {
                is_external_name: true,
                ..
            }
        )
    }

    /// Whether it is a Service without a cluster IP: `clusterIP: None`.
    pub fn is_headless(&self) -> bool {
        matches!(
            self,
            Self::Service {
                is_headless: true,
                ..
            }
        )
    }
}

/// A Service, or a `ServiceImport`. The ports of that may be left to a controller; then nothing is known of them.
pub(super) fn service(
    gk: &GroupKind,
    ports: Box<[Port]>,
    [kind, cluster_ip]: [Option<Arc<str>>; 2],
) -> Node {
    if !gk.is_core("Service") && ports.is_empty() {
        return Node::Other;
    }
    Node::Service {
        is_external_name: kind.as_deref() == Some("ExternalName"),
        is_headless: cluster_ip.as_deref() == Some("None"),
        ports,
    }
}

pub(super) fn service_port(json: PortJson) -> Port {
    let protocol = match json.protocol.as_deref() {
        None | Some("TCP" | "") => PortProtocol::Tcp,
        Some("UDP") => PortProtocol::Udp,
        Some(_) => PortProtocol::Other,
    };
    Port {
        name: not_empty(json.name),
        number: port(json.port).unwrap_or_default(),
        protocol,
    }
}
