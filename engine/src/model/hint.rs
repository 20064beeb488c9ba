//! Suggestions for mistyped names, and lists of valid ones.

use std::cmp::Reverse;

/// The maximum length in characters of a name that is compared: the cost of a distance is the product of the lengths.
const MAX_NAME_LENGTH: usize = 64;
/// The maximum number of names that are compared.
const MAX_COMPARED_NAMES: usize = 128;

/// The name that was most likely meant: within two edits, or within a third of the length of a long name.
pub fn nearest<'a>(wrong: &str, names: &[&'a str]) -> Option<&'a str> {
    let length =
        Some(wrong.chars().take(MAX_NAME_LENGTH + 1).count()).filter(|n| *n <= MAX_NAME_LENGTH)?;
    let limit = 2.max(length / 3);
    let wrong = wrong.to_lowercase();
    let distance = |name: &str| {
        let is_near = name
            .chars()
            .take(length + limit + 1)
            .count()
            .abs_diff(length)
            <= limit;
        is_near.then(|| strsim::damerau_levenshtein(&wrong, &name.to_lowercase()))
    };
    let names = names.iter().take(MAX_COMPARED_NAMES);
    let scored = names.filter_map(|name| Some((distance(name)?, *name)));
    scored
        .filter(|(d, _)| *d <= limit)
        .min()
        .map(|(_, name)| name)
}

/// The field that was most likely meant: the nearest name, or else the one that begins alike for at least half of both names:
/// `retry` for `retries`.
pub fn nearest_field<'a>(wrong: &str, names: &[&'a str]) -> Option<&'a str> {
    let prefix = |name: &str| {
        let pairs = wrong.bytes().zip(name.bytes());
        pairs
            .take_while(|(one, other)| one.eq_ignore_ascii_case(other))
            .count()
    };
    let begins_alike =
        |name: &&&str| prefix(name) >= 3.max(wrong.len().max(name.len()).div_ceil(2));
    nearest(wrong, names).or_else(|| {
        let names = names.iter().take(MAX_COMPARED_NAMES).filter(begins_alike);
        let scored = names.map(|name| (Reverse(prefix(name)), *name));
        scored.min().map(|(_, name)| name)
    })
}

/// Whether two names are within this many edits of each other; long ones are not compared.
pub fn is_near(one: &str, other: &str, edits: usize) -> bool {
    let comparable = |name: &str| name.len() <= 4 * MAX_NAME_LENGTH;
    one.len().abs_diff(other.len()) <= 4 * edits
        && comparable(one)
        && comparable(other)
        && strsim::damerau_levenshtein(one, other) <= edits
}

/// A quoted name, truncated beyond the maximum length of names.
pub fn one(name: &str) -> String {
    const MAX_QUOTED_LENGTH: usize = 253;
    match name.char_indices().nth(MAX_QUOTED_LENGTH) {
        Some((end, _)) => format!("{:?}…", name.get(..end).unwrap_or_default()),
        None => format!("{name:?}"),
    }
}

/// A list of kinds. It shows more of them than [`quoted`] shows of users' names: there are few.
pub fn listed(kinds: &[String]) -> String {
    const MAX_KINDS: usize = 12;
    let mut list: Vec<String> = kinds.iter().take(MAX_KINDS).cloned().collect();
    if kinds.len() > MAX_KINDS {
        list.push(format!("{} more", kinds.len() - MAX_KINDS));
    }
    list.join(", ")
}

/// A list of quoted names, truncated to a few.
pub fn quoted(names: &[&str]) -> String {
    const MAX_NAMES: usize = 5;
    let mut list: Vec<String> = names
        .iter()
        .take(MAX_NAMES)
        .map(|name| format!("{name:?}"))
        .collect();
    if names.len() > MAX_NAMES {
        list.push(format!("{} more", names.len() - MAX_NAMES));
    }
    list.join(", ")
}
