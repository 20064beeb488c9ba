//! Lists of ancestor paths, which many groups of paths share.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

use super::AncestorPath;
use crate::model::ids::{PrehashedBuildHasher, hasher};

/// Ancestor paths in order. Lists are looked up far more often than created: the hash is computed once.
#[derive(Clone, PartialEq, Eq)]
pub struct AncestorPaths {
    hash: u64,
    paths: Rc<[Rc<AncestorPath>]>,
}

/// Shares equal lists, so that comparing them is cheap. Clones share the same lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedAncestorPaths(Rc<RefCell<HashSet<AncestorPaths, PrehashedBuildHasher>>>);

// === impl AncestorPaths ===

impl AncestorPaths {
    /// The list for paths that begin below the listeners: one path without steps.
    pub fn without_steps() -> Self {
        Self::from(vec![Rc::default()])
    }
}

impl fmt::Debug for AncestorPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.paths.fmt(f)
    }
}

impl From<Vec<Rc<AncestorPath>>> for AncestorPaths {
    fn from(paths: Vec<Rc<AncestorPath>>) -> Self {
        let mut hasher = hasher();
        for path in &paths {
            // The steps above follow from the last one, but for delegation.
            path.steps.last().hash(&mut hasher);
            path.consumer.hash(&mut hasher);
        }
        Self {
            hash: hasher.finish(),
            paths: paths.into(),
        }
    }
}

impl Deref for AncestorPaths {
    type Target = [Rc<AncestorPath>];

    fn deref(&self) -> &Self::Target {
        &self.paths
    }
}

impl Hash for AncestorPaths {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

// === impl SharedAncestorPaths ===

impl SharedAncestorPaths {
    /// The list of these paths.
    pub(crate) fn list(&self, paths: Vec<Rc<AncestorPath>>) -> AncestorPaths {
        let list = AncestorPaths::from(paths);
        let mut known = self.0.borrow_mut();
        if let Some(known) = known.get(&list) {
            return known.clone();
        }
        known.insert(list.clone());
        list
    }
}
