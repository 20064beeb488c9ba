//! Kinds in a report without their group, unless two kinds share a name.

use crate::answer::report::{Report, ReportedFinding};
use crate::cli::render::kind_names::Kinds;
use crate::engine::model::ids::GroupKind;

/// The names of the kinds in a report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plain {
    kinds: Kinds,
    /// Kinds as messages spell them, and their short names.
    shorter: Vec<(String, String)>,
}

// === impl Plain ===

impl Plain {
    /// The names of the kinds of all objects and policies in a report.
    pub(crate) fn from_report(report: &Report) -> Self {
        let named = report
            .findings
            .iter()
            .flat_map(|finding| finding.object.iter().chain(&finding.related));
        let mut all: Vec<&GroupKind> = named.map(|named| &named.0.object.gk).collect();
        all.sort();
        all.dedup();
        let kinds = Kinds::among(all.iter().copied());
        let shorter = all.into_iter().filter_map(|gk| {
            let (long, short) = (gk.to_string(), kinds.name(gk));
            // Only before a name: a kind on its own keeps its group.
            (long != short).then(|| (format!("{long} "), format!("{short} ")))
        });
        Self {
            shorter: shorter.collect(),
            kinds,
        }
    }

    /// `Gateway infra/edge`. `None` for a file.
    pub(crate) fn object(&self, finding: &ReportedFinding) -> Option<String> {
        let object = finding.object.as_ref();
        object.map(|object| self.kinds.object(&object.0.object))
    }

    /// The field and the message.
    pub(crate) fn message(&self, finding: &ReportedFinding) -> String {
        let mut message = super::message(finding);
        for (long, short) in &self.shorter {
            if message.contains(long) {
                message = message.replace(long, short);
            }
        }
        message
    }
}
