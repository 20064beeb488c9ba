//! Conflicts between listeners on one port: incompatible protocols, or the same hostname.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::listener_acceptance::ListenerFault;
use crate::model::object::Listener;

/// The traffic that a listener's protocol carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrafficType {
    /// Plain HTTP requests.
    Http,
    /// TLS, with the hostname in the handshake.
    Tls,
    /// Connections without a hostname.
    Tcp,
    /// Datagrams.
    Udp,
    /// Implementation-specific traffic.
    Other,
}

/// An identity that listeners on one port must not share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Identity {
    traffic_type: TrafficType,
    /// Only for implementation-specific protocols.
    protocol: Option<Arc<str>>,
    hostname: Option<String>,
}

/// The use of one port by owners processed so far.
#[derive(Debug, Default)]
struct PortUse {
    taken: BTreeSet<Identity>,
    /// The traffic on its connections.
    traffic_type: Option<TrafficType>,
    /// Whether no listener can use it, because the Gateway itself has incompatible protocols on it.
    is_lost: bool,
}

/// The use of one port where the first listener wins.
struct OrderedPort<'a> {
    first: &'a Listener,
    protocols: BTreeSet<&'a str>,
    /// The first listener with each hostname.
    hostnames: BTreeMap<Option<String>, &'a Listener>,
}

// === impl TrafficType ===

impl TrafficType {
    /// The traffic of a listener.
    pub fn from_listener(listener: &Listener) -> Self {
        match &*listener.protocol {
            "HTTP" => Self::Http,
            "HTTPS" | "TLS" => Self::Tls,
            "TCP" => Self::Tcp,
            "UDP" => Self::Udp,
            _ => Self::Other,
        }
    }

    /// Whether this traffic excludes any other traffic on the connections of a port.
    fn is_alone(self) -> bool {
        matches!(self, Self::Http | Self::Tls | Self::Tcp)
    }

    /// Whether the hostname distinguishes listeners of this protocol.
    pub fn has_hostname(self) -> bool {
        !matches!(self, Self::Tcp | Self::Udp)
    }
}

/// The conflicts of listeners, owner by owner in order of precedence, the Gateway first. Between owners, the first
/// one wins; within one owner, all conflicting listeners lose.
pub(super) fn conflicts<'a>(
    owners: impl Iterator<Item = &'a [Listener]>,
) -> Vec<Box<[Option<ListenerFault>]>> {
    let mut ports: BTreeMap<u16, PortUse> = BTreeMap::new();
    let owners = owners.enumerate();
    owners
        .map(|(i, own)| of_owner(&mut ports, own, i == 0))
        .collect()
}

/// The conflicts of listeners of a controller for which the first listener of a port decides its protocol, and the first
/// with a hostname has it, in the order of `owners`. One that loses by its protocol still has its hostname.
pub(super) fn conflicts_with_first<'a>(
    owners: impl Iterator<Item = &'a [Listener]> + Clone,
) -> Vec<Box<[Option<ListenerFault>]>> {
    let mut ports: BTreeMap<u16, OrderedPort<'a>> = BTreeMap::new();
    for listener in owners.clone().flatten() {
        let port = ports.entry(listener.port).or_insert_with(|| OrderedPort {
            first: listener,
            protocols: BTreeSet::new(),
            hostnames: BTreeMap::new(),
        });
        port.protocols.insert(match &*listener.protocol {
            "HTTPS" | "TLS" => "TLS",
            other => other,
        });
        port.hostnames
            .entry(lowercase_hostname(listener))
            .or_insert(listener);
    }
    let conflict = |listener: &'a Listener| {
        let port = ports.get(&listener.port)?;
        if port.protocols.len() > 1 && listener.protocol != port.first.protocol {
            return Some(ListenerFault::IncompatibleProtocol);
        }
        let first = port.hostnames.get(&lowercase_hostname(listener))?;
        (!std::ptr::eq(*first, listener)).then_some(ListenerFault::SameHostname)
    };
    owners
        .map(|own| own.iter().map(conflict).collect())
        .collect()
}

fn lowercase_hostname(listener: &Listener) -> Option<String> {
    listener.hostname.as_deref().map(str::to_ascii_lowercase)
}

