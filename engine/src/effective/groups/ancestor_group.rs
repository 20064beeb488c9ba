//! Ancestor paths that carry the same policies.

use crate::effective::Stack;
use crate::effective::stacks::PathContext;
use crate::effective::subgraph::RulesReached;
use crate::model::shared::Shared;
use crate::topology::AncestorPaths;

/// Ancestor paths that carry the same policies.
#[derive(Clone, Debug)]
pub(super) struct AncestorGroup {
    pub(super) ancestor_paths: AncestorPaths,
    /// The conditions for policies further down the path: where requests come from, and which policies are rejected
    /// there.
    pub(super) path_context: PathContext,
    pub(super) stack: Shared<Stack>,
    pub(super) has_focus: bool,
    pub(super) attached: bool,
    /// The rules of the route that its requests reach, if not all.
    pub(super) reached: RulesReached,
}
