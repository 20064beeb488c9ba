//! Policies on listeners where not all of their settings apply: those of other ports, and those that need another
//! protocol.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use super::settings::is_excluded;
use super::{ListenerFacts, Policy, Variant};
use crate::kinds::profile::{OnListeners, Profile};
use crate::model::object::Listener;

// === impl ListenerFacts ===

impl ListenerFacts {
    /// Whether policies of a kind depend on the listener at all.
    pub(crate) fn matter_to(profile: &Profile) -> bool {
        let merging = &profile.merging;
        merging.ports.is_some() || !merging.on_listeners.is_empty()
    }

    /// The facts of a listener that policies of a kind depend on.
    pub(crate) fn from_listener(profile: &Profile, listener: &Listener) -> Self {
        let merging = &profile.merging;
        let mut protocols = merging.on_listeners.iter();
        Self {
            port: merging.ports.as_ref().map(|_| listener.port),
            on: protocols
                .position(|on| on.is_about(listener))
                .and_then(|on| u8::try_from(on).ok()),
        }
    }

    /// The facts about a kind that apply on such listeners, if policies merge in other stages there.
    pub(crate) fn profile(self, general: &Profile) -> Option<&Profile> {
        self.protocols(general)?.profile.as_deref()
    }

    /// The facts about listeners of its protocol, if a kind has some.
    pub(crate) fn protocols(self, general: &Profile) -> Option<&OnListeners> {
        general.merging.on_listeners.get(usize::from(self.on?))
    }

    /// The settings of a spec that apply to such listeners.
    pub(super) fn acting<'a>(self, spec: &'a Value, profile: &Profile) -> Cow<'a, Value> {
        let mut spec = Cow::Borrowed(spec);
        if self != Self::default() {
            self.take_out(spec.to_mut(), profile);
        }
        spec
    }

    /// Removes the settings that do not apply to such listeners from a spec.
    pub(super) fn take_out(self, spec: &mut Value, profile: &Profile) {
        let merging = &profile.merging;
        if let (Some(port), Some(ports)) = (self.port, merging.ports.as_ref()) {
            ports.keep(spec, port);
        }
        let on = self.on.map(usize::from);
        if let Some(on) = on.and_then(|on| merging.on_listeners.get(on)) {
            on.keep(spec, |name| !is_excluded(name, profile));
        }
    }
}

// === impl Policy ===

impl Policy {
    /// Its variant on listeners, without the settings that do not apply there; `None` if all of them
    /// apply.
    pub(crate) fn at_listeners(&self, at: ListenerFacts) -> Option<Self> {
        if at == ListenerFacts::default() || self.is_empty() {
            return None;
        }
        let full_spec = self.spec();
        let mut spec = full_spec.clone();
        at.take_out(&mut spec, &self.profile);
        let variant = Variant { at, ..self.variant };
        (spec != full_spec).then(|| {
            Self::new_variant(
                self.object.clone(),
                &full_spec,
                self.profile.clone(),
                variant,
            )
        })
    }

    /// The ports for which it has settings, if it has no others.
    pub fn only_ports(&self) -> Option<BTreeSet<u16>> {
        let spec = self.spec();
        let ports = self.profile.merging.ports.as_ref()?.ports(&spec);
        // No listener has port 0.
        let at = ListenerFacts {
            port: Some(0),
            on: None,
        };
        let variant = self.at_listeners(at)?;
        (variant.has_no_effect() || variant.is_empty()).then_some(ports)
    }
}
