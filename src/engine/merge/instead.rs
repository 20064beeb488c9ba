//! What is in force of a policy in the place of settings that another one lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::branches::Branches;
use super::{Effective, Leaf, LeafPath};
use crate::engine::setting::Setting;

/// Settings of one policy: those that have the place of what was lost, or all where it has none for just these fields.
#[derive(Clone, Debug, Default)]
pub struct Instead {
    known: BTreeMap<LeafPath, Setting>,
    /// Results in which nothing is of anybody else, and to which everything was lost. A policy near the top loses to
    /// thousands of others so, and of few it is asked what they set.
    whole: Vec<Arc<Effective>>,
    lost: Option<Arc<[LeafPath]>>,
}

/// What is in force of one policy on some paths: in the place of what was lost, and beside it.
#[derive(Debug, Default)]
pub struct Sides {
    instead: Vec<(LeafPath, Setting)>,
    beside: Vec<(LeafPath, Setting)>,
}

// === impl Instead ===

impl Instead {
    /// Adds what is in force of it on some paths.
    pub fn add(&mut self, sides: Sides) {
        self.known.extend(sides.told());
    }

    /// Adds a result of one policy alone, to which all these settings were lost.
    pub fn add_whole(&mut self, result: &Arc<Effective>, lost: &Arc<[LeafPath]>) {
        let mut known = self.whole.iter();
        if !known.any(|known| known.address() == result.address()) {
            self.whole.push(result.clone());
            self.lost.get_or_insert_with(|| lost.clone());
        }
    }

    /// The settings.
    pub fn settings(&self) -> BTreeMap<LeafPath, Setting> {
        let mut settings = self.known.clone();
        let lost = Branches::of(self.lost.iter().flat_map(|lost| lost.iter()));
        for result in &self.whole {
            let mut sides = Sides::default();
            result.visit(&mut |path, leaf| sides.add(&lost, path, leaf));
            settings.extend(sides.told());
        }
        settings
    }
}

// === impl Sides ===

impl Sides {
    /// Adds a setting that is in force, by what was lost.
    pub fn add(&mut self, lost: &Branches<'_>, path: &LeafPath, leaf: &Leaf) {
        let side = match lost.on(path) {
            Some(_) => &mut self.instead,
            None => &mut self.beside,
        };
        side.push((path.clone(), leaf.value.clone()));
    }

    /// What is told of them.
    fn told(self) -> Vec<(LeafPath, Setting)> {
        if self.instead.is_empty() {
            self.beside
        } else {
            self.instead
        }
    }
}
