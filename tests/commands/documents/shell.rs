//! Commands in the documents exist: `attache` with its options, targets of `make`, and tests of `cargo test`.

use super::{pages, split, text};
use crate::run::{root, run};

/// The words of a shell command, without quotes; up to the first operator.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in command.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | '>' | '<' | ';' | '&' | ')') => break,
            (None, ' ') => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty() && word != "…" && word != "...");
    words
}

/// The commands in a line of a shell: after pipes and `&&`, without comments.
fn commands(line: &str) -> Vec<String> {
    let line = line.split(" # ").next().unwrap_or_default();
    let line = line.replace("kubectl attache ", "attache ");
    let programs = ["attache ", "make ", "cargo test", "cargo bench"];
    let is_assignment = |word: &str| word.contains('=') && !word.starts_with('-');
    line.split(['|', ';', '&', '('])
        .map(|command| {
            // Variables before a command belong to its environment.
            let words = command
                .split(' ')
                .skip_while(|word| word.is_empty() || is_assignment(word));
            words.collect::<Vec<_>>().join(" ").trim().to_owned()
        })
        .filter(|command| programs.iter().any(|program| command.starts_with(program)))
        .collect()
}

/// The lines of a page that a shell would run.
fn lines(page: &str) -> Vec<String> {
    let (blocks, outside) = split(page);
    let mut lines = Vec::new();
    for (language, block) in blocks {
        let joined = block.join("\n").replace("\\\n", " ");
        for line in joined.lines() {
            let line = line.trim();
            let typed = line.strip_prefix("$ ");
            match (language.as_str(), typed) {
                (_, Some(typed)) => lines.push(typed.to_owned()),
                ("" | "sh" | "bash", None) => lines.push(line.to_owned()),
                ("yaml", None) => lines.push(
                    line.trim_start_matches("- ")
                        .trim_start_matches("run: ")
                        .to_owned(),
                ),
                _ => {}
            }
        }
    }
    // Commands in the text are between backquotes, and may be wrapped.
    let inline = outside.replace('\n', " ");
    lines.extend(inline.split('`').skip(1).step_by(2).map(str::to_owned));
    lines
}

/// Why a command cannot be run.
fn fault(command: &str) -> Option<String> {
    let words = words(command);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["attache", ref arguments @ ..] => {
            // Parses what precedes it, and runs nothing.
            let ran = run(&[arguments, &["--help"]].concat());
            let first = ran.stderr.lines().next().unwrap_or_default();
            (ran.code != 0).then(|| format!("{command}: {first}"))
        }
        ["make", target, ..] => {
            let is_target = text("Makefile")
                .lines()
                .any(|line| line.starts_with(&format!("{target}:")));
            (!is_target).then(|| format!("{command}: the Makefile has no {target}"))
        }
        ["cargo", "test" | "bench", ref options @ ..] => {
            let named = options
                .windows(2)
                .filter(|pair| ["--test", "--bench"].contains(&pair[0]));
            let manifest = text("Cargo.toml");
            let gone = |name: &str| {
                let folder = root().join(if words[1] == "test" {
                    "tests"
                } else {
                    "benches"
                });
                let is_file =
                    folder.join(name).exists() || folder.join(format!("{name}.rs")).exists();
                !is_file && !manifest.contains(&format!("name = \"{name}\""))
            };
            named
                .map(|pair| pair[1])
                .find(|name| gone(name))
                .map(|name| format!("{command}: there is no {name}"))
        }
        _ => None,
    }
}

#[test]
fn every_command_in_the_documents_exists() {
    let mut faults = Vec::new();
    let mut count = 0;
    for page in pages().iter().filter(|page| !page.starts_with("tests/")) {
        for line in lines(&text(page)) {
            for command in commands(&line) {
                count += 1;
                faults.extend(fault(&command).map(|why| format!("{page}: {why}")));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 200, "only {count} commands were found");
}

#[test]
fn commands_that_do_not_exist_are_found() {
    let page = "`attache nothing` \n```sh\nx | attache check - --nothing # why\nkubectl attache describe x/y -n z\n\
        make nothing\n```\n```text\nattache nothing\n$ cargo test --test nothing\n```\n";
    let lines = lines(page);
    let found: Vec<String> = lines.iter().flat_map(|line| commands(line)).collect();
    let expected = [
        "attache check - --nothing",
        "attache describe x/y -n z",
        "make nothing",
        "cargo test --test nothing",
        "attache nothing",
    ];
    assert_eq!(found, expected);
    let is_fault: Vec<bool> = found
        .iter()
        .map(|command| fault(command).is_some())
        .collect();
    assert_eq!(is_fault, [true, false, true, true, true]);
    let quoted = words("attache explain -H 'x: a b' \"$URL\" … > file");
    assert_eq!(quoted, ["attache", "explain", "-H", "x: a b", "$URL"]);
}
