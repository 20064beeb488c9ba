//! Values in policies and annotations, as profiles name them: the paths to them, what they have to be, and the conditions
//! that combine these.
//!
//! Nothing here says what follows from a condition: that is a fact of its own, in [`rejection`](super::rejection),
//! [`in_force`](super::in_force) and the others beside it.

mod addresses;
mod annotation_value;
pub(super) mod at_path;
mod condition;
mod open_rules;
pub(super) mod paths;
mod wanted;

pub(super) use annotation_value::AnnotationsFile;
pub use condition::{FieldConditions, PolicyCondition};
pub(super) use open_rules::{OpenRules, Passing};
pub use paths::SpecPath;
