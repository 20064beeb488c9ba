//! The glossary of CONTRIBUTING.md: names in the source and texts of documents use its terms, and no other words for them.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use testing::fuzz::files;

use crate::layering::source::{tokens, without_text};
use crate::layering::sources;

/// Words that are neither names of types and files nor in those of functions, with the term to use. Where a word has another
/// meaning too, it is not listed: a path ends, and `*` stands for any name.
const IN_NAMES: [(&str, &str); 8] = [
    ("ways", "path"),
    ("lowers", "descendant"),
    ("bare", "variant"),
    ("wholes", "side by side"),
    ("fate", "state"),
    ("era", "GEP-713 of 2021"),
    ("told", "finding"),
    ("standing", "current findings"),
];

/// Those that are no names of types and files, which are nouns. Functions may have them as verbs.
const AS_NOUNS: [(&str, &str); 2] = [("ends", "effective target"), ("stands", "in force")];

/// Those that are not in texts, besides code.
const IN_TEXTS: [(&str, &str); 13] = [
    ("lowers", "descendant"),
    ("wholes", "side by side"),
    ("fate", "state"),
    ("era", "GEP-713 of 2021"),
    ("standing", "current findings"),
    ("setting stands", "in force"),
    ("settings stand", "in force"),
    ("policy stands", "in force"),
    ("policies stand", "in force"),
    ("policy acts", "applies to"),
    ("policies act", "applies to"),
    ("policy affects", "applies to"),
    ("policies affect", "applies to"),
];

#[test]
fn names_and_texts_use_the_terms_of_the_glossary() {
    let names = sources().into_iter().flat_map(|(path, text)| {
        let of_file = faults(&path, &text).into_iter();
        of_file.map(move |why| format!("{path}: {why}"))
    });
    let documents = files::find("docs", &|path| path.extension() == Some("md".as_ref()));
    let is_of_page = |path: &Path| {
        let extension = path.extension().and_then(OsStr::to_str);
        matches!(extension, Some("ts" | "tsx" | "js"))
    };
    let pages = files::find("ui/src", &is_of_page);
    let own = ["README.md".into(), "CHANGELOG.md".into()];
    let texts = documents.into_iter().chain(pages).chain(own);
    let texts = texts.filter_map(|path| {
        let text = words(&outside_code(&fs::read_to_string(&path).unwrap()));
        fault(&IN_TEXTS, &text).map(|why| format!("{}: {why}", path.display()))
    });
    let all: Vec<String> = names.chain(texts).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn the_terms_to_use_are_in_the_glossary() {
    let text = fs::read_to_string("CONTRIBUTING.md").unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    let terms = rows.filter_map(|row| row.split(" | ").next());
    let terms: Vec<&str> = terms.flat_map(|terms| terms.split(", ")).collect();
    for (word, term) in IN_NAMES.iter().chain(&AS_NOUNS).chain(&IN_TEXTS) {
        assert!(terms.contains(term), "{word}: {term}");
    }
}

#[test]
fn a_word_is_found_in_a_name_and_in_a_text() {
    let source = "pub struct Era;\nfn the_fate(bare: u8) { \"fn told\" }\nfn ends_here() {}\n";
    let found = faults("src/wholes.rs", source).len();
    assert_eq!(found, 3, "wholes, Era, the_fate");
    let text = words(&outside_code("No policy\nacts `in era`.\n```\nera\n```\n"));
    assert_eq!(text, " no policy acts ");
    assert!(fault(&IN_TEXTS, &text).is_some());
}

/// The words that the names of a file, of its types and of its functions must not have.
fn faults(path: &str, text: &str) -> Vec<String> {
    let file = path.trim_end_matches(".rs").rsplit('/').next();
    let mut names = vec![(true, file.unwrap_or(path).to_owned())];
    for pair in tokens(&without_text(text)).windows(2) {
        let is_noun = ["struct", "enum", "trait", "type"].contains(&pair[0].1.as_str());
        if is_noun || pair[0].1 == "fn" {
            names.push((is_noun, pair[1].1.clone()));
        }
    }
    let faults = names.iter().filter_map(|(is_noun, name)| {
        let as_noun = fault(&AS_NOUNS, &words(name)).filter(|_| *is_noun);
        let why = fault(&IN_NAMES, &words(name)).or(as_noun)?;
        Some(format!("{name}: {why}"))
    });
    faults.collect()
}

fn fault(forbidden: &[(&str, &str)], text: &str) -> Option<String> {
    let mut words = forbidden.iter();
    let (word, term) = words.find(|(word, _)| text.contains(&format!(" {word} ")))?;
    Some(format!("write `{term}`, not `{word}`"))
}

fn outside_code(markdown: &str) -> String {
    let outside = |text: &str, mark| text.split(mark).step_by(2).collect::<Vec<_>>().join(" ");
    outside(&outside(markdown, "```"), "`")
}

/// The words of a name or text in lower case, with a space before and after each. A capital letter begins a word.
fn words(text: &str) -> String {
    let mut words = " ".to_owned();
    for c in text.chars() {
        if (c.is_uppercase() || !c.is_alphanumeric()) && !words.ends_with(' ') {
            words.push(' ');
        }
        words.extend(c.to_lowercase().filter(|c| c.is_alphanumeric()));
    }
    words.trim_end().to_owned() + " "
}
