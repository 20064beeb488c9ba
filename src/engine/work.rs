//! How much a review looks at, and what counts as how much.
//!
//! What policies do is a product: their settings, and the paths on which they stand. A body may have much of one and
//! the state much of the other. All that grows so is counted in leaves: the time in which one setting is taken from
//! one policy to what is in force, and told. The weights were found by `cargo bench --bench hostile`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::maps::HashSet;
use super::policy::Policy;

/// Leaves that are looked at for one side of a request, with what else there is to do: those of seven hundred policies
/// with fifty settings each on a path of its own.
pub(super) const MOST: usize = 40_000;

/// As much of a setting's path counts as one leaf more: bytes, and as many for each key.
pub(super) const PATH: usize = 64;
/// The bytes of a key beside its text.
pub(super) const KEY: usize = 8;
/// As many leaves are copied for one.
pub(super) const COPIED: usize = 32;
/// As many policies, or pieces of them, are passed over for one leaf.
pub(super) const PASSED_OVER: usize = 8;
/// As many leaves are looked up among those of others for one.
pub(super) const LOOKED_UP: usize = 4;
/// As many targets of policies are held against an object for one leaf.
pub(super) const SELECTED: usize = 4;
/// As many objects are held against a selector for one leaf.
pub(super) const SCANNED: usize = 4;
/// As many objects that a selector finds, or policies that stand at one, are looked after for one leaf.
pub(super) const FOUND: usize = 2;
/// As many steps of sorting the policies that stand at one object count as one leaf.
pub(super) const SORTED: usize = 16;
/// As many hostnames are held against one another for one leaf.
pub(super) const HOSTNAMES: usize = 32;
/// As many groups of paths that carry what others carry count as one leaf.
pub(super) const GROUPS: usize = 4;
/// As many paths are compared one by one for one leaf.
pub(super) const PATHS: usize = 4;
/// A path that carries what no other does counts as so many leaves, whatever is in force on it.
pub(super) const FOLD: usize = 4;
/// What clients of a mesh call, to which no route is attached, counts as so many leaves.
pub(super) const CALLED: usize = 6;
/// As many bytes of JSON are skipped for one leaf.
pub(super) const SKIPPED: usize = 512;
/// As many bytes of JSON are read for one leaf.
pub(super) const READ: usize = 256;
/// As many values of JSON are taken in for one leaf, beside what is counted as a setting.
pub(super) const VALUES: usize = 16;
/// A map among them counts as so many.
pub(super) const MAP: usize = 8;
/// As many bytes of long texts are taken in for one leaf.
pub(super) const COPIED_BYTES: usize = 1024;
/// As many bytes are compared for one leaf.
pub(super) const COMPARED: usize = 4096;

/// Objects that are held against the selectors of one policy to see whether each selects something: where there are
/// more, nobody asks.
pub(super) const MOST_SELECTED: usize = 100_000;
/// References that are told of one grant: of more the first.
pub(super) const MOST_REFERENCES: usize = 1_000;
/// Most routes of which is found out where they are attached before and after a change: each may have hundreds of
/// hostnames and parents.
pub(super) const MOST_ROUTES: usize = 250;
/// As many objects are held against labels for one of these references.
pub(super) const LOOKED_AT: usize = 100;
/// Settings that one policy of the older dialect is held against: others are not looked at.
pub(super) const MOST_COMPARED: usize = MOST;
/// Fields in conflict that are told of one policy on one target.
pub(super) const MOST_CONFLICTS: usize = 1_000;

/// What may still be looked at. Those who look share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// Leaves; none where there is no end.
    left: Rc<Cell<Option<usize>>>,
    /// The policies with long values whose reading has been counted, by their address.
    read: Rc<RefCell<HashSet<*const Policy>>>,
}

// === impl Work ===

impl Work {
    /// What a request may take.
    pub(super) fn of_a_request() -> Self {
        Self {
            left: Rc::new(Cell::new(Some(MOST))),
            read: Rc::default(),
        }
    }

    /// Whether there is an end to it.
    pub(super) fn is_limited(&self) -> bool {
        self.left.get().is_some()
    }

    /// How many leaves are left.
    pub(super) fn left(&self) -> usize {
        self.left.get().unwrap_or(usize::MAX)
    }

    /// Whether nothing is left: what is said from then on counts for nothing.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == Some(0)
    }

    /// Counts leaves.
    pub(super) fn spend(&self, leaves: usize) {
        if let Some(left) = self.left.get() {
            self.left.set(Some(left.saturating_sub(leaves)));
        }
    }

    /// Counts the reading of a policy's settings, once. It is kept for later requests, but an answer must not depend on
    /// those before it.
    pub(super) fn read(&self, policy: &Policy) {
        let length = policy.length();
        if length > 0 && self.is_limited() && self.read.borrow_mut().insert(policy) {
            self.spend(length);
        }
    }
}
