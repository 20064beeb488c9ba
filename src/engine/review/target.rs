//! What is said of a target: the policies that will act on it, and those on it that cannot.

use crate::engine::affected::{Acting, standing_over};
use crate::engine::effective::Survey;
use crate::engine::finding::{Code, Finding};
use crate::engine::ids::ObjectKey;
use crate::engine::object::Object;
use crate::engine::snapshot::{Change, Snapshot};

use super::words;

/// Findings on a target as it will be once it is admitted.
pub(super) fn findings(snapshot: &Snapshot, object: Object) -> Vec<Finding> {
    let key = object.key.clone();
    let after = snapshot.apply(Change::Applied(Box::new(object)));
    let standing = standing_over(&mut Survey::new(&after), &key);
    standing
        .iter()
        .filter_map(|acting| finding(&key, acting))
        .collect()
}

fn finding(object: &ObjectKey, acting: &Acting) -> Option<Finding> {
    let policy = acting.policy.key();
    let on_it = acting.stands.iter().any(|place| place.object == *object);
    let (code, from) = if acting.acts() {
        (Code::AffectedBy, &acting.from)
    } else if on_it && !acting.by.is_empty() {
        (Code::Overridden, &acting.stands)
    } else {
        return None;
    };
    let mut finding = Finding::new(code, object, policy.to_string()).about(policy.to_string());
    finding.tells_of = Some(policy.clone());
    finding.settings = words::settings(&acting.settings);
    finding.source = words::origin(object, from);
    Some(finding)
}
