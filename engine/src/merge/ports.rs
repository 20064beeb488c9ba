//! The effective policy on the listeners of one port, for kinds with settings for single ports.

use std::sync::Arc;

use super::{EffectivePolicy, Merged};
use crate::kinds::profile::Profile;
use crate::policy::tree::Tree;

// === impl EffectivePolicy ===

impl EffectivePolicy {
    /// The effective policy on the listeners of a port, without the settings that its settings for
    /// that port replace. The policies must have been read without their settings for other ports.
    pub(crate) fn on_port(mut self, profile: &Profile) -> Self {
        let Some(ports) = profile.merging.ports.as_ref() else {
            return self;
        };
        let trees = match &mut self.result {
            Some(Merged::Settings(tree)) => std::slice::from_mut(tree),
            Some(Merged::SideBySide(trees)) => trees.as_mut_slice(),
            Some(Merged::Opaque(_)) | None => &mut [],
        };
        let is_set = |tree: &Tree, path: &[String]| tree.at(path).is_some();
        for tree in trees {
            for path in &ports.replaces {
                if is_set(tree, &ports.list) && is_set(tree, path) {
                    Arc::make_mut(tree).remove(path);
                }
            }
        }
        self
    }
}
