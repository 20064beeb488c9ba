//! Candidate listeners of routes that differ only in their hostnames.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::topology::{AncestorPath, AncestorPaths, ListenerHostname};

/// An ancestor path that a route takes if the route shares a hostname with one of its listeners. Several listeners
/// may have the same name.
#[derive(Debug)]
pub(super) struct CandidateListener {
    pub(super) ancestor_path: Rc<AncestorPath>,
    pub(super) hostnames: Vec<ListenerHostname>,
}

/// Candidate listeners, sorted by path.
#[derive(Debug, Default)]
pub(super) struct CandidateListeners {
    each: Vec<CandidateListener>,
    /// Whether each of them has a listener that takes the requests for every hostname.
    open: bool,
    /// All paths, computed on first use.
    all: OnceCell<AncestorPaths>,
}

// === impl CandidateListeners ===

impl CandidateListeners {
    pub(super) fn new(mut each: Vec<CandidateListener>) -> Self {
        each.sort_by(|a, b| a.ancestor_path.cmp(&b.ancestor_path));
        each.dedup_by(|other, one| {
            let same = other.ancestor_path == one.ancestor_path;
            if same {
                one.hostnames.append(&mut other.hostnames);
            }
            same
        });
        let open = each
            .iter()
            .all(|listener| listener.hostnames.iter().any(ListenerHostname::is_open));
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
        list: impl FnOnce(&[&Rc<AncestorPath>]) -> AncestorPaths,
    ) -> Option<&AncestorPaths> {
        let all = || {
            list(
                &self
                    .each
                    .iter()
                    .map(|e| &e.ancestor_path)
                    .collect::<Vec<_>>(),
            )
        };
        (self.open || hostnames.is_empty()).then(|| self.all.get_or_init(all))
    }

    /// The number of hostnames to compare with those of a route.
    pub(super) fn hostname_count(&self) -> usize {
        self.each.iter().map(|e| e.hostnames.len()).sum()
    }

    /// The paths that a route with these hostnames takes.
    pub(super) fn fitting(
        &self,
        hostnames: &[Arc<str>],
    ) -> impl Iterator<Item = &Rc<AncestorPath>> {
        let takes = |listener: &&CandidateListener| {
            let mut theirs = listener.hostnames.iter();
            theirs.any(|theirs| theirs.takes(hostnames))
        };
        self.each
            .iter()
            .filter(takes)
            .map(|listener| &listener.ancestor_path)
    }
}
