//! What was most likely meant, and what there is to choose from.

/// Characters of a name beyond which nobody mistypes it by a letter or two: distances take the product.
const LONGEST: usize = 64;
/// Names that are compared.
const MOST: usize = 128;

/// The name that was most likely meant: within two edits, or a third of the length of long names.
pub fn nearest<'a>(wrong: &str, names: &[&'a str]) -> Option<&'a str> {
    let length = Some(wrong.chars().take(LONGEST + 1).count()).filter(|n| *n <= LONGEST)?;
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
    let names = names.iter().take(MOST);
    let scored = names.filter_map(|name| Some((distance(name)?, *name)));
    scored
        .filter(|(d, _)| *d <= limit)
        .min()
        .map(|(_, name)| name)
}

/// Whether two names are within so few edits of each other; long ones are not compared.
pub fn is_near(one: &str, other: &str, edits: usize) -> bool {
    let comparable = |name: &str| name.len() <= 4 * LONGEST;
    one.len().abs_diff(other.len()) <= 4 * edits
        && comparable(one)
        && comparable(other)
        && strsim::damerau_levenshtein(one, other) <= edits
}

/// A name in quotes, cut where no name goes on.
pub fn one(name: &str) -> String {
    const MOST: usize = 253;
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}…", name.get(..end).unwrap_or_default()),
        None => format!("{name:?}"),
    }
}

/// Names of kinds, more of them than of names that users give: there are few.
pub fn listed(kinds: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut list: Vec<String> = kinds.iter().take(SHOWN).cloned().collect();
    if kinds.len() > SHOWN {
        list.push(format!("{} more", kinds.len() - SHOWN));
    }
    list.join(", ")
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
