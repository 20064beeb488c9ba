//! Errors of parsers in the words of users.

/// Messages of the YAML parser, each with the words for users.
const REMEDIES: [(&str, &str); 7] = [
    ("expected mapping start", "write a map"),
    ("expected sequence start", "write a list"),
    ("invalid boolean", "write true or false"),
    ("invalid u16", "write a whole number up to 65535"),
    ("invalid u32", "write a whole number"),
    ("invalid u64", "write a whole number"),
    ("unknown variant", "unknown value"),
];

/// An error of a parser without the names of types of the program. `file` is the file in which the error is.
pub(crate) fn plain(why: &str, file: &str) -> String {
    if let Some(mistyped) = mistyped(why) {
        return mistyped;
    }
    let named = why.replacen(" --> <input>:", &format!(" --> {file}:"), 1);
    REMEDIES
        .iter()
        .fold(named, |why, (said, meant)| why.replace(said, meant))
}

/// `it is 70000; write a whole number up to 65535`. `None` if an error is not about the type of a value.
fn mistyped(why: &str) -> Option<String> {
    let rest = why.strip_prefix("invalid type: ");
    let rest = rest.or_else(|| why.strip_prefix("invalid value: "))?;
    let (found, wanted) = rest.split_once(", expected ")?;
    let write = match wanted {
        "u16" => "a whole number up to 65535",
        "u8" | "u32" | "u64" | "usize" | "i64" => "a whole number",
        "a boolean" => "true or false",
        "a string" => "a string",
        "a sequence" => "a list",
        "a map" => "a map",
        _ if wanted.starts_with("struct ") => "a map",
        _ => return None,
    };
    let found = match found {
        "sequence" => "a list",
        "map" => "a map",
        "unit value" | "null" => "empty",
        _ => found.split_once(' ').map_or(found, |(_, value)| value),
    };
    Some(format!("it is {}; write {write}", found.trim_matches('`')))
}

/// Replaces the list of names in an error by the one that was most likely meant.
pub(super) fn with_hint(why: &str, wrong: &str, near: &str) -> String {
    let first = why.lines().next().unwrap_or_default();
    let Some((_, listed)) = first.split_once(&format!("`{wrong}`")) else {
        return why.to_owned();
    };
    why.replace(listed, &format!("; did you mean {near:?}?"))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn types_of_the_program_are_not_named() {
        for (why, said) in [
            (
                "invalid value: integer `70000`, expected u16",
                "it is 70000; write a whole number up to 65535",
            ),
            (
                "invalid type: string \"ana\", expected struct User",
                "it is \"ana\"; write a map",
            ),
            (
                "invalid type: sequence, expected a string",
                "it is a list; write a string",
            ),
            (
                "error: line 1 column 2: expected sequence start\n --> <input>:1:2",
                "error: line 1 column 2: write a list\n --> a.yaml:1:2",
            ),
        ] {
            assert_eq!(plain(why, "a.yaml"), said, "{why}");
        }
    }
}
