//! The values that replaced a policy's overridden settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::branches::Branches;
use super::{Effective, Leaf, LeafPath};
use crate::engine::setting::Setting;

/// Settings of one overriding policy: those that replaced the lost settings, or all of its settings if none replaced
/// exactly these fields.
#[derive(Clone, Debug, Default)]
pub struct Instead {
    known: BTreeMap<LeafPath, Setting>,
    /// Results of a single policy that overrides everything. A policy near the top loses to thousands of such
    /// policies, and the settings of only a few of them are needed.
    whole: Vec<Arc<Effective>>,
    lost: Option<Arc<[LeafPath]>>,
}

/// Settings of one policy that are in force on some paths: those that replace lost settings, and the others.
#[derive(Debug, Default)]
pub struct Sides {
    instead: Vec<(LeafPath, Setting)>,
    beside: Vec<(LeafPath, Setting)>,
}

// === impl Instead ===

impl Instead {
    /// Adds the settings in force on some paths.
    pub fn add(&mut self, sides: Sides) {
        self.known.extend(sides.told());
    }

    /// Adds a result of one policy alone, which overrides all of these settings.
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
    /// Adds a setting that is in force, by whether it replaces a lost one.
    pub fn add(&mut self, lost: &Branches<'_>, path: &LeafPath, leaf: &Leaf) {
        let side = match lost.on(path) {
            Some(_) => &mut self.instead,
            None => &mut self.beside,
        };
        side.push((path.clone(), leaf.value.clone()));
    }

    /// The settings to report.
    fn told(self) -> Vec<(LeafPath, Setting)> {
        if self.instead.is_empty() {
            self.beside
        } else {
            self.instead
        }
    }
}
