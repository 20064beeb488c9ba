//! Reads Rust source as text: the paths that it names.

/// `src/cache/watch.rs` is `[cache, watch]`; `src/lib.rs` is the root. Modules of the engine's package begin with
/// `engine`.
pub(crate) fn module_of(path: &str) -> Vec<String> {
    if let Some(path) = path.strip_prefix("engine/src/") {
        let mut parts = vec!["engine".to_owned()];
        parts.extend(module_of(path));
        return parts;
    }
    let path = path.strip_prefix("src/").unwrap_or(path);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
    if parts.len() > 1 && parts.last().is_some_and(|last| last == "mod") || parts == ["lib"] {
        parts.pop();
    }
    parts
}

/// The text with comments, strings and characters blanked; line numbers stay the same.
pub(crate) fn without_text(text: &str) -> String {
    let source: Vec<char> = text.chars().collect();
    let at = |i: usize| source.get(i).copied().unwrap_or('\0');
    let mut out = String::with_capacity(text.len());
    let mut i = 0;
    while i < source.len() {
        let end = match at(i) {
            '/' if at(i + 1) == '/' => (i..source.len())
                .find(|&j| at(j) == '\n')
                .unwrap_or(source.len()),
            '/' if at(i + 1) == '*' => {
                let (mut depth, mut j) = (1, i + 2);
                while j < source.len() && depth > 0 {
                    match (at(j), at(j + 1)) {
                        ('/', '*') => (depth, j) = (depth + 1, j + 2),
                        ('*', '/') => (depth, j) = (depth - 1, j + 2),
                        _ => j += 1,
                    }
                }
                j
            }
            'r' if (at(i + 1) == '"' || at(i + 1) == '#') && !in_word(&source, i) => {
                let hashes = (i + 1..source.len()).take_while(|&j| at(j) == '#').count();
                if at(i + 1 + hashes) == '"' {
                    let mut close = vec!['"'];
                    close.extend(std::iter::repeat_n('#', hashes));
                    (i + 2 + hashes..source.len())
                        .find(|&j| source[j..].starts_with(&close))
                        .map_or(source.len(), |j| j + close.len())
                } else {
                    i
                }
            }
            '"' => {
                let mut j = i + 1;
                while j < source.len() && at(j) != '"' {
                    j += if at(j) == '\\' { 2 } else { 1 };
                }
                j + 1
            }
            // A character, not a lifetime.
            '\'' if at(i + 1) == '\\' => (i + 3..source.len())
                .find(|&j| at(j) == '\'')
                .map_or(source.len(), |j| j + 1),
            '\'' if at(i + 2) == '\'' => i + 3,
            _ => i,
        };
        if end > i {
            let end = end.min(source.len());
            out.extend(
                source[i..end]
                    .iter()
                    .map(|&c| if c == '\n' { '\n' } else { ' ' }),
            );
            i = end;
        } else {
            out.push(at(i));
            i += 1;
        }
    }
    out
}

/// Whether the letter at `i` continues a word (`br"…"` begins a string, `for"` does not).
fn in_word(source: &[char], i: usize) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    i > 0 && word(source[i - 1]) && !(source[i - 1] == 'b' && (i < 2 || !word(source[i - 2])))
}

/// Words, `::` and single characters, each with its line.
pub(crate) fn tokens(text: &str) -> Vec<(usize, String)> {
    let mut tokens = Vec::new();
    for (line, text) in text.lines().enumerate() {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let end = if first.is_alphanumeric() || first == '_' {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_')
                    .unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push((line + 1, rest[..end].to_owned()));
            rest = rest[end..].trim_start();
        }
    }
    tokens
}

/// A path in the source, made absolute if it begins with `super` or `self`.
#[derive(Debug, PartialEq)]
pub(crate) struct Named {
    pub(crate) line: usize,
    pub(crate) path: Vec<String>,
    /// Whether a `use` names it.
    pub(crate) is_import: bool,
}

