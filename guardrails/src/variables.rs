//! The variables of rules on one path.
//!
//! The CEL library copies a value when it becomes a variable, so all rules on a path share one scope. A variable is
//! added when a rule first uses it.

use std::fmt;
use std::sync::Arc;

use kube_cel::KubeCelExt as _;
use kube_cel::cel::{Context, Value};

use crate::cost::{Size, Sizes};

/// The values of an object as a variable.
pub(crate) const OTHER: usize = 32;

/// The functions that rules may call: those of CEL and of Kubernetes.
#[derive(Clone)]
pub struct Functions(Arc<Context<'static>>);

/// The variables of one path.
pub(crate) struct Variables<'f> {
    pub(crate) scope: Context<'f>,
    pub(crate) sizes: Sizes,
    /// Each variable that was asked for, and whether it is known.
    pub(crate) asked: Vec<(&'static str, bool)>,
}

// === impl Functions ===

impl Default for Functions {
    fn default() -> Self {
        Self(Arc::new(Context::default().with_all()))
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Functions").finish_non_exhaustive()
    }
}

// === impl Variables ===

impl<'f> Variables<'f> {
    pub(crate) fn with(functions: &'f Functions) -> Self {
        Self {
            scope: functions.0.new_inner_scope(),
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
