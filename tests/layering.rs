//! Which module may import which, and what the engine may not touch. Reads the source as text.
//!
//! The rule in one line: `main -> cli -> serve -> { cache, http } -> metrics -> engine`, and the engine
//! is pure. A new module of the crate needs a line in [`LAYERS`].
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Each module of the crate, and the modules it may import beside itself.
const LAYERS: &[(&str, &[&str])] = &[
    ("main", &["cli"]),
    (
        "cli",
        &[
            "serve",
            "cache",
            "http",
            "config",
            "telemetry",
            "metrics",
            "engine",
        ],
    ),
    (
        "serve",
        &["cache", "http", "config", "telemetry", "metrics", "engine"],
    ),
    ("cache", &["metrics", "engine"]),
    ("http", &["metrics", "engine"]),
    ("config", &["engine"]),
    ("metrics", &["engine"]),
    ("telemetry", &[]),
    ("engine", &[]),
];

/// What no file of the engine may name, tests included.
const IMPURE: &[&[&str]] = &[
    &["tokio"],
    &["tokio_rustls"],
    &["axum"],
    &["hyper"],
    &["hyper_util"],
    &["tower"],
    &["futures"],
    &["kube"],
    &["tracing"],
    &["std", "fs"],
    &["std", "net"],
    &["std", "env"],
    &["std", "process"],
    &["std", "thread"],
    &["std", "time", "SystemTime"],
    &["std", "time", "Instant"],
    &["jiff", "Timestamp", "now"],
    &["jiff", "Zoned", "now"],
];

const LONGEST_FILE: usize = 500;

#[test]
fn the_source_keeps_to_its_layers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, "src", &mut files);
    assert!(
        files.iter().any(|(path, _)| path == "src/lib.rs"),
        "no source found under {}",
        root.display()
    );
    let mut report = String::new();
    for (path, text) in &files {
        for fault in faults(path, text) {
            writeln!(report, "  {fault}").unwrap();
        }
    }
    assert!(
        report.is_empty(),
        "the layers are described in CONTRIBUTING.md and held by tests/layering.rs:\n{report}"
    );
}

