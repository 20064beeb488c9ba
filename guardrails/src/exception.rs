//! Exceptions from a guardrail: targets to which it does not apply until a day.

use attache_engine::model::ids::{GroupKind, ObjectKey};
use jiff::ToSpan as _;
use jiff::civil::Date;

use crate::annotated::{Annotated, day_named};
use crate::file::ExceptionFile;
use crate::matching::kind_named;

/// The number of days before its end from which an exception is reported.
const SOON: i64 = 30;

/// A target to which a guardrail does not apply for some time.
#[derive(Clone, Debug)]
pub struct Exception {
    kind: Option<GroupKind>,
    /// The namespace of the target.
    pub namespace: String,
    /// The name of the target.
    pub name: String,
    /// The last day.
    pub until: Date,
    /// The reason.
    pub reason: String,
    /// Whether it is in an annotation of the target, and not in the guardrail.
    pub is_annotated: bool,
}

// === impl Exception ===

impl Exception {
    /// Reads an exception.
    pub(crate) fn from_file(file: &ExceptionFile) -> Result<Self, (&'static str, String)> {
        let until = day_named(&file.until).ok_or_else(|| {
            let why = format!("{:?} is not a date; write it as 2027-03-31", file.until);
            ("until", why)
        })?;
        if file.reason.trim().is_empty() {
            return Err((
                "reason",
                "it is empty; write why it is an exception".to_owned(),
            ));
        }
        // No object has such a name: the exception would never hold.
        if file.target.name.contains('*') {
            let why = format!(
                "{:?} is not a name; an exception names one object. To exempt a namespace, use match.namespaceSelector",
                file.target.name
            );
            return Err(("target.name", why));
        }
        let kind = file.target.kind.as_deref().map(kind_named).transpose();
        Ok(Self {
            kind: kind.map_err(|why| ("target.kind", why))?,
            namespace: file.target.namespace.clone(),
            name: file.target.name.clone(),
            until,
            reason: file.reason.clone(),
            is_annotated: false,
        })
    }

    /// The exception that an annotation of a target asks for.
    pub(crate) fn of_annotation(target: &ObjectKey, annotated: &Annotated<'_>) -> Self {
        Self {
            kind: Some(target.gk.clone()),
            namespace: target.namespace.to_string(),
            name: target.name.to_string(),
            until: annotated.until,
            reason: annotated.reason.to_owned(),
            is_annotated: true,
        }
    }

    /// The kind of the target, if it names one.
    pub(crate) fn kind(&self) -> Option<&GroupKind> {
        self.kind.as_ref()
    }

    /// Whether it names a target.
    pub fn names(&self, target: &ObjectKey) -> bool {
        *self.namespace == *target.namespace
            && *self.name == *target.name
            && self.kind.as_ref().is_none_or(|kind| *kind == target.gk)
    }

    /// Whether its last day is near.
    pub fn ends_soon(&self, today: Date) -> bool {
        !self.is_over(today) && self.until < today.saturating_add(SOON.days())
    }

    /// A note for users about its end, if it has ended or ends soon; `None` otherwise.
    pub(crate) fn end(&self, today: Date) -> Option<String> {
        let until = self.until;
        if self.is_over(today) {
            Some(format!("ended on {until}: remove it"))
        } else {
            let soon = self.ends_soon(today);
            soon.then(|| format!("ends on {until}: {}", self.reason))
        }
    }

    /// Whether its last day is over.
    pub fn is_over(&self, today: Date) -> bool {
        self.until < today
    }
}
