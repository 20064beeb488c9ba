//! Findings in the words of one report: kinds by their names alone where no other kind has that name.

use crate::answer::report::{Report, Told};
use crate::cli::render::kind_names::Kinds;
use crate::engine::ids::GroupKind;

/// How a report calls its kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plain {
    kinds: Kinds,
    /// Kinds as messages have them, and by their names alone.
    shorter: Vec<(String, String)>,
}

// === impl Plain ===

impl Plain {
    /// Those of the objects and policies that a report names.
    pub(crate) fn of(report: &Report) -> Self {
        let named = report
            .findings
            .iter()
            .flat_map(|found| found.object.iter().chain(&found.related));
        let mut all: Vec<&GroupKind> = named.map(|named| &named.0.object.gk).collect();
        all.sort();
        all.dedup();
        let kinds = Kinds::among(all.iter().copied());
        let shorter = all.into_iter().filter_map(|gk| {
            let (long, short) = (gk.to_string(), kinds.name(gk));
            // Only before a name: a kind that is told by itself is told with its group.
            (long != short).then(|| (format!("{long} "), format!("{short} ")))
        });
        Self {
            shorter: shorter.collect(),
            kinds,
        }
    }

    /// `Gateway infra/edge`; nothing for a file.
    pub(crate) fn object(&self, finding: &Told) -> Option<String> {
        let object = finding.object.as_ref();
        object.map(|object| self.kinds.object(&object.0.object))
    }

    /// The field and the message.
    pub(crate) fn message(&self, finding: &Told) -> String {
        let mut message = super::message(finding);
        for (long, short) in &self.shorter {
            if message.contains(long) {
                message = message.replace(long, short);
            }
        }
        message
    }
}
