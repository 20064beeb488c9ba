//! Settings that are in force as a whole: a merged result, or one of several policies that are in force side by side.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::StanzaRef;
use super::tree::{Setting, Tree};
use crate::model::setting_path::SettingPath;

/// Settings that are in force as a whole.
#[derive(Clone, Copy, Debug)]
pub struct InForce<'a>(&'a Arc<Tree>);

// === impl InForce ===

impl<'a> InForce<'a> {
    /// Merged settings.
    pub(crate) fn from_tree(tree: &'a Arc<Tree>) -> Self {
        Self(tree)
    }

    /// The leaves, in the order of their paths; a leaf that removes something has the value `null`.
    pub fn leaves(self) -> Vec<(SettingPath, &'a Setting)> {
        let mut leaves = Vec::new();
        let mut keep = |path: &SettingPath, setting| leaves.push((path.clone(), setting));
        self.0.visit(&mut Vec::new(), &mut keep);
        leaves
    }

    /// The settings as JSON, without removed ones.
    pub fn json(self) -> Value {
        let settings = self.0.json("", &mut |_, _| {});
        settings.unwrap_or_else(|| Value::Object(Map::new()))
    }
}

// === impl StanzaRef ===

impl<'a> StanzaRef<'a> {
    /// Its settings, as if they were in force alone.
    pub fn as_in_force(self) -> InForce<'a> {
        InForce(self.tree())
    }
}
