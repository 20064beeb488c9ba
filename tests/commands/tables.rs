//! Tables on terminals of several widths: no line is wider, headings are aligned with their columns, and no name is
//! broken.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr as _;

use crate::run::{holds, run};
use crate::terminal::on_terminal;

/// A realistic estate with common mistakes.
const ESTATE: &str = "tests/commands/estate";
/// Common widths of terminals.
const WIDTHS: [u16; 4] = [80, 100, 120, 200];

/// Commands that print every kind of table.
const ASKED: [&str; 16] = [
    "policies -A",
    "policies -n shop",
    "policies -A --summary",
    "describe httproute/cart -n shop",
    "describe httproute/partner-orders -n tools",
    "describe gateway/public -n infra",
    "describe namespace/shop",
    "describe gatewayclass/eg",
    "describe deployment/cart -n shop",
    "describe backendtrafficpolicy/public-traffic -n infra",
    "describe securitypolicy/public-jwt -n infra",
    "describe kind/securitypolicy",
    "impact --delete securitypolicy/public-jwt -n infra",
    "impact --delete namespace/shop",
    "explain https://shop.example.com/cart",
    "kinds",
];

#[test]
fn no_line_is_wider_than_the_terminal_and_no_name_is_broken() {
    for asked in ASKED {
        let words: Vec<&str> = asked.split(' ').chain(["--from", ESTATE]).collect();
        let names = names(&run(&words).clean());
        for width in WIDTHS {
            let shown = on_terminal(width, &words, &[("NO_COLOR", "1")]);
            for line in shown.lines() {
                assert!(
                    line.width() <= usize::from(width),
                    "{asked} at {width}:\n{line}\n\n{shown}"
                );
            }
            for name in self::names(&shown) {
                assert!(
                    names.contains(&name),
                    "{asked} at {width}: {name:?} is part of a name\n\n{shown}"
                );
            }
        }
    }
}

/// Words that look like names: with a slash, a hash or a dot inside.
fn names(text: &str) -> BTreeSet<String> {
    let words = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| "(),;:\"…+".contains(c)));
    let is_name = |word: &&str| word.contains(['/', '#', '.']) && !word.contains("://");
    words.filter(is_name).map(str::to_owned).collect()
}

#[test]
fn headings_stand_over_their_columns() {
    for width in WIDTHS {
        for asked in ["policies -A", "policies -n shop", "policies -A --summary"] {
            let words: Vec<&str> = asked.split(' ').chain(["--from", ESTATE]).collect();
            let shown = on_terminal(width, &words, &[("NO_COLOR", "1")]);
            let mut lines = shown.lines();
            let headings = lines.next().unwrap();
            let starts: Vec<usize> = columns(headings).collect();
            for row in lines.take_while(|line| !line.is_empty()) {
                for start in &starts {
                    let (before, cell) = row.split_at((*start).min(row.len()));
                    assert!(
                        before.is_empty() || before.ends_with("  "),
                        "{asked} at {width}:\n{shown}"
                    );
                    assert!(
                        row.starts_with(' ') || !cell.starts_with(' '),
                        "{asked} at {width}:\n{shown}"
                    );
                }
                assert!(
                    columns(row).all(|start| starts.contains(&start)),
                    "{asked} at {width}:\n{shown}"
                );
            }
        }
    }
}

/// The start of each column in a line: after two spaces or more.
fn columns(line: &str) -> impl Iterator<Item = usize> {
    let starts =
        (2..line.len()).filter(|at| line[..*at].ends_with("  ") && !line[*at..].starts_with(' '));
    std::iter::once(0).chain(starts)
}

/// The text with `AGE` for the ages in days at the ends of lines, which differ each day.
fn without_ages(shown: &str) -> String {
    let is_age = |word: &str| {
        let days = word.strip_suffix('d');
        days.is_some_and(|days| !days.is_empty() && days.chars().all(|c| c.is_ascii_digit()))
    };
    let lines = shown.lines().map(|line| match line.rsplit_once(' ') {
        Some((before, last)) if is_age(last) => format!("{before} AGE\n"),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn each_width_shows_what_it_has_room_for() {
    for width in WIDTHS {
        let all = ASKED.map(|asked| {
            let words: Vec<&str> = asked.split(' ').chain(["--from", ESTATE]).collect();
            let shown = on_terminal(width, &words, &[("NO_COLOR", "1")]);
            let shown = without_ages(&shown);
            format!("$ attache {asked} --from {ESTATE}\n{shown}")
        });
        holds(&format!("tables/{width}.txt"), &all.join("\n"));
    }
}

#[test]
fn columns_that_have_no_room_are_named() {
    let words = ["policies", "-A", "--from", ESTATE];
    let shown = on_terminal(80, &words, &[("NO_COLOR", "1")]);
    assert!(
        shown.ends_with("-o wide shows TARGETS, STRATEGY, OBJECTS, AGE too\n"),
        "{shown}"
    );
    let wide = on_terminal(
        80,
        &[&words[..], &["-o", "wide"]].concat(),
        &[("NO_COLOR", "1")],
    );
    assert_eq!(wide, run(&[&words[..], &["-o", "wide"]].concat()).clean());
}

#[test]
fn strategies_are_told_in_the_words_of_the_policy() {
    let shown = run(&["policies", "-A", "--from", "tests/commands/strategies.yaml"]).clean();
    holds("tables/strategies.txt", &shown);
}
