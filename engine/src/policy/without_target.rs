//! Policies without a target: they are attached to their Namespace, or to every Namespace.

use super::Policy;

// === impl Policy ===

impl Policy {
    /// Whether only proxies read it where it has no target, and Services of some Namespaces have none in front of them.
    pub(crate) fn needs_proxy(&self) -> bool {
        let when = &self.profile.no_proxy_when;
        !self.profile.no_proxy_labels.is_empty() && when.all_in_lazy(|| self.spec())
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
