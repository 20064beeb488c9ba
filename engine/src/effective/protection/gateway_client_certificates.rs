//! Client certificates that a Gateway itself asks for, in `spec.tls.frontend` or by an option of a listener, where no policy
//! does. A policy about client certificates at a listener replaces the setting of the Gateway.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;

use super::listener_effects::ListenerEffects;
use super::provided::Provided;
use super::{CLIENT_CERTIFICATES, Coverage, LostSources, ProtectionLoss};
use crate::effective::Resolver;
use crate::effective::impact::EffectiveChange;
use crate::effective::traffic::Opened;
use crate::kinds::profile::{Class, Protection};
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::json_text::JsonText;
use crate::model::object::{ClientCertificates, Node, Object};
use crate::state::snapshot::Snapshot;
use crate::topology::{
    ClientCertificateField, GatewayClientCertificates, gateway_client_certificates, gateway_of,
    with_sets,
};

/// The handling of client certificates by a Gateway itself, before a change and after it.
pub(super) type BeforeAndAfter = [Option<GatewayClientCertificates>; 2];

// === impl GatewayClientCertificates ===

impl GatewayClientCertificates {
    /// The handling of client certificates at the effective targets of a change, each pair once.
    /// Two times `None` if the protection is not that by client certificates.
    pub(super) fn of_change(
        [before, after]: [&Snapshot; 2],
        protection: &Protection,
        change: &EffectiveChange,
    ) -> BTreeSet<BeforeAndAfter> {
        if *protection.name != *CLIENT_CERTIFICATES {
            return BTreeSet::from([[None, None]]);
        }
        let targets = change.paths.targets();
        let certificates = targets.map(|target| {
            [
                gateway_client_certificates(before, target),
                gateway_client_certificates(after, target),
            ]
        });
        certificates.collect()
    }

    /// The protection that this handling provides.
    pub(super) fn provided(&self) -> Provided {
        match self.mode {
            ClientCertificates::Required => {
                let (path, value) = self.field.setting();
                let value = JsonText::from(&json!(value));
                Provided {
                    coverage: Coverage::AllRequests,
                    sources: vec![(self.object.clone(), Some((path, value)))],
                    ..Provided::none()
                }
            }
            ClientCertificates::Asked => Provided {
                weaknesses: BTreeSet::from([self.field.weakness().into()]),
                ..Provided::none()
            },
        }
    }

    /// A sentence for users.
    fn text(&self) -> String {
        let (object, field) = (self.object.text(), self.field.text());
        let result = match (self.mode, &self.field) {
            (ClientCertificates::Required, _) => {
                ": clients without a valid one cannot connect".to_owned()
            }
            (ClientCertificates::Asked, ClientCertificateField::Frontend(_)) => {
                ", but lets clients without a valid one pass (mode AllowInsecureFallback)"
                    .to_owned()
            }
            (ClientCertificates::Asked, ClientCertificateField::Option { value, .. }) => {
                format!(", but lets clients without one pass ({value})")
            }
        };
        format!("{object} asks for client certificates ({field}){result}")
    }
}

// === impl ClientCertificateField ===

impl ClientCertificateField {
    /// The path of the field below `spec`, and the value that requires certificates.
    fn setting(&self) -> (Vec<Arc<str>>, &str) {
        match self {
            Self::Frontend(part) => (
                ["tls", "frontend", part, "validation", "mode"]
                    .map(Arc::from)
                    .into(),
                "AllowValidOnly",
            ),
            Self::Option {
                listener,
                option,
                value,
            } => (
                ["listeners", &**listener, "tls", "options", &**option]
                    .map(Arc::from)
                    .into(),
                value,
            ),
        }
    }

    /// The field, in words.
    fn text(&self) -> String {
        match self {
            Self::Frontend(part) => format!("spec.tls.frontend.{part}"),
            Self::Option {
                listener, option, ..
            } => {
                format!("tls.options[{option}] of listener {listener}")
            }
        }
    }

    /// Why certificates that are only asked for protect nothing.
    fn weakness(&self) -> String {
        match self {
            Self::Frontend(_) => "mode AllowInsecureFallback of spec.tls.frontend lets clients without a valid certificate pass".to_owned(),
            Self::Option { option, value, .. } => {
                format!("{value} in tls.options[{option}] lets clients without a certificate pass")
            }
        }
    }
}

/// A sentence for users about client certificates that the Gateway itself asks for at a listener.
/// `None` if it asks for none, or if a policy decides there.
pub fn own_client_certificates(resolver: &mut Resolver<'_>, listener: &Place) -> Option<String> {
    let own = gateway_client_certificates(resolver.snapshot(), listener)?;
    let decided = ListenerEffects::new(resolver).is_decided(listener);
    (!decided).then(|| own.text())
}