/// Every path of two names or more, every import (trees expanded), `async`, and the items that keep a state of the
/// process: `static` and `thread_local!`.
pub(crate) fn names(tokens: &[(usize, String)], own_module: &[String]) -> Vec<Named> {
    let token = |i: usize| tokens.get(i).map_or("", |(_, text)| text.as_str());
    let mut found = Vec::new();
    // Open inline modules: the depth of braces outside each.
    let mut inline: Vec<usize> = Vec::new();
    let mut module = own_module.to_vec();
    let (mut depth, mut i) = (0_usize, 0);
    while i < tokens.len() {
        match token(i) {
            "mod" if token(i + 2) == "{" => {
                module.push(token(i + 1).to_owned());
                inline.push(depth);
                depth += 1;
                i += 3;
            }
            "{" => {
                depth += 1;
                i += 1;
            }
            "}" => {
                depth = depth.saturating_sub(1);
                if inline.last() == Some(&depth) {
                    inline.pop();
                    module.pop();
                }
                i += 1;
            }
            "async" => {
                found.push(Named {
                    line: tokens[i].0,
                    path: vec!["async".to_owned()],
                    is_import: false,
                });
                i += 1;
            }
            // A state of the process, not a lifetime.
            "static" if i == 0 || token(i - 1) != "'" => {
                found.push(Named {
                    line: tokens[i].0,
                    path: vec!["static".to_owned()],
                    is_import: false,
                });
                i += 1;
            }
            "thread_local" if token(i + 1) == "!" => {
                found.push(Named {
                    line: tokens[i].0,
                    path: vec!["thread_local".to_owned()],
                    is_import: false,
                });
                i += 1;
            }
            text if is_word(text) && text != "use" => {
                let before = |n: usize| if n > i { "" } else { token(i - n) };
                let import = before(1) == "use" || before(1) == "::" && before(2) == "use";
                let mut paths = Vec::new();
                i = tree(tokens, i, &[], &mut paths);
                for (line, path) in paths {
                    if path.len() > 1 || import {
                        let path = absolute(path, &module);
                        found.push(Named {
                            line,
                            path,
                            is_import: import,
                        });
                    }
                }
            }
            _ => i += 1,
        }
    }
    found
}

fn is_word(text: &str) -> bool {
    text.chars()
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_')
}

/// Parses `a::b::{c, d::e}` at `i` into its paths; returns the index after it.
fn tree(
    tokens: &[(usize, String)],
    mut i: usize,
    before: &[String],
    paths: &mut Vec<(usize, Vec<String>)>,
) -> usize {
    let token = |i: usize| tokens.get(i).map_or("", |(_, text)| text.as_str());
    let mut path = before.to_vec();
    let mut line = tokens.get(i).map_or(0, |(line, _)| *line);
    loop {
        if is_word(token(i)) || token(i) == "*" && !path.is_empty() {
            path.push(token(i).to_owned());
            line = tokens[i].0;
            i += 1;
        } else if token(i) == "{" && !path.is_empty() {
            i += 1;
            while i < tokens.len() && token(i) != "}" {
                let start = i;
                i = tree(tokens, i, &path, paths);
                // `as name` and commas.
                while i < tokens.len() && token(i) != "," && token(i) != "}" {
                    i += 1;
                }
                if token(i) == "," {
                    i += 1;
                }
                i = i.max(start + 1);
            }
            return i + 1;
        } else {
            break;
        }
        if token(i) != "::" {
            break;
        }
        i += 1;
    }
    if path.len() > before.len() {
        paths.push((line, path));
    }
    i
}

/// Resolves `super::x` and `self::x` from the crate's root; the crate's own name is the root too.
pub(crate) fn absolute(path: Vec<String>, module: &[String]) -> Vec<String> {
    let mut base = module.to_vec();
    let mut rest = path.as_slice();
    match rest[0].as_str() {
        "attache" => base.clear(),
        "self" | "super" => {
            while let Some(first) = rest.first() {
                match first.as_str() {
                    "super" => {
                        base.pop();
                    }
                    "self" => {}
                    _ => break,
                }
                rest = &rest[1..];
            }
            return [vec!["crate".to_owned()], base, rest.to_vec()].concat();
        }
        _ => return path,
    }
    [vec!["crate".to_owned()], rest[1..].to_vec()].concat()
}
