//! The client certificates that a Gateway itself asks for: `spec.tls.frontend`.

use serde::Deserialize;

use super::bounded_vec::BoundedVec;

/// The client certificates that a Gateway asks for at its HTTPS listeners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontendTls {
    default: Option<ClientCertificates>,
    /// By port; `None` where none are asked for.
    ports: Box<[(u32, Option<ClientCertificates>)]>,
}

/// The verification of client certificates by a Gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClientCertificates {
    /// Only clients with a valid certificate may connect.
    Required,
    /// Clients without a valid certificate may connect, too: `mode: AllowInsecureFallback`.
    Asked,
}

/// `tls` of a Gateway.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct GatewayTlsJson {
    frontend: Option<FrontendJson>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct FrontendJson {
    default: Option<TlsJson>,
    per_port: Option<BoundedVec<PortJson>>,
}

#[derive(Deserialize)]
struct PortJson {
    port: u32,
    tls: Option<TlsJson>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TlsJson {
    validation: Option<ValidationJson>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ValidationJson {
    mode: Option<String>,
}

// === impl FrontendTls ===

impl FrontendTls {
    /// The handling at HTTPS listeners with this port, and the field below `spec.tls.frontend` that decides it.
    pub fn at_port(&self, port: u16) -> Option<(ClientCertificates, &'static str)> {
        let mut ports = self.ports.iter();
        match ports.find(|(other, _)| *other == u32::from(port)) {
            Some((_, of_port)) => Some(((*of_port)?, "perPort")),
            None => Some((self.default?, "default")),
        }
    }
}

// === impl GatewayTlsJson ===

impl GatewayTlsJson {
    pub(super) fn client_certificates(self) -> Option<Box<FrontendTls>> {
        let frontend = self.frontend?;
        let ports = frontend.per_port.into_iter().flat_map(|ports| ports.0);
        let ports = ports.map(|port| (port.port, port.tls.and_then(TlsJson::asks)));
        Some(Box::new(FrontendTls {
            default: frontend.default.and_then(TlsJson::asks),
            ports: ports.collect(),
        }))
    }
}

// === impl TlsJson ===

impl TlsJson {
    fn asks(self) -> Option<ClientCertificates> {
        let mode = self.validation?.mode;
        Some(match mode.as_deref() {
            Some("AllowInsecureFallback") => ClientCertificates::Asked,
            _ => ClientCertificates::Required,
        })
    }
}
