//! Converts paths and names as people write them in profiles.

use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Keys within the settings, which people write from the root of the object: `spec.jwt.optional`. `spec` alone means all
/// settings.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema,
)]
#[serde(from = "String", into = "String")]
#[schemars(inline, description = "")]
pub struct SpecPath(Vec<String>);

// === impl SpecPath ===

impl From<String> for SpecPath {
    fn from(dotted: String) -> Self {
        Self(setting_path(&dotted))
    }
}

impl From<SpecPath> for String {
    fn from(path: SpecPath) -> Self {
        spec_path(&path)
    }
}

impl Deref for SpecPath {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

/// Paths are written from the root of the object and kept from `spec`.
pub(in crate::kinds::profile) fn within_spec(path: &str) -> String {
    path.strip_prefix("spec.").unwrap_or(path).to_owned()
}

/// `spec.jwt` as a path within the settings; empty for `spec` alone.
pub(in crate::kinds::profile) fn setting_path(dotted: &str) -> Vec<String> {
    match dotted {
        "spec" => Vec::new(),
        dotted => path(&within_spec(dotted)),
    }
}

/// A path within the settings, in the format of a profile.
pub(in crate::kinds::profile) fn spec_path(path: &[String]) -> String {
    std::iter::once("spec")
        .chain(path.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(".")
}

/// The last field of a path, after the one above it.
pub(in crate::kinds::profile) fn last_two(dotted: &str) -> [String; 2] {
    let (above, field) = dotted.rsplit_once('.').unwrap_or(("", dotted));
    let above = above.rsplit('.').next().unwrap_or_default();
    [above.to_owned(), field.to_owned()]
}

pub(in crate::kinds::profile) fn paths(dotted: &[String]) -> Vec<Vec<String>> {
    dotted.iter().map(|dotted| path(dotted)).collect()
}

pub(in crate::kinds::profile) fn path(dotted: &str) -> Vec<String> {
    dotted.split('.').map(str::to_owned).collect()
}

/// Reads what [`within_spec`] converts.
pub(in crate::kinds::profile) fn read_within_spec<'de, D: Deserializer<'de>>(
    file: D,
) -> Result<String, D::Error> {
    String::deserialize(file).map(|path| within_spec(&path))
}

/// Reads a list of what [`within_spec`] converts.
pub(in crate::kinds::profile) fn read_all_within_spec<'de, D: Deserializer<'de>>(
    file: D,
) -> Result<Vec<String>, D::Error> {
    let paths = Vec::<String>::deserialize(file)?;
    Ok(paths.iter().map(|path| within_spec(path)).collect())
}

/// Reads what [`path`] converts.
pub(in crate::kinds::profile) fn read_path<'de, D: Deserializer<'de>>(
    file: D,
) -> Result<Vec<String>, D::Error> {
    String::deserialize(file).map(|dotted| path(&dotted))
}
