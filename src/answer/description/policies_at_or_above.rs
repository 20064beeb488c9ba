//! The policies that are attached at an object or above it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::model::ids::{ObjectKey, Place};
use crate::engine::model::level::Level;
use crate::engine::policy::Policy;
use crate::engine::status::conditions::TargetStatus;

/// The policies that are attached at an object or above it, by policy and by the place of attachment.
pub(super) type PoliciesAtOrAbove = BTreeMap<(ObjectKey, Place), PolicyAtOrAbove>;

/// A policy at an object or above it.
pub(super) struct PolicyAtOrAbove {
    pub(super) policy: Arc<Policy>,
    /// The level of the place that it is attached to.
    pub(super) level: Level,
    /// Its outcome on the paths through the object.
    pub(super) status: TargetStatus,
}