/// The client certificates that Gateways and `ListenerSets` themselves no longer ask for, or no longer require. One
/// loss for each of them.
pub(super) fn lost_by_gateways(
    [resolver_before, resolver_after]: [&mut Resolver<'_>; 2],
    objects: &[ObjectKey],
) -> Vec<(GroupKind, ProtectionLoss)> {
    let (before, after) = (resolver_before.snapshot(), resolver_after.snapshot());
    let (mut effects_before, mut effects_after) = (
        ListenerEffects::new(resolver_before),
        ListenerEffects::new(resolver_after),
    );
    let mut losses = Vec::new();
    let changed: BTreeSet<&ObjectKey> = objects.iter().collect();
    for key in objects {
        let Some(object) = after.get(key) else {
            continue;
        };
        let owners: Vec<&Arc<Object>> = match &object.node {
            Node::Gateway { .. } => with_sets(after, object).collect(),
            Node::ListenerSet { .. } if !changed.contains(gateway_of(after, key)) => vec![object],
            _ => continue,
        };
        let mut loss = ProtectionLoss::named(CLIENT_CERTIFICATES);
        for owner in owners {
            for listener in owner.listeners() {
                let place = owner.key.section(listener.name.clone());
                let Some(own) = gateway_client_certificates(before, &place) else {
                    continue;
                };
                let now = gateway_client_certificates(after, &place);
                if now.as_ref().map(|now| now.mode) == Some(own.mode)
                    || effects_before.is_decided(&place)
                    || effects_after.is_decided(&place)
                {
                    continue;
                }
                let Some(taken) = LostSources::of_gateway(&own, now.as_ref()) else {
                    continue;
                };
                loss.objects.insert(key.clone());
                loss.lost.add(&taken);
            }
        }
        if !loss.objects.is_empty() {
            losses.push((key.gk.clone(), loss));
        }
    }
    losses
}

/// The client certificates of Gateways that routes lose by the listeners that a change opens to them, while all listeners by which
/// their requests came before asked for them.
pub(super) fn lost_at_new_listeners(
    effects_before: &mut ListenerEffects<'_, '_>,
    effects_after: &mut ListenerEffects<'_, '_>,
    opened: &BTreeMap<ObjectKey, Opened>,
) -> Option<(GroupKind, ProtectionLoss)> {
    let (before, after) = (
        effects_before.resolver.snapshot(),
        effects_after.resolver.snapshot(),
    );
    let mut loss = ProtectionLoss::named(CLIENT_CERTIFICATES);
    for (route, opened) in opened {
        let own_before = opened
            .before
            .iter()
            .map(|listener| gateway_client_certificates(before, listener));
        let Some(own_before) = own_before.collect::<Option<Vec<GatewayClientCertificates>>>()
        else {
            continue;
        };
        for listener in &opened.new {
            let own_after = gateway_client_certificates(after, listener);
            let each = own_before
                .iter()
                .map(|own_before| LostSources::of_gateway(own_before, own_after.as_ref()));
            let Some(each) = each.collect::<Option<Vec<LostSources>>>() else {
                continue;
            };
            let mut before = opened.before.iter();
            if each.is_empty()
                || before.any(|own_before| effects_before.is_decided(own_before))
                || effects_after.is_decided(listener)
            {
                continue;
            }
            loss.objects.insert(route.clone());
            loss.opened.insert(listener.clone());
            for taken in &each {
                loss.lost.add(taken);
            }
        }
    }
    (!loss.objects.is_empty()).then(|| (GroupKind::gateway_api("Gateway"), loss))
}

// === impl ListenerEffects ===

impl ListenerEffects<'_, '_> {
    /// Whether a policy decides about client certificates at a listener.
    fn is_decided(&mut self, listener: &Place) -> bool {
        let snapshot = self.resolver.snapshot();
        snapshot.used_kinds().any(|kind| {
            let Some(profile) = snapshot.profile(kind) else {
                return false;
            };
            let protection = profile.protection(CLIENT_CERTIFICATES);
            let Some(protection) = protection.filter(|_| *profile.class != Class::Direct) else {
                return false;
            };
            let effective = self.effective_at(listener, kind);
            effective.is_some_and(|effective| {
                Provided::from_effective(snapshot, profile, protection, &effective)
                    .is_decided_by_policies()
            })
        })
    }
}

// === impl LostSources ===

impl LostSources {
    /// The loss if a Gateway itself handles client certificates otherwise than before. `None` if it
    /// protects as much as before.
    fn of_gateway(
        own_before: &GatewayClientCertificates,
        own_after: Option<&GatewayClientCertificates>,
    ) -> Option<Self> {
        let own_before = own_before.provided();
        let own_after = own_after.map(GatewayClientCertificates::provided);
        let remains = own_after
            .as_ref()
            .map_or(Coverage::NoRequests, |own_after| own_after.coverage);
        if remains >= own_before.coverage {
            return None;
        }
        let mut lost = Self {
            remains,
            reasons: own_after
                .into_iter()
                .flat_map(|own_after| own_after.weaknesses)
                .collect(),
            ..Self::nothing()
        };
        lost.note_sources(own_before.sources);
        Some(lost)
    }
}
