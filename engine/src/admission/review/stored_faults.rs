//! Faults that the stored object already has: they never refuse an update, which may be about something else.

use crate::admission::finding::Finding;

/// Turns each of these findings into a warning that is also among those on the stored object.
pub(super) fn warn_of_stored(findings: &mut [Finding], stored: &[Finding]) {
    for finding in findings {
        let is_same =
            |other: &Finding| other.code == finding.code && other.subject == finding.subject;
        if stored.iter().any(is_same) {
            finding.warn();
        }
    }
}
