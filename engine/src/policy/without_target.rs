//! Policies without a target: they are attached to their Namespace, or to every Namespace.

use std::sync::Arc;

use super::Policy;
use crate::model::selector::Labels;

// === impl Policy ===

impl Policy {
    /// The label of a Namespace because of which nothing in front of its Services reads this policy, if it has no target.
    pub(crate) fn unread_by(&self, labels: &Labels) -> Option<(&Arc<str>, &Arc<str>)> {
        let profile = &self.profile;
        match labels.first_of(&profile.namespaces_without_proxy) {
            // Pods with a proxy of their own are left out of the mode that the label is for.
            Some(_) if profile.has_own_proxies(labels) => None,
            Some(label) => {
                let needs_proxy = profile.unread_without_proxy_if.all_in_lazy(|| self.spec());
                needs_proxy.then_some(label)
            }
            None => labels.first_of(&profile.namespaces_without_mesh),
        }
    }

    /// Whether it is attached to every Namespace.
    pub fn is_for_all_namespaces(&self) -> bool {
        let own = &self.key().namespace;
        let mut targets = self.targets.iter();
        targets.any(|t| t.gk.is_core("Namespace") && t.object(own).is_none())
    }

    /// Whether it names no target, and its kind allows that.
    pub fn is_without_target(&self) -> bool {
        self.is_without_target
    }
}
