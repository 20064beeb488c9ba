//! Converts paths and names as people write them in profiles.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Paths are written from the root of the object and kept from `spec`.
pub(super) fn within_spec(path: &str) -> String {
    path.strip_prefix("spec.").unwrap_or(path).to_owned()
}

/// `spec.jwt` as a path within the settings; empty for `spec` alone.
pub(super) fn setting_path(dotted: &str) -> Vec<String> {
    match dotted {
        "spec" => Vec::new(),
        dotted => path(&within_spec(dotted)),
    }
}

/// A path within the settings, in the format of a profile.
pub(super) fn spec_path(path: &[String]) -> String {
    std::iter::once("spec")
        .chain(path.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(".")
}

pub(super) fn setting_paths(dotted: &[String]) -> Vec<Vec<String>> {
    dotted.iter().map(|path| setting_path(path)).collect()
}

/// The last field of a path, after the one above it.
pub(super) fn last_two(dotted: &str) -> [String; 2] {
    let (above, field) = dotted.rsplit_once('.').unwrap_or(("", dotted));
    let above = above.rsplit('.').next().unwrap_or_default();
    [above.to_owned(), field.to_owned()]
}

pub(super) fn paths(dotted: &[String]) -> Vec<Vec<String>> {
    dotted.iter().map(|dotted| path(dotted)).collect()
}

pub(super) fn path(dotted: &str) -> Vec<String> {
    dotted.split('.').map(str::to_owned).collect()
}

pub(super) fn pairs(labels: &BTreeMap<String, String>) -> Vec<(Arc<str>, Arc<str>)> {
    let labels = labels.iter();
    labels
        .map(|(label, value)| (label.as_str().into(), value.as_str().into()))
        .collect()
}

pub(super) fn texts(names: &[String]) -> Vec<Arc<str>> {
    names.iter().map(|name| name.as_str().into()).collect()
}