fn of_owner(
    ports: &mut BTreeMap<u16, PortUse>,
    own: &[Listener],
    is_gateway: bool,
) -> Box<[Option<ListenerFault>]> {
    // The number of listeners with each identity, and the kinds of traffic on each port.
    let mut wanted: BTreeMap<(u16, Identity), usize> = BTreeMap::new();
    let mut carried: BTreeMap<u16, BTreeSet<TrafficType>> = BTreeMap::new();
    for listener in own {
        let identity = Identity::from_listener(listener);
        if identity.traffic_type.is_alone() {
            let carried = carried.entry(listener.port).or_default();
            carried.insert(identity.traffic_type);
        }
        *wanted.entry((listener.port, identity)).or_default() += 1;
    }
    let conflict = |listener: &Listener| {
        let identity = Identity::from_listener(listener);
        let port = ports.get(&listener.port);
        if identity.traffic_type.is_alone() {
            let kinds_of_traffic = carried.get(&listener.port).map_or(0, BTreeSet::len);
            let goes = match port.map(|port| (port.traffic_type, port.is_lost)) {
                Some((_, true)) => false,
                Some((Some(first), _)) => first == identity.traffic_type,
                _ => kinds_of_traffic == 1,
            };
            if !goes {
                return Some(ListenerFault::IncompatibleProtocol);
            }
        }
        let is_taken = port.is_some_and(|port| port.taken.contains(&identity));
        let twice = wanted.get(&(listener.port, identity)).copied() > Some(1);
        (is_taken || twice).then_some(ListenerFault::SameHostname)
    };
    let conflicts: Box<[Option<ListenerFault>]> = own.iter().map(conflict).collect();
    for (listener, conflict) in own.iter().zip(&conflicts) {
        // A listener that loses for its protocol does not block others.
        if *conflict != Some(ListenerFault::IncompatibleProtocol) {
            let port = ports.entry(listener.port).or_default();
            port.taken.insert(Identity::from_listener(listener));
        }
    }
    for (number, carried) in carried {
        let port = ports.entry(number).or_default();
        if carried.len() == 1 {
            port.traffic_type = port.traffic_type.or(carried.first().copied());
        } else {
            port.is_lost |= is_gateway;
        }
    }
    conflicts
}

// === impl Identity ===

