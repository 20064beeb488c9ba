//! Links of Markdown files lead to existing files and headings, and the map of the documents is complete.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::{extension, files, pages, split, text};
use crate::run::root;

/// The targets of the links in a text outside of fences and code.
fn links(outside: &str) -> Vec<String> {
    let without_code: String = outside.split('`').step_by(2).collect::<Vec<_>>().join("x");
    without_code
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .map(str::to_owned)
        .collect()
}

/// The anchors of a page, as GitHub makes them from headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let (_, outside) = split(page);
    let headings = outside
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim().to_lowercase());
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    headings
        .map(|heading| {
            let kept = heading
                .chars()
                .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
            let anchor = kept.collect::<String>().replace(' ', "-");
            let before = seen.entry(anchor.clone()).or_default();
            *before += 1;
            if *before == 1 {
                anchor
            } else {
                format!("{anchor}-{}", *before - 1)
            }
        })
        .collect()
}

/// `folder/../x` as `x`.
fn normal(path: &Path) -> PathBuf {
    path.components()
        .fold(PathBuf::new(), |mut so_far, component| {
            if component == Component::ParentDir {
                so_far.pop();
            } else {
                so_far.push(component);
            }
            so_far
        })
}

/// Why a link on a page leads nowhere.
fn fault(page: &str, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() {
        PathBuf::from(page)
    } else {
        normal(&Path::new(page).parent().unwrap().join(path))
    };
    let target = target.to_str().unwrap();
    if !root().join(target).exists() {
        return Some(format!("{page}: {link}: there is no {target}"));
    }
    let is_page = extension(target) == "md";
    let is_lost = is_page && !anchor.is_empty() && !anchors(&text(target)).contains(anchor);
    is_lost.then(|| format!("{page}: {link}: {target} has no heading for #{anchor}"))
}

#[test]
fn every_relative_link_leads_to_a_file_and_a_heading() {
    let mut faults = Vec::new();
    let mut count = 0;
    for page in pages() {
        let (_, outside) = split(&text(&page));
        let links = links(&outside);
        count += links.len();
        faults.extend(links.iter().filter_map(|link| fault(&page, link)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 300, "only {count} links were found");
}

#[test]
fn broken_links_are_found() {
    let page = "docs/README.md";
    assert_eq!(fault(page, "tutorial.md#the-example"), None);
    assert_eq!(fault(page, "#how-to"), None);
    assert_eq!(fault(page, "https://example.com/x.md"), None);
    let gone = fault(page, "how-to/nothing.md").unwrap();
    assert!(gone.ends_with("/how-to/nothing.md"));
    let lost = fault(page, "../README.md#nowhere").unwrap();
    assert!(lost.ends_with("README.md has no heading for #nowhere"));
    let both = anchors("# A `b`, c_d\n## Twice\n```\n# no heading\n```\n## Twice\n");
    let expected = ["a-b-c_d", "twice", "twice-1"].map(str::to_owned);
    assert_eq!(both, BTreeSet::from(expected));
}

/// Sources, manifests and tests name pages by their paths from the root of the repository.
#[test]
fn every_page_that_a_file_names_exists() {
    // Pages of other repositories.
    let foreign = |page: &str| page.starts_with("docs/proposals/");
    let mut faults = Vec::new();
    for file in files() {
        let Ok(content) = std::fs::read_to_string(root().join(&file)) else {
            continue;
        };
        let is_part = |c: char| c.is_ascii_alphanumeric() || "/-_.".contains(c);
        let words = content.split(|c: char| !is_part(c));
        let named = words
            .map(|word| word.trim_end_matches('.'))
            .filter(|word| word.starts_with("docs/") && extension(word) == "md");
        let gone = named.filter(|page| !foreign(page) && !root().join(page).exists());
        faults.extend(gone.map(|page| format!("{file} names {page}, which does not exist")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_map_has_every_page() {
    let map = text("docs/README.md");
    let (_, outside) = split(&map);
    let listed = links(&outside);
    let has_own_index = |page: &str| page.starts_with("findings/") || page.starts_with("runbooks/");
    let missing: Vec<String> = pages()
        .iter()
        .filter_map(|page| page.strip_prefix("docs/"))
        .filter(|page| *page != "README.md" && !has_own_index(page))
        .filter(|page| !listed.iter().any(|link| link == page))
        .map(str::to_owned)
        .collect();
    assert!(missing.is_empty(), "docs/README.md lists no {missing:?}");
}
