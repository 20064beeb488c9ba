//! `normalize-targets`: corrects a version in `group`, `core` for the empty group, and the case of a kind.

use serde_json::Value;

use super::at_mut;
use crate::kinds::profile::Profile;
use crate::policy::{Fault, TargetEntry, entries, has_unread};

/// A correction of one field of an entry.
struct Fix {
    /// The JSON pointer, from `spec`.
    entry: String,
    field: &'static str,
    right: String,
}

/// A kind may be in the wrong case behind a group with two mistakes.
const ROUNDS: usize = 3;

/// Corrects the target references of a policy.
pub(super) fn normalize(object: &mut Value, profile: &Profile) {
    let kept: Vec<&str> = profile
        .refs
        .iter()
        .map(|field| &*field.path)
        .filter(|path| has_owned_entries(object, path))
        .collect();
    let spec = object.get_mut("spec");
    // Entries that are not read now would be read once another entry is removed.
    let Some(spec) = spec.filter(|spec| !has_unread(spec, profile)) else {
        return;
    };
    let mut normalized: Vec<String> = Vec::new();
    for _ in 0..ROUNDS {
        let entries = entries(spec, profile);
        let may = entries
            .iter()
            .filter(|entry| !kept.contains(&&*entry.field.path));
        let fixes: Vec<Fix> = may.filter_map(fix).collect();
        for fix in fixes {
            let entry = spec.pointer_mut(&fix.entry);
            if let Some(field) = entry.and_then(|entry| entry.get_mut(fix.field)) {
                *field = Value::String(fix.right);
                normalized.push(fix.entry);
            }
        }
    }
    fold(spec, profile, &normalized);
}

/// Whether a client applies the entries of a list one by one (server-side apply of a list keyed by group, kind and
/// name). A corrected entry would have no owner: it would remain when it is removed from the manifest.
fn has_owned_entries(object: &Value, path: &str) -> bool {
    let managers = object
        .get("metadata")
        .and_then(|meta| meta.get("managedFields")?.as_array());
    let mut applied = managers
        .into_iter()
        .flatten()
        .filter(|manager| manager.get("operation").is_some_and(|by| by == "Apply"));
    applied.any(|manager| {
        let mut fields = manager.get("fieldsV1").and_then(|all| all.get("f:spec"));
        for key in path.split('.') {
            fields = fields.and_then(|fields| fields.get(format!("f:{key}")));
        }
        let mut keys = fields.and_then(Value::as_object).into_iter().flatten();
        keys.any(|(key, _)| key.starts_with("k:"))
    })
}

fn fix(entry: &TargetEntry<'_>) -> Option<Fix> {
    let (field, right) = match (&entry.target, &entry.spelling) {
        (Err(Fault::Versioned(group)), _) => ("group", without_version(group)?),
        // A group for a missing one is only guessed.
        (Ok(_), Some(spelling)) if !spelling.written.is_empty() => {
            (spelling.field, spelling.right.clone())
        }
        _ => return None,
    };
    let path = entry.path.strip_prefix("spec.")?;
    let path = path.replace(['.', '['], "/").replace(']', "");
    let entry = format!("/{path}");
    Some(Fix {
        entry,
        field,
        right,
    })
}

/// The group of `group/version`; `None` unless it certainly has that form.
fn without_version(group: &str) -> Option<String> {
    let (group, version) = group.split_once('/')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let is_version = version.strip_prefix('v').is_some_and(|number| {
        let stages = ["alpha", "beta"].iter();
        let mut stages = stages.filter_map(|stage| number.split_once(stage));
        digits(number) || stages.any(|(major, minor)| digits(major) && digits(minor))
    });
    (is_version && !group.is_empty()).then(|| group.to_owned())
}

/// Removes entries that equal another one after the correction: the API server would reject both in a list keyed by
/// group and kind.
fn fold(spec: &mut Value, profile: &Profile, normalized: &[String]) {
    for field in profile.refs.iter().filter(|field| field.many) {
        let Some(Value::Array(items)) = at_mut(spec, &field.path) else {
            continue;
        };
        let base = field.path.replace('.', "/");
        for index in (0..items.len()).rev() {
            let pointer = format!("/{base}/{index}");
            let mut others = items
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != index);
            let item = items.get(index);
            if normalized.contains(&pointer) && others.any(|(_, other)| Some(other) == item) {
                items.remove(index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without_version;

    #[test]
    fn only_a_group_with_a_version_is_split() {
        let group_of = |group: &str| without_version(group);
        for version in ["v1", "v1alpha1", "v2beta12"] {
            let group = format!("example.com/{version}");
            assert_eq!(group_of(&group).as_deref(), Some("example.com"));
        }
        for odd in [
            "example.com/",
            "example.com/v",
            "example.com/v1/v2",
            "example.com/V1",
            "example.com/v1alpha",
            "example.com/v1gamma1",
            "example.com/Gateway",
            "/v1",
        ] {
            assert_eq!(group_of(odd), None, "{odd}");
        }
    }
}
