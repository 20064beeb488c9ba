//! The client certificates that a Gateway itself asks for, without a policy.

use std::sync::Arc;

use super::accepted_listeners::listener_at;
use super::{controller_facts, gateway_of};
use crate::kinds::profile::AskedClientCertificates;
use crate::model::ids::{ObjectKey, Place};
use crate::model::object::{ClientCertificates, Listener, Node, Object};
use crate::state::snapshot::Snapshot;

/// The client certificates that a Gateway, or a `ListenerSet`, itself asks for at a listener.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GatewayClientCertificates {
    /// The object with the field: the Gateway, or the owner of the listener.
    pub object: ObjectKey,
    /// Whether it requires a valid certificate.
    pub mode: ClientCertificates,
    /// The field that decides it.
    pub field: ClientCertificateField,
}

/// A field that decides about client certificates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClientCertificateField {
    /// A part of `spec.tls.frontend` of the Gateway: `default` or `perPort`.
    Frontend(&'static str),
    /// An option of the TLS of a listener.
    Option {
        /// The name of the listener.
        listener: Arc<str>,
        /// The key.
        option: Arc<str>,
        /// The value.
        value: Arc<str>,
    },
}

/// The client certificates that a Gateway itself asks for at a listener that terminates TLS, those of a `ListenerSet` included. `None`
/// if it does not ask for any.
pub fn gateway_client_certificates(
    snapshot: &Snapshot,
    place: &Place,
) -> Option<GatewayClientCertificates> {
    let listener = listener_at(snapshot, place)?;
    if !["HTTPS", "TLS"].contains(&&*listener.protocol) || listener.passes_tls_through {
        return None;
    }
    let gateway = snapshot.get(gateway_of(snapshot, &place.object))?;
    if let Some((field, asked)) = by_option(snapshot, gateway, listener) {
        return asked.asked().map(|mode| GatewayClientCertificates {
            object: place.object.clone(),
            mode,
            field,
        });
    }
    // The Gateway API has `spec.tls.frontend` for HTTPS alone.
    let Node::Gateway { frontend_tls, .. } = &gateway.node else {
        return None;
    };
    let frontend_tls = frontend_tls
        .as_ref()
        .filter(|_| *listener.protocol == *"HTTPS");
    let (mode, field) = frontend_tls?.at_port(listener.port)?;
    Some(GatewayClientCertificates {
        object: gateway.key.clone(),
        mode,
        field: ClientCertificateField::Frontend(field),
    })
}

/// The decision of an option of the listener that its controller reads; `None` if it has no such option.
fn by_option(
    snapshot: &Snapshot,
    gateway: &Object,
    listener: &Listener,
) -> Option<(ClientCertificateField, AskedClientCertificates)> {
    if listener.tls_options.is_empty() {
        return None;
    }
    let facts = controller_facts(snapshot, &gateway.key)?;
    let known = facts.client_certificate_option.as_ref()?;
    let value = listener.tls_options.get(&known.option)?;
    let asked = known.values.get(&**value)?;
    let field = ClientCertificateField::Option {
        listener: listener.name.clone(),
        option: known.option.clone(),
        value: value.clone(),
    };
    Some((field, *asked))
}
