//! The settings of a policy in a finding.

use std::cmp::Ordering;
use std::ops::Deref;
use std::sync::OnceLock;

use crate::merge::OverridingValues;
use crate::model::wording;

/// Settings, each `field=value`. They are formatted on demand: of thousands of findings, ten are reported.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    overriding: Option<Box<OverridingValues>>,
    words: OnceLock<Vec<String>>,
}

impl Deref for Settings {
    type Target = [String];

    fn deref(&self) -> &[String] {
        self.words.get_or_init(|| {
            let overriding = self.overriding.as_ref();
            overriding.map_or_else(Vec::new, |of| wording::settings(&of.settings()))
        })
    }
}

impl From<OverridingValues> for Settings {
    fn from(overriding: OverridingValues) -> Self {
        Self {
            overriding: Some(Box::new(overriding)),
            words: OnceLock::new(),
        }
    }
}

impl From<Vec<String>> for Settings {
    fn from(words: Vec<String>) -> Self {
        Self {
            overriding: None,
            words: OnceLock::from(words),
        }
    }
}

impl Ord for Settings {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl PartialOrd for Settings {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Settings {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Settings {}
