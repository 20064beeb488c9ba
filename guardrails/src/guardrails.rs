//! All guardrails.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use attache_engine::admission::finding::{Code, Finding};
use serde::Deserialize;

use crate::file::GuardrailFile;
use crate::functions::Functions;
use crate::guardrail::{Guardrail, GuardrailError};

/// The guardrails of a configuration, or of files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Vec<GuardrailFile>")]
pub struct Guardrails {
    all: Arc<[Arc<Guardrail>]>,
    /// Those that were known before others were added.
    first: Arc<[Arc<Guardrail>]>,
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
        Self::new(all.collect::<Result<_, _>>()?)
    }

    /// These guardrails, in the order of their names.
    ///
    /// # Errors
    /// If two have the same name.
    pub fn new(mut all: Vec<Guardrail>) -> Result<Self, GuardrailError> {
        let mut names = BTreeSet::new();
        if let Some(double) = all.iter().find(|one| !names.insert(&*one.name)) {
            return Err(GuardrailError {
                name: double.name.clone(),
                field: "metadata.name".to_owned(),
                why: "two guardrails have this name".to_owned(),
            });
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        let all: Arc<[_]> = all.into_iter().map(Arc::new).collect();
        Ok(Self {
            first: Arc::clone(&all),
            all,
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
            first: Arc::clone(&self.first),
            functions: self.functions.clone(),
        }
    }

    /// A finding if an object of this name replaces a guardrail of the configuration.
    pub fn replaced_by(&self, name: &str) -> Option<Finding> {
        let replaced = self.first.iter().find(|one| one.name == name)?;
        let action = replaced.action.as_str();
        let message = format!(
            "it takes the place of the guardrail {name:?} of the configuration (action {action}); give it another name if both should hold"
        );
        let mut finding =
            Finding::new(Code::Guardrail, &replaced.key(), message).at("metadata.name");
        finding.warn();
        Some(finding)
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
