//! Candidate listeners of routes that differ only in their hostnames.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::engine::topology::{Upper, Uppers, takes_hostname};

/// An ancestor path that a route takes if the route shares a hostname with one of its listeners. Several listeners
/// may have the same name.
#[derive(Debug)]
pub(super) struct Entrance {
    pub(super) way: Rc<Upper>,
    pub(super) hostnames: Vec<Option<Arc<str>>>,
}

/// Candidate listeners, sorted by path.
#[derive(Debug, Default)]
pub(super) struct Entrances {
    each: Vec<Entrance>,
    /// Whether each of them has a listener without a hostname.
    open: bool,
    /// All paths, computed on first use.
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

    /// All paths, as combined by `list`, if a route with these hostnames takes every one of them.
    pub(super) fn all(
        &self,
        hostnames: &[Arc<str>],
        list: impl FnOnce(&[&Rc<Upper>]) -> Uppers,
    ) -> Option<&Uppers> {
        let all = || list(&self.each.iter().map(|e| &e.way).collect::<Vec<_>>());
        (self.open || hostnames.is_empty()).then(|| self.all.get_or_init(all))
    }

    /// The number of hostnames to compare with those of a route.
    pub(super) fn hostnames(&self) -> usize {
        self.each.iter().map(|e| e.hostnames.len()).sum()
    }

    /// The paths that a route with these hostnames takes.
    pub(super) fn fitting(&self, hostnames: &[Arc<str>]) -> impl Iterator<Item = &Rc<Upper>> {
        let takes = |entrance: &&Entrance| {
            let mut theirs = entrance.hostnames.iter();
            theirs.any(|theirs| takes_hostname(theirs.as_deref(), hostnames))
        };
        self.each.iter().filter(takes).map(|entrance| &entrance.way)
    }
}
