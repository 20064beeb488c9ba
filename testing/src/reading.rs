//! The table in `reading.yaml`: files, and the objects that kubectl and attache read from them.

use std::fs;

use serde::Deserialize;

/// A file, and the objects read from it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    pub file: String,
    /// The objects that kubectl reads.
    pub kubectl: Vec<String>,
    /// Whether kubectl fails.
    #[serde(default)]
    pub refused: bool,
    /// The objects that attache reads, if they differ.
    #[serde(default)]
    pub attache: Option<Vec<String>>,
    /// A part of attache's message.
    #[serde(default)]
    pub word: Option<String>,
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let table = crate::root().join("tests/hostile/reading.yaml");
    let text = fs::read_to_string(table).unwrap();
    serde_saphyr::from_str(&text).unwrap()
}

/// Encodes a text with the prefix `utf-16le:` or `utf-16be:` accordingly.
pub fn bytes(text: &str) -> Vec<u8> {
    let units = |text: &str| -> Vec<u16> { format!("\u{feff}{text}").encode_utf16().collect() };
    if let Some(text) = text.strip_prefix("utf-16le:") {
        return units(text).into_iter().flat_map(u16::to_le_bytes).collect();
    }
    if let Some(text) = text.strip_prefix("utf-16be:") {
        return units(text).into_iter().flat_map(u16::to_be_bytes).collect();
    }
    text.as_bytes().to_vec()
}
