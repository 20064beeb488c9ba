//! What was most likely meant, and what there is to choose from.

/// The name that was most likely meant: within two edits, or a third of the length of long names.
pub fn nearest<'a>(wrong: &str, names: &[&'a str]) -> Option<&'a str> {
    let limit = 2.max(wrong.chars().count() / 3);
    let distance =
        |name: &str| strsim::damerau_levenshtein(&wrong.to_lowercase(), &name.to_lowercase());
    let scored = names.iter().map(|name| (distance(name), *name));
    scored
        .filter(|(d, _)| *d <= limit)
        .min()
        .map(|(_, name)| name)
}

/// Names in quotes, a few of them.
pub fn quoted(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let mut list: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("{name:?}"))
        .collect();
    if names.len() > SHOWN {
        list.push(format!("{} more", names.len() - SHOWN));
    }
    list.join(", ")
}
