//! The objects of a state, and what of it could not be read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::missing_parts;
use super::say_missing_parts;
use crate::cache::directory::{self, Duplicate};
use crate::cache::lists::{Listed, Missing};
use crate::cache::manifest::{Manifests, Origin, Problem};
use crate::cli::watch::WatchedState;
use crate::engine::admission::verdict::escape;
use crate::engine::kinds::profile::ProfileRules;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::Object;
use crate::engine::state::snapshot::Snapshot;

/// The objects of a state.
#[derive(Clone, Debug)]
pub(in super::super) struct View {
    pub(in super::super) snapshot: Snapshot,
    /// The objects with their whole specs, in the order of files.
    pub(in super::super) objects: Vec<Object>,
    /// Objects from files without a creation time.
    pub(in super::super) undated: BTreeSet<ObjectKey>,
    /// The position of each object in its file.
    pub(in super::super) origins: BTreeMap<ObjectKey, Origin>,
    /// Kinds and objects of a cluster that could not be read.
    pub(in super::super) missing: Vec<Missing>,
    /// Objects that the files define more than once.
    pub(in super::super) duplicates: Vec<Duplicate>,
    /// Files, or parts of them, that could not be used.
    pub(in super::super) problems: Vec<Problem>,
    /// The profile rules for policy kinds, without CRDs.
    pub(in super::super) rules: Arc<ProfileRules>,
}

// === impl View ===

impl View {
    /// A complete state.
    pub(in super::super) fn complete(snapshot: Snapshot, rules: &Arc<ProfileRules>) -> Self {
        let listed = Listed {
            snapshot,
            ..Listed::default()
        };
        Self::listed(listed, rules)
    }

    /// The objects that were read from files.
    pub(in super::super) fn of_files(loaded: directory::Loaded, rules: Arc<ProfileRules>) -> Self {
        let refused: Vec<Problem> = loaded.refused().collect();
        Self {
            problems: loaded.problems.into_iter().chain(refused).collect(),
            snapshot: loaded.snapshot,
            objects: loaded.objects,
            undated: loaded.undated,
            origins: loaded.origins,
            duplicates: loaded.duplicates,
            missing: Vec::new(),
            rules,
        }
    }

    /// The objects that were listed from a cluster.
    pub(in super::super) fn listed(listed: Listed, rules: &Arc<ProfileRules>) -> Self {
        Self {
            snapshot: listed.snapshot,
            objects: listed.objects,
            undated: BTreeSet::new(),
            origins: BTreeMap::new(),
            missing: listed.missing,
            duplicates: Vec::new(),
            problems: Vec::new(),
            rules: Arc::clone(rules),
        }
    }

    /// Prints to standard error what could not be read or is written twice, so that nobody takes a partial answer for a
    /// complete one.
    pub(in super::super) fn say_what_is_missing(&self) {
        say_missing_parts(&self.missing_lines());
    }

    /// Prints to standard error the policy kinds without a CRD among the files, and the kinds that look like policy kinds and are not
    /// known. In a cluster every object has its CRD.
    pub(in super::super) fn say_what_is_undefined(&self) {
        let is_of_files = !self.origins.is_empty();
        if is_of_files {
            missing_parts::say_undefined(&self.snapshot, self.origins.keys());
        }
    }

    /// The same for a state and manifests that are applied on top of it.
    pub(in super::super) fn say_what_is_undefined_with(&self, change: &directory::Loaded) {
        let objects: BTreeSet<&ObjectKey> =
            self.origins.keys().chain(change.origins.keys()).collect();
        let mut lines = missing_parts::unknown(&change.snapshot, objects.into_iter());
        if !self.origins.is_empty() {
            let kinds: Vec<&GroupKind> = self.snapshot.undefined_kinds().collect();
            lines.extend(missing_parts::without_crd(&kinds));
        }
        for line in lines {
            eprintln!("attache: {line}");
        }
    }

    /// Checks that an object exists or is known not to exist.
    ///
    /// # Errors
    /// If it could not be read.
    pub(in super::super) fn read(&self, key: &ObjectKey) -> Result<(), String> {
        if self.snapshot.get(key).is_some() || self.snapshot.lacks(key) {
            return Ok(());
        }
        missing_parts::why_not(&self.missing, key).map_or(Ok(()), Err)
    }

    /// Everything that could not be read or is not part of the answer, one line each.
    pub(in super::super) fn missing_lines(&self) -> Vec<String> {
        let known = |gk: &&GroupKind| self.snapshot.knows(gk);
        let policies = self.snapshot.policy_kinds().filter(known);
        let policies: Vec<GroupKind> = policies.cloned().collect();
        let problems = self
            .problems
            .iter()
            .map(|problem| escape(&problem.to_string()));
        problems
            .chain(directory::written_twice(&self.duplicates))
            .chain(missing_parts::lines(&self.missing, &policies))
            .collect()
    }

    /// Applies manifests on top of this state, as one change.
    pub(in super::super) fn with(
        &self,
        manifests: Manifests,
        namespace: &str,
    ) -> directory::Loaded {
        directory::Loaded::on(Some(&self.snapshot), manifests, &self.rules, namespace)
    }
}

impl WatchedState for View {
    fn missing_lines(&self) -> Vec<String> {
        Self::missing_lines(self)
    }
}
