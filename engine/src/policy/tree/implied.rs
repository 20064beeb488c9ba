//! Settings that a policy does not set, with the value that its controller assumes.

use super::{Fields, Setting, Tree};

// === impl Tree ===

impl Tree {
    /// Adds a setting at a path, if the object around it is there and the setting is not.
    pub(crate) fn imply(&mut self, path: &[String], setting: impl FnOnce() -> Setting) {
        let Some((field, rest)) = path.split_first() else {
            return;
        };
        if let Self::Leaf(leaf) = self
            && leaf.value.is_empty_object()
            && rest.is_empty()
        {
            *self = Self::Map(Fields::default());
        }
        let Self::Map(fields) = self else {
            return;
        };
        match fields.get_mut(field) {
            Some(inner) => inner.imply(rest, setting),
            None if rest.is_empty() => {
                fields.insert(field.as_str().into(), Self::Leaf(setting()));
            }
            None => {}
        }
    }
}
