//! All guardrails.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;

use crate::file::GuardrailFile;
use crate::guardrail::{Guardrail, GuardrailError};
use crate::variables::Functions;

/// The guardrails of a configuration, or of files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Vec<GuardrailFile>")]
pub struct Guardrails {
    all: Arc<[Arc<Guardrail>]>,
    functions: Functions,
}

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
        Ok(Self {
            all: all.into_iter().map(Arc::new).collect(),
            functions: Functions::default(),
        })
    }

    /// These guardrails and others; one of the others replaces one of the same name.
    #[must_use]
    pub fn with(&self, others: impl IntoIterator<Item = Arc<Guardrail>>) -> Self {
        let mut all: BTreeMap<String, Arc<Guardrail>> = BTreeMap::new();
        for one in self.all.iter().cloned().chain(others) {
            all.insert(one.name.clone(), one);
        }
        Self {
            all: all.into_values().collect(),
            functions: self.functions.clone(),
        }
    }

    /// The functions that their rules may call.
    pub fn functions(&self) -> &Functions {
        &self.functions
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Guardrail> {
        self.all.iter().map(AsRef::as_ref)
    }
}

impl TryFrom<Vec<GuardrailFile>> for Guardrails {
    type Error = GuardrailError;

    fn try_from(files: Vec<GuardrailFile>) -> Result<Self, GuardrailError> {
        Self::compile(&files)
    }
}
