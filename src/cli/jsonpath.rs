//! `-o jsonpath=TEMPLATE` as in kubectl: text, `{.path}`, `{range .path}…{end}` and `{"\n"}`. A library evaluates the
//! paths; this module translates kubectl's syntax to RFC 9535.

use std::borrow::Cow;
use std::fmt::Write as _;

use jsonpath_rust::JsonPath as _;
use serde_json::Value;

/// The characters that kubectl escapes in JSON.
const ESCAPED: [char; 5] = ['<', '>', '&', '\u{2028}', '\u{2029}'];
/// The parts of a path that are not supported, with their names. Neither RFC 9535 nor kubectl has
/// them.
const UNSUPPORTED: [(&str, &str); 3] = [
    ("=~", "regular expressions (=~)"),
    (" in ", "the operator in"),
    ("length()", "functions"),
];

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// Printed as it is.
    Text(String),
    /// The matching values, separated by spaces.
    Path(String),
    /// Repeated for each matching value.
    Range(String, Vec<Piece>),
}

// === impl Template ===

impl Template {
    /// Parses a template. A template without braces is a path.
    ///
    /// # Errors
    /// If a brace or range is not closed, or a path is not valid.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if !text.contains('{') {
            let without_dollar = text.trim_start_matches('$');
            let dot = if without_dollar.starts_with(['.', '[']) {
                ""
            } else {
                "."
            };
            return Ok(Self(vec![Piece::Path(path(&format!(
                "{dot}{without_dollar}"
            ))?)]));
        }
        let mut remaining = text;
        let pieces = pieces(&mut remaining, false)?;
        Ok(Self(pieces))
    }

    /// The text of the template for a document.
    pub(super) fn fill(&self, document: &Value) -> String {
        let mut text = String::new();
        fill(&self.0, document, &mut text);
        text
    }
}

fn fill(pieces: &[Piece], at: &Value, text: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Path(path) => {
                let values = at.query(path).unwrap_or_default();
                let texts: Vec<String> = values.into_iter().map(shown).collect();
                text.push_str(&texts.join(" "));
            }
            Piece::Range(path, within) => {
                for value in at.query(path).unwrap_or_default() {
                    fill(within, value, text);
                }
            }
        }
    }
}

/// A string as it is; everything else as JSON, with the characters of HTML escaped as kubectl does.
fn shown(value: &Value) -> String {
    let json = match value {
        Value::String(text) => return text.clone(),
        other => other.to_string(),
    };
    if !json.contains(ESCAPED) {
        return json;
    }
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if ESCAPED.contains(&c) {
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text
}

/// The pieces up to the end of the text, or of the range.
fn pieces(remaining: &mut &str, in_range: bool) -> Result<Vec<Piece>, String> {
    let mut read = Vec::new();
    while !remaining.is_empty() {
        let Some((before, after)) = remaining.split_once('{') else {
            read.push(Piece::Text((*remaining).to_owned()));
            *remaining = "";
            break;
        };
        if !before.is_empty() {
            read.push(Piece::Text(before.to_owned()));
        }
        let end = closing(after).ok_or_else(|| format!("jsonpath: {{{after} is not closed"))?;
        let action = after.get(..end).unwrap_or_default().trim();
        *remaining = after.get(end + 1..).unwrap_or_default();
        if action == "end" {
            return if in_range {
                Ok(read)
            } else {
                Err("jsonpath: {end} without {range}".to_owned())
            };
        }
        if let Some(over) = action.strip_prefix("range ") {
            let over = path(over.trim())?;
            read.push(Piece::Range(over, pieces(remaining, true)?));
        } else if action.starts_with(['"', '\'']) {
            read.push(Piece::Text(quoted(action)?));
        } else {
            read.push(Piece::Path(path(action)?));
        }
    }
    if in_range {
        return Err("jsonpath: {range} is not closed by {end}".to_owned());
    }
    Ok(read)
}

/// The index of the closing brace, ignoring quoted ones.
fn closing(text: &str) -> Option<usize> {
    let (mut quote, mut escaped) = (None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '}') => return Some(at),
            _ => {}
        }
    }
    None
}

