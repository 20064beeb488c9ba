//! The documents are true: sessions show the actual output, commands and links exist, and tables of keys match the
//! schema.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::root;

mod keys;
mod links;
mod options;
mod schemas;
mod shell;
mod tutorial;

#[test]
fn sessions_in_documents_are_true() {
    trycmd::TestCases::new()
        .case("README.md")
        .case("docs/*.md")
        .case("docs/*/*.md");
}

/// The Markdown files of the repository, by their paths from its root.
fn pages() -> Vec<String> {
    let pages: Vec<String> = files()
        .into_iter()
        .filter(|path| extension(path) == "md")
        .collect();
    assert!(pages.len() > 100, "the pages are gone");
    pages
}

/// The files of the repository, by their paths from its root; without those that tools write.
fn files() -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            let kind = entry.file_type().unwrap();
            if kind.is_file() {
                found.push(path.to_str().unwrap().to_owned());
            } else if kind.is_dir() && !is_written_by_tools(&path) {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

fn is_written_by_tools(folder: &Path) -> bool {
    let name = folder.file_name().unwrap().to_str().unwrap();
    [".git", ".cluster", "target"].contains(&name) || folder == Path::new("certs/out")
}

fn extension(path: &str) -> &str {
    Path::new(path)
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default()
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Runs of lines inside fences, with the words after the opening fence, and the text outside of them.
fn split(page: &str) -> (Vec<(String, Vec<String>)>, String) {
    let mut blocks: Vec<(String, Vec<String>)> = Vec::new();
    let mut outside = String::new();
    let mut is_inside = false;
    for line in page.lines() {
        match line.trim_start().strip_prefix("```") {
            Some(_) if is_inside => is_inside = false,
            Some(language) => {
                is_inside = true;
                blocks.push((language.trim().to_owned(), Vec::new()));
            }
            None if is_inside => blocks.last_mut().unwrap().1.push(line.to_owned()),
            None => {
                outside.push_str(line);
                outside.push('\n');
            }
        }
    }
    (blocks, outside)
}

/// Writes a page with `ATTACHE_BLESS=1`; fails if it differs otherwise.
fn hold(path: &str, expected: &str) {
    if std::env::var_os("ATTACHE_BLESS").is_some() {
        fs::write(root().join(path), expected).unwrap();
    }
    assert!(
        text(path) == expected,
        "{path} is stale: ATTACHE_BLESS=1 cargo test --test commands documents writes it"
    );
}

/// The most lines of a page. Tables that tests write between marks do not count.
const LONGEST: usize = 199;

fn length(page: &str) -> usize {
    let mut is_written = false;
    let mut count = 0;
    for line in page.lines() {
        is_written |= line.starts_with("<!-- ") && line.ends_with(": begin -->");
        count += usize::from(!is_written);
        is_written &= !line.ends_with(": end -->");
    }
    count
}

#[test]
fn no_page_is_too_long() {
    let pages = pages();
    let pages = pages.iter().filter(|path| path.starts_with("docs/"));
    let long: Vec<String> = pages
        .map(|path| (path, length(&text(path))))
        .filter(|(_, lines)| *lines > LONGEST)
        .map(|(path, lines)| format!("{path}: {lines} lines, more than {LONGEST}: split it"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
    let marked = "a\n<!-- keys: begin -->\nb\n<!-- keys: end -->\nc\n";
    assert_eq!(length(marked), 2);
}