fn collect(folder: &Path, name: &str, files: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = format!("{name}/{}", entry.file_name().to_str().unwrap());
        if path.is_dir() {
            collect(&path, &name, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Every fault of one file, each with file and line.
fn faults(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !text.starts_with("//!") {
        faults.push(format!(
            "{path}:1: starts without `//!`: say in a line what the file is for"
        ));
    }
    let lines = text.lines().count();
    if lines > LONGEST_FILE {
        faults.push(format!(
            "{path}:{lines}: {lines} lines, more than {LONGEST_FILE}: split it"
        ));
    }
    let here = module_of(path);
    let layer = here.first().map_or("lib", String::as_str);
    let allowed = match LAYERS.iter().find(|(name, _)| *name == layer) {
        Some((_, allowed)) => *allowed,
        None if layer == "lib" => &[],
        None => {
            faults.push(format!(
                "{path}:1: module `{layer}` has no line in LAYERS of tests/layering.rs"
            ));
            return faults;
        }
    };
    for Named { line, path: named } in names(&tokens(&without_text(text)), &here) {
        let shown = named.join("::");
        if named[0] == "crate" && layer != "lib" {
            let Some(other) = named.get(1) else { continue };
            if other == "*" {
                faults.push(format!(
                    "{path}:{line}: `{shown}` imports the whole crate: name the module"
                ));
            } else if other != layer
                && LAYERS.iter().any(|(name, _)| name == other)
                && !allowed.contains(&other.as_str())
            {
                faults.push(format!(
                    "{path}:{line}: {layer} must not import {other}: `{shown}`"
                ));
            }
        }
        if layer == "engine" {
            let impure = named == ["async"]
                || IMPURE.iter().any(|banned| {
                    named.len() >= banned.len()
                        && named.iter().zip(*banned).all(|(name, bad)| name == bad)
                });
            if impure {
                faults.push(format!(
                    "{path}:{line}: the engine is pure and must not name `{shown}`"
                ));
            }
        }
    }
    faults
}

/// `src/cache/watch.rs` is `[cache, watch]`; `src/lib.rs` is the root.
fn module_of(path: &str) -> Vec<String> {
    let path = path.strip_prefix("src/").unwrap_or(path);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
    if parts.len() > 1 && parts.last().is_some_and(|last| last == "mod") || parts == ["lib"] {
        parts.pop();
    }
    parts
}

/// The text with comments, strings and characters blanked, line by line as before.
fn without_text(text: &str) -> String {
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

/// Words, `::` and single signs, each with its line.
fn tokens(text: &str) -> Vec<(usize, String)> {
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

/// A path that stands in the source, made absolute where it begins with `super` or `self`.
#[derive(Debug, PartialEq)]
struct Named {
    line: usize,
    path: Vec<String>,
}

/// Every path of two names or more, every import (trees unfolded), and `async`.
fn names(tokens: &[(usize, String)], here: &[String]) -> Vec<Named> {
    let token = |i: usize| tokens.get(i).map_or("", |(_, text)| text.as_str());
    let mut found = Vec::new();
    // Inline modules under way: the depth of braces outside of each.
    let mut inline: Vec<usize> = Vec::new();
    let mut module = here.to_vec();
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
                        found.push(Named { line, path });
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

/// Reads `a::b::{c, d::e}` at `i` into its paths; answers where the rest begins.
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

/// `super::x` and `self::x` from the crate's root; the library under its own name is the crate.
fn absolute(path: Vec<String>, module: &[String]) -> Vec<String> {
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

// --- the checker itself ---------------------------------------------------------------------------

#[test]
fn a_fault_is_found_and_its_line_named() {
    for (path, source, fault) in [
        (
            "src/engine/review.rs",
            "\nuse tokio::sync::Mutex;",
            "src/engine/review.rs:3: the engine is pure and must not name `tokio::sync::Mutex`",
        ),
        (
            "src/engine/review.rs",
            "use std::{\n    collections::BTreeMap,\n    time::{Duration, Instant as Then},\n};",
            "src/engine/review.rs:4: the engine is pure and must not name `std::time::Instant`",
        ),
        (
            "src/engine/snapshot.rs",
            "fn f() -> u8 { std::fs::read(p).len() }",
            "src/engine/snapshot.rs:2: the engine is pure and must not name `std::fs::read`",
        ),
        (
            "src/engine/snapshot.rs",
            "pub async fn f() {}",
            "src/engine/snapshot.rs:2: the engine is pure and must not name `async`",
        ),
        (
            "src/engine/snapshot.rs",
            "use kube;",
            "src/engine/snapshot.rs:2: the engine is pure and must not name `kube`",
        ),
        (
            "src/engine/merge.rs",
            "use crate::{engine::ids, metrics::Metrics};",
            "src/engine/merge.rs:2: engine must not import metrics: `crate::metrics::Metrics`",
        ),
        (
            "src/cache/watch.rs",
            "use crate::http::admission;",
            "src/cache/watch.rs:2: cache must not import http: `crate::http::admission`",
        ),
        (
            "src/http/admin.rs",
            "use super::super::cache::Writer;",
            "src/http/admin.rs:2: http must not import cache: `crate::cache::Writer`",
        ),
        (
            "src/http.rs",
            "mod tests {\n    use super::super::serve;\n}",
            "src/http.rs:3: http must not import serve: `crate::serve`",
        ),
        (
            "src/metrics.rs",
            "use super::*;",
            "src/metrics.rs:2: `crate::*` imports the whole crate: name the module",
        ),
        (
            "src/main.rs",
            "fn main() { attache::serve::run() }",
            "src/main.rs:2: main must not import serve: `crate::serve::run`",
        ),
        (
            "src/helpers.rs",
            "",
            "src/helpers.rs:1: module `helpers` has no line in LAYERS of tests/layering.rs",
        ),
    ] {
        let text = format!("//! A file.\n{source}\n");
        assert_eq!(faults(path, &text), [fault], "{source}");
    }
}

#[test]
fn length_and_header_are_held() {
    let long = format!("//! A file.\n{}", "\n".repeat(LONGEST_FILE));
    assert_eq!(
        faults("src/config.rs", &long),
        ["src/config.rs:501: 501 lines, more than 500: split it"]
    );
    assert_eq!(
        faults("src/config.rs", "use std::fs;\n"),
        ["src/config.rs:1: starts without `//!`: say in a line what the file is for"]
    );
}

#[test]
fn what_is_allowed_passes() {
    for (path, source) in [
        ("src/engine/review.rs", "// tokio::spawn, crate::http"),
        (
            "src/engine/review.rs",
            "/* std::fs /* nested */ async */ fn f() {}",
        ),
        (
            "src/engine/review.rs",
            r##"const T: &str = r#"use "tokio"::net;"#; const U: &str = "\"async";"##,
        ),
        (
            "src/engine/review.rs",
            "fn f<'a>(x: &'a str) -> char { '\"' } // \"",
        ),
        ("src/engine/review.rs", "use std::time::Duration;"),
        ("src/engine/review.rs", "let kube = kubes.len();"),
        (
            "src/engine/ids.rs",
            "mod tests {\n    use super::*;\n    use super::super::merge;\n}",
        ),
        (
            "src/cache/watch.rs",
            "use crate::engine::snapshot; use kube::Api; use super::kinds;",
        ),
        ("src/serve.rs", "use crate::{cache, http, config, engine};"),
        ("src/lib.rs", "pub mod engine; pub mod http;"),
        ("src/main.rs", "fn main() { attache::cli::run() }"),
    ] {
        let text = format!("//! A file.\n{source}\n");
        assert_eq!(faults(path, &text), [""; 0], "{path}: {source}");
    }
}