fn quoted(action: &str) -> Result<String, String> {
    let wrong = || format!("jsonpath: {action} must be quoted");
    let inner = match action.strip_prefix('\'') {
        Some(after_quote) => after_quote
            .strip_suffix('\'')
            .ok_or_else(wrong)?
            .replace('"', "\\\""),
        None => action
            .strip_prefix('"')
            .and_then(|unquoted| unquoted.strip_suffix('"'))
            .ok_or_else(wrong)?
            .to_owned(),
    };
    serde_json::from_str(&format!("\"{inner}\"")).map_err(|_| wrong())
}

/// Translates a kubectl path to RFC 9535: with a root, and with names that are not identifiers in brackets.
fn path(text: &str) -> Result<String, String> {
    // The library accepts some of the unsupported parts.
    let unquoted = without_quoted(text);
    if UNSUPPORTED.iter().any(|(sign, _)| unquoted.contains(sign)) {
        return Err(unsupported(text));
    }
    let mut path = "$".to_owned();
    let mut remaining = text.strip_prefix(['$', '@']).unwrap_or(text);
    if !remaining.is_empty() && !remaining.starts_with(['.', '[']) {
        return Err(format!("jsonpath: {text:?} is not a path: write {{.name}}"));
    }
    while let Some(c) = remaining.chars().next() {
        if c == '[' {
            let end = bracket(remaining)
                .ok_or_else(|| format!("jsonpath: {text:?}: a bracket is not closed"))?;
            path.push_str(&of_present(remaining.get(..end).unwrap_or_default()));
            remaining = remaining.get(end..).unwrap_or_default();
            continue;
        }
        let dots = if remaining.starts_with("..") {
            ".."
        } else {
            "."
        };
        remaining = remaining.get(dots.len()..).unwrap_or_default();
        let (name, behind) = name(remaining);
        let written = remaining.len() - behind.len();
        let written = remaining.get(..written).unwrap_or_default();
        // kubectl ends a name there, and accepts nothing that may follow.
        if written.contains([' ', '|']) && !written.contains('\\') {
            return Err(unsupported(text));
        }
        remaining = behind;
        let deep = if dots == ".." { ".." } else { "" };
        if name == "*" {
            path.push_str(deep);
            path.push_str("[*]");
        } else if !name.is_empty() {
            path.push_str(deep);
            path.extend(["[", &Value::from(name).to_string(), "]"]);
        } else if dots == ".." && remaining.starts_with('[') {
            path.push_str("..");
        } else if !remaining.is_empty() && !remaining.starts_with('[') {
            return Err(format!("jsonpath: {text:?}: a name is missing"));
        }
    }
    match jsonpath_rust::parser::parse_json_path(&path) {
        Ok(_) => Ok(path),
        Err(_) => Err(unsupported(text)),
    }
}

/// The text without its quoted parts.
fn without_quoted(text: &str) -> String {
    let mut quote = None;
    let is_outside = |c: &char| match (quote, *c) {
        (Some(open), c) => {
            if c == open {
                quote = None;
            }
            false
        }
        (None, c @ ('"' | '\'')) => {
            quote = Some(c);
            false
        }
        (None, _) => true,
    };
    text.chars().filter(is_outside).collect()
}

/// The error for a path, with the part of it that is not supported.
fn unsupported(text: &str) -> String {
    let mut all = UNSUPPORTED.iter();
    match all.find(|(sign, _)| text.contains(sign)) {
        Some((_, name)) => format!("jsonpath: {text:?}: {name} are not supported"),
        None => format!("jsonpath: {text:?} is not a path"),
    }
}

/// Adds to a `!=` filter that its fields exist: for kubectl, `?(@.a!="b")` does not match an object
/// without `a`; for RFC 9535 it does.
fn of_present(bracket: &str) -> Cow<'_, str> {
    let filter = bracket
        .strip_prefix("[?(")
        .and_then(|inner| inner.strip_suffix(")]"));
    let sides = filter
        .filter(|filter| !filter.contains("&&") && !filter.contains("||"))
        .and_then(|filter| filter.split_once("!="));
    let Some((one, other)) = sides.map(|(one, other)| (one.trim(), other.trim())) else {
        return Cow::Borrowed(bracket);
    };
    let is_path = |side: &&str| side.starts_with(['@', '$']);
    let paths = [one, other].into_iter().filter(is_path);
    // A name in quotes may contain any character.
    if paths.clone().any(|path| path.contains(['"', '\''])) {
        return Cow::Borrowed(bracket);
    }
    let present: String = paths.flat_map(|path| [path, " && "]).collect();
    Cow::Owned(format!("[?({present}{one}!={other})]"))
}

