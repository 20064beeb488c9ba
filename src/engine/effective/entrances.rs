//! The ways in of routes that are alike but for their hostnames.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::engine::topology::{Upper, Uppers, takes_hostname};

/// A way in that routes take if they have a hostname in common with one of its listeners. There are several where
/// listeners have one name.
#[derive(Debug)]
pub(super) struct Entrance {
    pub(super) way: Rc<Upper>,
    pub(super) hostnames: Vec<Option<Arc<str>>>,
}

/// Ways in, sorted.
#[derive(Debug, Default)]
pub(super) struct Entrances {
    each: Vec<Entrance>,
    /// Whether no listener of them asks for a hostname.
    open: bool,
    /// All of them, once somebody has asked.
    all: OnceCell<Uppers>,
}

// === impl Entrances ===

impl Entrances {
    pub(super) fn new(mut each: Vec<Entrance>) -> Self {
        each.sort_by(|a, b| a.way.cmp(&b.way));
        each.dedup_by(|other, one| {
            let same = other.way == one.way;
            if same {
                one.hostnames.append(&mut other.hostnames);
            }
            same
        });
        let open = each
            .iter()
            .all(|entrance| entrance.hostnames.contains(&None));
        Self {
            each,
            open,
            all: OnceCell::new(),
        }
    }

    /// All ways, where routes with these hostnames take every one, as `list` puts them together.
    pub(super) fn all(
        &self,
        hostnames: &[Arc<str>],
        list: impl FnOnce(&[&Rc<Upper>]) -> Uppers,
    ) -> Option<&Uppers> {
        let all = || list(&self.each.iter().map(|e| &e.way).collect::<Vec<_>>());
        (self.open || hostnames.is_empty()).then(|| self.all.get_or_init(all))
    }

    /// How many hostnames there are to compare with those of a route.
    pub(super) fn hostnames(&self) -> usize {
        self.each.iter().map(|e| e.hostnames.len()).sum()
    }

    /// The ways that a route with these hostnames takes.
    pub(super) fn fitting(&self, hostnames: &[Arc<str>]) -> impl Iterator<Item = &Rc<Upper>> {
        let takes = |entrance: &&Entrance| {
            let mut theirs = entrance.hostnames.iter();
            theirs.any(|theirs| takes_hostname(theirs.as_deref(), hostnames))
        };
        self.each.iter().filter(takes).map(|entrance| &entrance.way)
    }
}
