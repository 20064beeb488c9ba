//! The policies of one kind at one place: one list, shared by every path through the place.

use std::cell::OnceCell;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use crate::merge::AtomicLevel;
use crate::model::ids::ObjectKey;
use crate::policy::Policy;

/// The policies, the established first. Facts about them that are the same on every path are computed once.
#[derive(Clone, Debug)]
pub struct PolicyList(Rc<List>);

#[derive(Debug)]
struct List {
    policies: Box<[Arc<Policy>]>,
    facts: OnceCell<Facts>,
}

#[derive(Clone, Copy, Debug)]
struct Facts {
    atomic: Option<AtomicLevel>,
    is_long: bool,
}

// === impl PolicyList ===

impl PolicyList {
    /// Whether the list contains a policy.
    pub fn has(&self, key: &ObjectKey) -> bool {
        self.iter().any(|policy| policy.key() == key)
    }

    /// The atomic level that they form; `None` if they merge.
    pub(super) fn atomic(&self) -> Option<AtomicLevel> {
        self.facts().atomic
    }

    /// Whether reading the settings of one of them costs more than their number suggests.
    pub(super) fn is_long(&self) -> bool {
        self.facts().is_long
    }

    fn facts(&self) -> &Facts {
        self.0.facts.get_or_init(|| Facts {
            atomic: AtomicLevel::summarize(self),
            is_long: self.iter().any(|policy| policy.reading_cost() > 0),
        })
    }
}

impl Deref for PolicyList {
    type Target = [Arc<Policy>];

    fn deref(&self) -> &[Arc<Policy>] {
        &self.0.policies
    }
}

impl From<Vec<Arc<Policy>>> for PolicyList {
    fn from(policies: Vec<Arc<Policy>>) -> Self {
        Self(Rc::new(List {
            policies: policies.into(),
            facts: OnceCell::new(),
        }))
    }
}
