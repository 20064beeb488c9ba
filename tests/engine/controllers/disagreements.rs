//! The known disagreements, each with its reason.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::compare::Disagreement;

/// The reason of a disagreement that nobody has explained yet.
const UNEXPLAINED: &str = "";

/// Disagreements with one reason.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Known {
    pub(crate) reason: String,
    /// `<about>: <where>: <both answers>`.
    pub(crate) disagreements: Vec<String>,
}

pub(crate) fn read(path: &Path) -> Vec<Known> {
    let text = fs::read_to_string(path).unwrap_or_default();
    if text.trim().is_empty() {
        return Vec::new();
    }
    serde_saphyr::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn line(one: &Disagreement) -> String {
    format!("{}: {}: {}", one.about.word(), one.at, one.said)
}

/// Groups the disagreements by their known reasons; unexplained ones come first.
pub(crate) fn sorted(known: &[Known], found: &[Disagreement]) -> Vec<Known> {
    let mut reasons: BTreeMap<&str, &str> = BTreeMap::new();
    for group in known {
        for line in &group.disagreements {
            reasons.insert(line, &group.reason);
        }
    }
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in found {
        let line = line(one);
        let reason = reasons.get(line.as_str()).copied().unwrap_or(UNEXPLAINED);
        by_reason.entry(reason).or_default().push(line);
    }
    let groups = by_reason.into_iter().map(|(reason, mut disagreements)| {
        disagreements.sort();
        Known {
            reason: reason.to_owned(),
            disagreements,
        }
    });
    groups.collect()
}

pub(crate) fn write(known: &[Known]) -> String {
    let mut out = "# What attache and the recordings differ on, by reason. ATTACHE_BLESS=1 keeps it current; reasons are written by hand.\n".to_owned();
    if known.is_empty() {
        out.push_str("[]\n");
    }
    for group in known {
        writeln!(out, "- reason: {}", quoted(&group.reason)).unwrap();
        out.push_str("  disagreements:\n");
        for line in &group.disagreements {
            writeln!(out, "  - {}", quoted(line)).unwrap();
        }
    }
    out
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// The faults of the file: missing disagreements, obsolete ones, and ones without a reason.
pub(crate) fn differences(known: &[Known], found: &[Disagreement]) -> String {
    let mut wrong = String::new();
    let mut left: Vec<&str> = Vec::new();
    for group in known {
        if group.reason == UNEXPLAINED && !group.disagreements.is_empty() {
            let count = group.disagreements.len();
            writeln!(wrong, "{count} disagreements have no reason").unwrap();
        }
        left.extend(group.disagreements.iter().map(String::as_str));
    }
    for one in found {
        let line = line(one);
        match left.iter().position(|known| *known == line) {
            Some(at) => drop(left.swap_remove(at)),
            None => writeln!(wrong, "new: {line}").unwrap(),
        }
    }
    for gone in left {
        writeln!(wrong, "gone: {gone}").unwrap();
    }
    wrong
}