impl Identity {
    fn from_listener(listener: &Listener) -> Self {
        let traffic_type = TrafficType::from_listener(listener);
        let hostname = listener
            .hostname
            .as_deref()
            .filter(|_| traffic_type.has_hostname());
        Self {
            traffic_type,
            protocol: (traffic_type == TrafficType::Other).then(|| listener.protocol.clone()),
            hostname: hostname.map(str::to_ascii_lowercase),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ListenerFault, conflicts, conflicts_with_first};
    use crate::model::label_map::LabelMap;
    use crate::model::object::{From, Listener};

    /// `HTTP 80 a.example`
    fn listener(text: &str) -> Listener {
        let mut parts = text.split(' ');
        let protocol = parts.next().unwrap().into();
        Listener {
            name: text.into(),
            port: parts.next().unwrap().parse().unwrap(),
            protocol,
            passes_tls_through: false,
            is_without_tls: false,
            lacks_certificates: false,
            lacks_selector: false,
            foreign_certificates: Box::default(),
            tls_options: LabelMap::default(),
            hostname: parts.next().map(Into::into),
            routes_from: From::Same,
            routes_of: Box::default(),
        }
    }

    fn listeners(owners: &[&[&str]]) -> Vec<Vec<Listener>> {
        let each = owners.iter();
        each.map(|own| own.iter().map(|text| listener(text)).collect())
            .collect()
    }

    /// `-` accepted, `s` same as another, `p` incompatible protocol; `|` separates owners.
    fn conflict_letters(owners: &[&[&str]]) -> String {
        let owners = listeners(owners);
        letters(&conflicts(owners.iter().map(|own| &**own)))
    }

    fn letters(conflicts: &[Box<[Option<ListenerFault>]>]) -> String {
        let letter = |conflict: &Option<ListenerFault>| match conflict {
            None => '-',
            Some(ListenerFault::SameHostname) => 's',
            Some(ListenerFault::IncompatibleProtocol) => 'p',
            Some(
                ListenerFault::Reported
                | ListenerFault::ClassNotAccepted
                | ListenerFault::ClassNotFound
                | ListenerFault::UnknownProtocol
                | ListenerFault::ProtocolNotServed
                | ListenerFault::WithoutTls
                | ListenerFault::WithoutCertificates
                | ListenerFault::WithoutSelector
                | ListenerFault::OtherKinds
                | ListenerFault::CertificatesNotGranted,
            ) => 'r',
        };
        let letters_by_owner: Vec<String> = conflicts
            .iter()
            .map(|o| o.iter().map(letter).collect())
            .collect();
        letters_by_owner.join("|")
    }

    /// kgateway v2.2.0, `pkg/kgateway/translator/listener/validation.go`.
    #[test]
    fn where_the_first_wins_it_keeps_protocol_and_hostname() {
        for (owners, expected) in [
            (&[&["HTTP 80", "HTTP 80"][..]][..], "-s"),
            (&[&["HTTPS 443 a.example", "TLS 443 a.example"]], "-s"),
            (&[&["HTTPS 443 a.example", "TLS 443 b.example"]], "--"),
            (&[&["HTTP 80", "TCP 80", "HTTP 80 a.example"]], "-p-"),
            (&[&["HTTPS 443", "TLS 443 b.example", "TCP 443"]], "-pp"),
            (&[&["TCP 80 a.example", "HTTP 80", "HTTP 80"]], "-pp"),
            (&[&["UDP 53"], &["TCP 53"]], "-|p"),
            (&[&["HTTP 80"], &["HTTP 80", "HTTP 80 a.example"]], "-|s-"),
        ] {
            let owners = listeners(owners);
            let conflicts = conflicts_with_first(owners.iter().map(|own| &**own));
            assert_eq!(letters(&conflicts), expected, "{owners:?}");
        }
    }

    #[test]
    fn within_one_owner_no_listener_is_picked() {
        for (own, expected) in [
            (&["HTTP 80", "HTTP 81"][..], "--"),
            (
                &["HTTP 80 a.example", "HTTP 80 b.example", "HTTP 80"],
                "---",
            ),
            (
                &["HTTP 80 a.example", "HTTP 80 A.example", "HTTP 80"],
                "ss-",
            ),
            (&["HTTPS 443 a.example", "TLS 443 a.example"], "ss"),
            (&["HTTPS 443 a.example", "TLS 443 b.example"], "--"),
            (&["HTTP 80", "TCP 80", "HTTP 81"], "pp-"),
            (&["HTTPS 443", "TCP 443"], "pp"),
            (&["HTTP 80", "HTTPS 80"], "pp"),
            (&["TCP 80", "TCP 80"], "ss"),
            (&["HTTPS 443", "UDP 443"], "--"),
            (&["UDP 53", "UDP 53 a.example", "TCP 53"], "ss-"),
            (&["example.com/x 80", "HTTP 80", "example.com/x 80"], "s-s"),
        ] {
            assert_eq!(conflict_letters(&[own]), expected, "{own:?}");
        }
    }

    #[test]
    fn the_first_owner_keeps_a_contested_listener() {
        for (owners, expected) in [
            (&[&["HTTP 80"][..], &["HTTP 80"]][..], "-|s"),
            (&[&["HTTP 80"], &["HTTP 80 a.example"]], "-|-"),
            (&[&["HTTP 80"], &["TCP 80"]], "-|p"),
            (&[&["HTTP 80"], &["TCP 80", "HTTP 80 a.example"]], "-|p-"),
            (&[&["HTTP 80", "TCP 80"], &["HTTP 80 a.example"]], "pp|p"),
            (&[&["HTTP 80", "HTTP 80"], &["HTTP 80"]], "ss|s"),
            (&[&["HTTP 81"], &["HTTP 80"], &["HTTP 80"]], "-|-|s"),
            (&[&["HTTP 81"], &["TCP 80"], &["HTTP 80"]], "-|-|p"),
            (
                &[&["HTTP 81"], &["TCP 80", "HTTP 80"], &["HTTP 80"]],
                "-|pp|-",
            ),
        ] {
            assert_eq!(conflict_letters(owners), expected, "{owners:?}");
        }
    }
}
