//! A configuration that was written for an older version: refused, at the place and with the name of today, until no
//! old name is left.

use std::collections::BTreeSet;
use std::fs;

use attache::config::RENAMED;

use crate::run::{root, run};

/// The position and the two names in an error: `line 10 column 5: unknown field `without`, expected one of …; it is
/// called "onMissing" now`.
fn said(error: &str) -> (usize, usize, &str, &str) {
    let first = error.lines().next().unwrap();
    let after = |text: &str| {
        first
            .split_once(text)
            .unwrap_or_else(|| panic!("{error}"))
            .1
    };
    let number = |text: &str| {
        let digits = after(text).split(|c: char| !c.is_ascii_digit()).next();
        digits.unwrap().parse::<usize>().unwrap()
    };
    let old = after("unknown ").split('`').nth(1).unwrap();
    let new = after("; it is called \"").split('"').next().unwrap();
    assert!(first.ends_with("\" now"), "{error}");
    (number("line ") - 1, number("column ") - 1, old, new)
}

#[test]
fn each_old_name_is_refused_with_the_new_one_until_the_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("attache.yaml");
    let path = file.to_str().unwrap();
    let mut text = fs::read_to_string(root().join("tests/commands/older/attache.yaml")).unwrap();
    let mut named = BTreeSet::new();
    loop {
        fs::write(&file, &text).unwrap();
        let ran = run(&["check", "--config", path, "examples/quickstart"]);
        if ran.code == 0 {
            break;
        }
        let error = ran.failure();
        assert!(error.contains(path), "it names the file: {error}");
        let (line, column, old, new) = said(&error);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let wrong = &mut lines[line];
        assert!(wrong[column..].starts_with(old), "{wrong:?}: {error}");
        wrong.replace_range(column..column + old.len(), new);
        text = lines.join("\n");
        named.insert((old.to_owned(), new.to_owned()));
    }
    let all = RENAMED.map(|(old, new)| (old.to_owned(), new.to_owned()));
    assert_eq!(named, BTreeSet::from(all), "names that were told");
}
