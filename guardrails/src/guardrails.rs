//! All guardrails.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;

use crate::file::GuardrailFile;
use crate::guardrail::{Guardrail, GuardrailError};

/// The guardrails of a configuration, or of files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Vec<GuardrailFile>")]
pub struct Guardrails(Arc<[Arc<Guardrail>]>);

// === impl Guardrails ===

impl Guardrails {
    /// Compiles guardrails, in the order of their names.
    ///
    /// # Errors
    /// If one of them cannot be used, or two have the same name.
    pub fn compile(files: &[GuardrailFile]) -> Result<Self, GuardrailError> {
        let all = files.iter().map(Guardrail::compile);
        Self::of(all.collect::<Result<_, _>>()?)
    }

    /// These guardrails, in the order of their names.
    ///
    /// # Errors
    /// If two have the same name.
    pub fn of(mut all: Vec<Guardrail>) -> Result<Self, GuardrailError> {
        let mut names = BTreeSet::new();
        if let Some(double) = all.iter().find(|one| !names.insert(&*one.name)) {
            return Err(GuardrailError {
                name: double.name.clone(),
                field: "metadata.name".to_owned(),
                why: "two guardrails have this name".to_owned(),
            });
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self(all.into_iter().map(Arc::new).collect()))
    }

    /// These guardrails and others; one of the others replaces one of the same name.
    #[must_use]
    pub fn with(&self, others: impl IntoIterator<Item = Arc<Guardrail>>) -> Self {
        let mut all: BTreeMap<String, Arc<Guardrail>> = BTreeMap::new();
        for one in self.0.iter().cloned().chain(others) {
            all.insert(one.name.clone(), one);
        }
        Self(all.into_values().collect::<Vec<_>>().into())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Guardrail> {
        self.0.iter().map(AsRef::as_ref)
    }
}

impl TryFrom<Vec<GuardrailFile>> for Guardrails {
    type Error = GuardrailError;

    fn try_from(files: Vec<GuardrailFile>) -> Result<Self, GuardrailError> {
        Self::compile(&files)
    }
}
