//! Data that the resolvers of two snapshots share, so that their answers can be compared.

use crate::model::shared::Ids;
use crate::topology::SharedAncestorPaths;

/// The ids of stacks and effective policies, and the lists of ancestor paths. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Arena {
    pub(super) ids: Ids,
    pub(super) ancestors: SharedAncestorPaths,
}
