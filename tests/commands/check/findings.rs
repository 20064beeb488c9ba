//! The pages in docs/findings: their examples give the documented output, and their remedies work.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use attache::answer::report::{address_in, page, rule};
use attache::engine::admission::finding::Code;

use super::{check, stdout};

/// Codes whose example needs a request or a cluster: their pages show the output.
const WITHOUT_FILES: [Code; 3] = [Code::TargetOrphaned, Code::RouteAttached, Code::Unverified];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/findings")
}

/// The code blocks of a page in this language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    let parts = page.split(&*begin).skip(1);
    parts
        .filter_map(|part| part.split_once("```").map(|(block, _)| block))
        .collect()
}

/// The output of `check` for manifests on top of the scene and the page's own state.
fn said(page: &str, manifests: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::copy(folder().join("scene.yaml"), state.join("scene.yaml")).unwrap();
    for (i, before) in blocks(page, "yaml before").iter().enumerate() {
        fs::write(state.join(format!("before-{i}.yaml")), before).unwrap();
    }
    fs::write(dir.path().join("example.yaml"), manifests).unwrap();
    // Status counts of stored objects alone: the API server ignores that of manifests.
    if manifests.contains("\nstatus:") {
        fs::write(state.join("stored.yaml"), manifests).unwrap();
    }
    let mut args = vec!["example.yaml", "--from", "state", "--notices"];
    let asked = page.split("With `findings: ").nth(1);
    if let Some(findings) = asked.and_then(|rest| rest.split('`').next()) {
        let text =
            format!("apiVersion: attache.dev/v1\nkind: Configuration\nfindings: {findings}\n");
        fs::write(dir.path().join("attache-test.yaml"), text).unwrap();
        args.extend(["--config", "attache-test.yaml"]);
    }
    stdout(&check(dir.path(), &args))
}

#[test]
fn each_code_has_a_page_whose_example_is_true() {
    let mut wrong: BTreeMap<&str, String> = BTreeMap::new();
    for code in Code::ALL {
        let (name, page) = (code.as_str(), page(code));
        assert!(page.starts_with(&format!("# {name}\n")), "{name}");
        for heading in ["Why it matters", "Example", "What to do", "Severity"] {
            assert!(
                page.contains(&format!("\n## {heading}\n")),
                "{name}: {heading}"
            );
        }
        let Some(example) = blocks(page, "yaml example").first().copied() else {
            assert!(WITHOUT_FILES.contains(&code), "{name} has no example");
            continue;
        };
        let codes = said(page, example);
        let shown = blocks(page, "text").first().copied().unwrap_or_default();
        let of_code = |line: &&str| line.contains(&format!(" {name}: "));
        let first = codes.lines().find(of_code).unwrap_or_default();
        if first != shown.trim_end() {
            wrong.insert(name, codes);
            continue;
        }
        for better in blocks(page, "yaml fix") {
            let codes_of_better = said(page, better);
            if codes_of_better
                .lines()
                .any(|line| of_code(&line) || line.contains(": deny "))
            {
                wrong.insert(name, format!("what to do: {codes_of_better}"));
            }
        }
    }
    let wrong: Vec<String> = wrong
        .iter()
        .map(|(code, codes)| format!("{code}:\n{codes}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_page_is_of_a_code_and_in_the_list() {
    let list =
        fs::read_to_string(folder().parent().unwrap().join("reference/findings.md")).unwrap();
    let mut pages: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
        .collect();
    pages.sort();
    let mut codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    codes.sort_unstable();
    assert_eq!(pages, codes);
    for code in Code::ALL {
        let name = code.as_str();
        assert!(
            list.contains(&format!("[`{name}`](../findings/{name}.md)")),
            "{name}"
        );
        assert!(!rule(code).help.is_empty());
        // The page in the repository, of the version that the finding is from.
        let repository = "https://git.example.com/attache";
        let address = address_in(&format!("{repository}.git"), code);
        let version = env!("CARGO_PKG_VERSION");
        let path = address
            .strip_prefix(&format!("{repository}/blob/v{version}/"))
            .unwrap();
        assert!(crate::run::root().join(path).is_file(), "{address}");
    }
}
