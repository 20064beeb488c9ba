//! The fuel that bounds the work of a review, and the cost of each operation.
//!
//! The work is a product: settings of policies times paths that the policies are attached to. A body may contain much
//! of one, and the state much of the other. Everything that grows this way is charged in units of fuel: one unit is
//! the time to merge one setting of one policy into an effective policy and to report it. The costs were measured
//! with `cargo bench --bench hostile`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::engine::model::maps::HashSet;
use crate::engine::policy::Policy;

/// Units of fuel for one side of a request: enough for seven hundred policies with fifty settings each, on a path of
/// its own each, and for the rest of the review.
pub(in crate::engine) const MOST: usize = 40_000;

/// Path length per additional unit of a setting, in bytes including [`KEY`] for each key.
pub(in crate::engine) const PATH: usize = 64;
/// Bytes of a key in addition to its text.
pub(in crate::engine) const KEY: usize = 8;
/// Leaves copied per unit.
pub(in crate::engine) const COPIED: usize = 32;
/// Policies, or stanzas of them, skipped per unit.
pub(in crate::engine) const PASSED_OVER: usize = 8;
/// Leaves looked up among the leaves of other policies per unit.
pub(in crate::engine) const LOOKED_UP: usize = 4;
/// Policy targets compared with an object per unit.
pub(in crate::engine) const SELECTED: usize = 4;
/// Objects compared with a selector per unit.
pub(in crate::engine) const SCANNED: usize = 4;
/// Objects found by a selector, or policies attached to an object, processed per unit.
pub(in crate::engine) const FOUND: usize = 2;
/// Steps of sorting the policies attached to an object per unit.
pub(in crate::engine) const SORTED: usize = 16;
/// Hostname comparisons per unit.
pub(in crate::engine) const HOSTNAMES: usize = 32;
/// Groups of paths per unit that carry the same policies as another group.
pub(in crate::engine) const GROUPS: usize = 4;
/// Paths compared one by one per unit.
pub(in crate::engine) const PATHS: usize = 4;
/// Units for a path with a policy stack of its own, in addition to the effective policy.
pub(in crate::engine) const FOLD: usize = 4;
/// Units for a mesh Service that clients may call and to which no route is attached.
pub(in crate::engine) const CALLED: usize = 6;
/// Bytes of JSON skipped per unit.
pub(in crate::engine) const SKIPPED: usize = 512;
/// Bytes of JSON read per unit.
pub(in crate::engine) const READ: usize = 256;
/// JSON values parsed per unit, in addition to the cost of settings.
pub(in crate::engine) const VALUES: usize = 16;
/// Values that a map among them counts as.
pub(in crate::engine) const MAP: usize = 8;
/// Bytes of long strings copied per unit.
pub(in crate::engine) const COPIED_BYTES: usize = 1024;
/// Bytes compared per unit.
pub(in crate::engine) const COMPARED: usize = 4096;

/// The maximum number of objects that are compared with the selectors of one policy to find selectors without a
/// match. If there are more, this is not checked.
pub(in crate::engine) const MOST_SELECTED: usize = 100_000;
/// The maximum number of references that are reported for one grant.
pub(in crate::engine) const MOST_REFERENCES: usize = 1_000;
/// The maximum number of routes whose attachment is compared before and after a change: each route may have hundreds
/// of hostnames and parents.
pub(in crate::engine) const MOST_ROUTES: usize = 250;
/// Comparisons with label selectors that may be made per reference.
pub(in crate::engine) const LOOKED_AT: usize = 100;
/// The maximum number of settings that one policy of the legacy dialect is compared with.
pub(in crate::engine) const MOST_COMPARED: usize = MOST;
/// The maximum number of conflicting fields that are reported for one policy on one target.
pub(in crate::engine) const MOST_CONFLICTS: usize = 1_000;

/// The remaining fuel. Clones share it.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Fuel {
    /// Remaining units; `None` if unlimited.
    left: Rc<Cell<Option<usize>>>,
    /// Addresses of the policies with long values whose reading has been charged.
    read: Rc<RefCell<HashSet<*const Policy>>>,
}

// === impl Fuel ===

impl Fuel {
    /// The fuel of one request.
    pub(in crate::engine) fn of_a_request() -> Self {
        Self {
            left: Rc::new(Cell::new(Some(MOST))),
            read: Rc::default(),
        }
    }

    /// Whether the fuel is limited.
    pub(in crate::engine) fn is_limited(&self) -> bool {
        self.left.get().is_some()
    }

    /// The remaining units.
    pub(in crate::engine) fn left(&self) -> usize {
        self.left.get().unwrap_or(usize::MAX)
    }

    /// Whether the fuel is used up. Answers from then on are not valid.
    pub(in crate::engine) fn is_spent(&self) -> bool {
        self.left.get() == Some(0)
    }

    /// Charges units.
    pub(in crate::engine) fn spend(&self, leaves: usize) {
        if let Some(left) = self.left.get() {
            self.left.set(Some(left.saturating_sub(leaves)));
        }
    }

    /// Charges for reading a policy's settings, once. The settings are cached for later requests, but an answer must
    /// not depend on earlier requests.
    pub(in crate::engine) fn read(&self, policy: &Policy) {
        let length = policy.length();
        if length > 0 && self.is_limited() && self.read.borrow_mut().insert(policy) {
            self.spend(length);
        }
    }
}