/// A name up to the next dot or bracket; `\.` is a dot in the name.
fn name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' => return (name, text.get(at..).unwrap_or_default()),
            c => name.push(c),
        }
    }
    (name, "")
}

/// The index after the bracket that closes the first one, ignoring quoted ones.
fn bracket(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0_usize, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') if depth == 1 => return Some(at + 1),
            (None, ']') => depth = depth.saturating_sub(1),
            (None | Some(_), _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Template;

    #[test]
    fn templates_are_filled_as_kubectl_fills_them() {
        let document = json!({"items": [
            {"metadata": {"name": "a", "labels": {"app.kubernetes.io/name": "x"}}, "n": 1},
            {"metadata": {"name": "b", "labels": {}}, "n": 2},
        ]});
        for (template, filled) in [
            ("{.items[*].metadata.name}", "a b"),
            (".items[*].metadata.name", "a b"),
            ("items[0].metadata.name", "a"),
            ("{$.items[0].n}", "1"),
            ("{.items[-1].metadata.name}", "b"),
            ("{.items[?(@.n==2)].metadata.name}", "b"),
            ("{.items[?(@.metadata.name==\"a\")].n}", "1"),
            ("{.items[?(@.metadata.name=='a')].n}", "1"),
            ("{..name}", "a b"),
            (
                "{.items[0].metadata.labels.app\\.kubernetes\\.io/name}",
                "x",
            ),
            ("{.items[0]['metadata']['name']}", "a"),
            ("{.items[0].metadata['name']}", "a"),
            ("{.items[0:1].n}", "1"),
            ("{.items[*]['n']}", "1 2"),
            (
                "{range .items[*]}{.metadata.name}{\"\\t\"}{.n}{\"\\n\"}{end}",
                "a\t1\nb\t2\n",
            ),
            ("{range .items[*]}{@.n};{end}", "1;2;"),
            ("names: {.items[*].metadata.name}!", "names: a b!"),
            ("{.nothing}", ""),
            (
                "{.items[0].metadata}",
                "{\"labels\":{\"app.kubernetes.io/name\":\"x\"},\"name\":\"a\"}",
            ),
            ("{'it''s'}", "it''s"),
            ("{.items[?(@.n!=1)].metadata.name}", "b"),
            ("{.items[?(@.none!=1)].metadata.name}", ""),
            ("{.items[*]['n']} {.items[0,1].n}", "1 2 1 2"),
            ("{range .items}{@[0].n}{end}", "1"),
            ("{.items.n}", ""),
        ] {
            let read = Template::read(template).unwrap_or_else(|why| panic!("{template}: {why}"));
            assert_eq!(read.fill(&document), filled, "{template}");
        }
    }

    #[test]
    fn objects_are_json_as_kubectl_writes_it() {
        let document = json!({"o": {"b": "<v>", "a": null}, "text": "<v>", "l": [1, true]});
        for (template, filled) in [
            ("{.o}", "{\"a\":null,\"b\":\"\\u003cv\\u003e\"}"),
            ("{.text}", "<v>"),
            ("{.l} {.o.a}", "[1,true] null"),
        ] {
            assert_eq!(Template::read(template).unwrap().fill(&document), filled);
        }
    }

    #[test]
    fn what_is_not_supported_is_named() {
        for (template, named) in [
            ("{.a[?(@.b=~\"c\")]}", "regular expressions (=~)"),
            ("{.a[?(@.b in [\"c\"])]}", "the operator in"),
        ] {
            let why = Template::read(template).unwrap_err();
            assert!(why.contains(named), "{template}: {why}");
        }
    }

    #[test]
    fn what_is_no_template_is_refused() {
        for template in [
            "{.a",
            "{range .a}",
            "{end}",
            "{.a[}",
            "{a b}",
            "{.a[?(}",
            "{\"a}",
            "{.a[?(@.b=}",
            "{if .a}",
            "{.a | b}",
        ] {
            let why = Template::read(template).unwrap_err();
            assert!(why.starts_with("jsonpath: "), "{template}: {why}");
        }
    }
}
