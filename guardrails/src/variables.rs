//! The variables of rules on one path.
//!
//! The CEL library copies a value when it becomes a variable, so all rules on a path share one scope. A variable is
//! added when a rule first uses it.

use kube_cel::cel::{Context, Value};

use crate::cost::{Size, Sizes};
use crate::functions::Functions;

/// The values of an object as a variable.
pub(crate) const OTHER: usize = 32;

/// The variables of one path.
pub(crate) struct Variables<'f> {
    pub(crate) scope: Context<'f>,
    pub(crate) sizes: Sizes,
    /// Each variable that was asked for, and whether it is known.
    pub(crate) asked: Vec<(&'static str, bool)>,
}

// === impl Variables ===

impl<'f> Variables<'f> {
    pub(crate) fn with(functions: &'f Functions) -> Self {
        Self {
            scope: functions.scope(),
            sizes: Sizes::default(),
            asked: Vec::new(),
        }
    }

    /// Adds a variable.
    pub(crate) fn add(&mut self, name: &'static str, value: Value, size: Size) {
        self.sizes.known.push((name, size));
        self.scope.add_variable_from_value(name, value);
    }
}
