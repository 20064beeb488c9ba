//! Policies without settings, and behaviour of controllers that differs from the model of attache.

use std::sync::Arc;

use super::{Policy, Stanza};
use crate::kinds::profile::{Caveat, Op, Strategy};
use crate::merge::{PolicyStanza, StanzaRef, is_under};
use crate::model::ids::GroupKind;
use crate::model::object::gateway_kinds;
use crate::state::snapshot::Snapshot;

impl Policy {
    /// Behaviour of its controllers that is not modelled.
    pub fn caveats<'a>(&'a self, snapshot: &'a Snapshot) -> impl Iterator<Item = &'a str> {
        let is_backend = |kind: &Arc<str>| {
            let kind = GroupKind::gateway_api(kind);
            let mut objects = snapshot.objects(&kind);
            objects.any(|object| snapshot.using(&object.key).next().is_some())
        };
        let is_annotated = |key: &Arc<str>| {
            let mut kinds = gateway_kinds().filter(|kind| !kind.is_gateway_api("GatewayClass"));
            kinds.any(|kind| {
                let mut objects = snapshot.objects(&kind);
                objects.any(|object| object.meta.annotations.get(key).is_some())
            })
        };
        let applies = move |caveat: &&Caveat| {
            let mut targets = self.targets.iter().map(|target| &target.gk.kind);
            let by_target =
                caveat.targets.is_empty() || targets.any(|kind| caveat.targets.contains(kind));
            let sets = |setting: &Vec<String>| {
                let mut paths = self.parts().flat_map(StanzaRef::paths);
                paths.any(|path| is_under(&path, setting))
            };
            let by_settings = caveat.settings.is_empty() || caveat.settings.iter().any(sets);
            let by_backend = caveat.backends.is_empty() || caveat.backends.iter().any(is_backend);
            let by_annotation =
                caveat.annotations.is_empty() || caveat.annotations.iter().any(is_annotated);
            by_target && by_settings && by_backend && by_annotation
        };
        self.profile
            .caveats
            .iter()
            .filter(applies)
            .map(|caveat| &*caveat.text)
    }

    /// The policy as its controllers treat it when they reject it and it still replaces policies above it: it has no
    /// settings.
    pub(crate) fn without_settings(&self) -> Self {
        Self {
            stanzas: Box::new([PolicyStanza::nothing(self.key())]),
            length: 0,
            ..self.clone()
        }
    }

    /// Whether it has no settings and does not count.
    pub fn has_no_effect(&self) -> bool {
        self.stanzas.is_empty()
    }

    /// Whether it has no settings. It may still replace others.
    pub fn is_empty(&self) -> bool {
        self.stanzas.iter().all(PolicyStanza::is_empty)
    }

    /// Whether it has no settings, and merges with others if it counts at all.
    pub fn adds_nothing(&self) -> bool {
        let merges = |stanza: &Stanza| {
            let is_additive = matches!(stanza.strategy, Strategy::Merge(_, Op::Additive));
            !stanza.strategy.is_whole() && !is_additive
        };
        let mut stanzas = self.strategies.iter().flat_map(|stanzas| stanzas.iter());
        self.has_no_effect() || (self.is_empty() && stanzas.all(merges))
    }

    /// Whether it has no settings and replaces others as a whole.
    pub fn replaces_by_nothing(&self) -> bool {
        let mut parts = self.parts();
        !self.stanzas.is_empty() && self.is_empty() && parts.all(StanzaRef::is_whole)
    }
}
