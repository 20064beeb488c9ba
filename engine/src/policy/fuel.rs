//! The fuel that bounds the work of a review, and the cost of each operation.
//!
//! The work is a product: settings of policies times paths that the policies are attached to. A body may contain much
//! of one, and the state much of the other. Everything that grows this way is charged in units of fuel: one unit is
//! the time to merge one setting of one policy into an effective policy and to report it. The costs were measured
//! with `cargo bench --bench hostile`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::{Policy, Variant};
use crate::model::ids::ObjectKey;
use crate::model::maps::HashSet;

/// Units of fuel for one side of a request: enough for seven hundred policies with fifty settings each, on a path of
/// its own each, and for the rest of the review.
pub(crate) const MAX_UNITS: usize = 40_000;

/// Path length per additional unit of a setting, in bytes including [`KEY`] for each key.
pub(crate) const PATH: usize = 64;
/// Bytes of a key in addition to its text.
pub(crate) const KEY: usize = 8;
/// Leaves copied per unit.
pub(crate) const COPIED: usize = 32;
/// Policies, or stanzas of them, skipped per unit.
pub(crate) const PASSED_OVER: usize = 8;
/// Leaves looked up among the leaves of other policies per unit.
pub(crate) const LOOKED_UP: usize = 4;
/// Policy targets compared with an object per unit.
pub(crate) const SELECTED: usize = 4;
/// Objects compared with a selector per unit.
pub(crate) const SCANNED: usize = 4;
/// Objects found by a selector, or policies attached to an object, processed per unit.
pub(crate) const FOUND: usize = 2;
/// Steps of sorting the policies attached to an object per unit.
pub(crate) const SORTED: usize = 16;
/// Hostname comparisons per unit.
pub(crate) const HOSTNAMES: usize = 32;
/// Groups of paths per unit that carry the same policies as another group.
pub(crate) const GROUPS: usize = 4;
/// Paths compared one by one per unit.
pub(crate) const PATHS: usize = 4;
/// Routes passed over per unit that name an object, once they are found.
pub(crate) const ROUTES: usize = 256;
/// Units for a path with a policy stack of its own, in addition to the effective policy.
pub(crate) const FOLD: usize = 4;
/// Units for a mesh Service that clients may call and to which no route is attached.
pub(crate) const CALLED: usize = 6;
/// Bytes of JSON skipped per unit.
pub(crate) const SKIPPED: usize = 512;
/// Bytes of JSON read per unit.
pub(crate) const READ: usize = 256;
/// JSON values parsed per unit, in addition to the cost of settings.
pub(crate) const VALUES: usize = 16;
/// Values that a map among them counts as.
pub(crate) const MAP: usize = 8;
/// Bytes of long strings copied per unit.
pub(crate) const COPIED_BYTES: usize = 1024;
/// Bytes compared per unit.
pub(crate) const COMPARED: usize = 4096;

/// The maximum number of objects that are compared with the selectors of one policy to find selectors without a
/// match. If there are more, this is not checked.
pub(crate) const MOST_SELECTED: usize = 100_000;
/// The maximum number of references that are reported for one grant.
pub(crate) const MOST_REFERENCES: usize = 1_000;
/// The maximum number of routes whose attachment is compared before and after a change: each route may have hundreds
/// of hostnames and parents.
pub(crate) const MOST_ROUTES: usize = 250;
/// Comparisons with label selectors that may be made per reference.
pub(crate) const LOOKED_AT: usize = 100;
/// The maximum number of settings that one policy of GEP-713 of 2021 is compared with.
pub(crate) const MOST_COMPARED: usize = MAX_UNITS;
/// The maximum number of conflicting fields that are reported for one policy on one target.
pub(crate) const MOST_CONFLICTS: usize = 1_000;

/// The remaining fuel. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fuel {
    /// Remaining units; `None` if unlimited.
    left: Rc<Cell<Option<usize>>>,
    /// The policies with long values whose reading has been charged.
    read: Rc<RefCell<HashSet<(ObjectKey, Variant)>>>,
}

// === impl Fuel ===

impl Fuel {
    /// The fuel of one request.
    pub(crate) fn of_a_request() -> Self {
        Self {
            left: Rc::new(Cell::new(Some(MAX_UNITS))),
            read: Rc::default(),
        }
    }

    /// Whether the fuel is limited.
    pub(crate) fn is_limited(&self) -> bool {
        self.left.get().is_some()
    }

    /// The remaining units.
    pub(crate) fn left(&self) -> usize {
        self.left.get().unwrap_or(usize::MAX)
    }

    /// Whether the fuel is used up. Answers from then on are not valid.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == Some(0)
    }

    /// Charges units.
    pub(crate) fn spend(&self, units: usize) {
        if let Some(left) = self.left.get() {
            self.left.set(Some(left.saturating_sub(units)));
        }
    }

    /// Charges for reading a policy's settings, once. The settings are cached for later requests, but an answer must
    /// not depend on earlier requests.
    pub(crate) fn read(&self, policy: &Policy) {
        let length = policy.reading_cost();
        if length == 0 || !self.is_limited() {
            return;
        }
        let name = (policy.key().clone(), policy.variant());
        if self.read.borrow_mut().insert(name) {
            self.spend(length);
        }
    }
}
