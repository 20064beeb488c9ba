//! `docs/reference/agreement.md`: how far attache and the controllers agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::disagreements::Known;

/// The counts of a comparison with one project.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) project: String,
    pub(crate) release: String,
    pub(crate) scenarios: usize,
    pub(crate) policies: usize,
    /// Policies on whose acceptance, and reason, both agree.
    pub(crate) accepted_agreed: usize,
    /// Policies on which both also agree about overriding and merging.
    pub(crate) policies_agreed: usize,
    /// Settings on listeners and rules.
    pub(crate) settings: usize,
    pub(crate) settings_agreed: usize,
}

pub(crate) fn page(all: &[(Counts, Vec<Known>)]) -> String {
    let mut out = START.to_owned();
    for (counts, known) in all {
        let word = super::compare::About::FalseProtection.word();
        let lines = known.iter().flat_map(|group| &group.disagreements);
        let false_claims = lines.filter(|line| line.starts_with(word)).count();
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {false_claims} |",
            counts.project,
            counts.release,
            counts.scenarios,
            counts.policies,
            share(counts.accepted_agreed, counts.policies),
            share(counts.policies_agreed, counts.policies),
            share(counts.settings_agreed, counts.settings),
        )
        .unwrap();
    }
    out.push_str(BETWEEN);
    for (counts, known) in all {
        writeln!(out, "\n### {}\n", counts.project).unwrap();
        if known.is_empty() {
            out.push_str("None.\n");
            continue;
        }
        out.push_str("| reason | disagreements | about | for example |\n|---|---|---|---|\n");
        for group in known {
            let mut about: BTreeMap<&str, usize> = BTreeMap::new();
            for line in &group.disagreements {
                let word = line.split_once(": ").map_or("", |(word, _)| word);
                *about.entry(word).or_default() += 1;
            }
            let about: Vec<String> = about
                .iter()
                .map(|(word, n)| format!("{word} {n}"))
                .collect();
            let example = group.disagreements.first().map_or("", String::as_str);
            let example = example.split_once(": ").map_or("", |(_, rest)| rest);
            writeln!(
                out,
                "| {} | {} | {} | {example} |",
                group.reason,
                group.disagreements.len(),
                about.join(", "),
            )
            .unwrap();
        }
    }
    out
}

/// Fills in the measured agreement: the last column of the table in `docs/reference/versions.md`.
pub(crate) fn versions(text: &str, all: &[(Counts, Vec<Known>)]) -> String {
    let mut named = BTreeSet::new();
    let lines = text.lines().map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, project, releases, kinds, file, _, _] = cells[..] else {
            return line.to_owned();
        };
        let Some((counts, _)) = all.iter().find(|(counts, _)| counts.project == project) else {
            let is_row = file.starts_with('[');
            return if is_row {
                format!("| {project} | {releases} | {kinds} | {file} | |")
            } else {
                line.to_owned()
            };
        };
        // The release of a commit in a Go module is its hash.
        let release = counts.release.rsplit('-').next().unwrap_or_default();
        assert!(
            releases.contains(release),
            "docs/reference/versions.md: the recordings are of {project} {}, the facts of {releases}",
            counts.release
        );
        named.insert(project);
        let accepted = percent(counts.accepted_agreed, counts.policies);
        let settings = percent(counts.settings_agreed, counts.settings);
        format!(
            "| {project} | {releases} | {kinds} | {file} | [{accepted}, {settings}](agreement.md) |"
        )
    });
    let text: String = lines.map(|line| line + "\n").collect();
    for (counts, _) in all {
        assert!(
            named.contains(&*counts.project),
            "docs/reference/versions.md has no row for {}",
            counts.project
        );
    }
    text
}

fn percent(part: usize, total: usize) -> String {
    // Rounded down: 100 % means all.
    let tenths = part.saturating_mul(1000).checked_div(total).unwrap_or(1000);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

fn share(part: usize, total: usize) -> String {
    format!("{part} of {total} ({})", percent(part, total))
}

const START: &str = "\
# Agreement with controllers

<!-- Written by `ATTACHE_BLESS=1 cargo test --test engine controllers`. -->

`make record-controllers` runs the code of each project on generated states and records its answers under `tests/controllers/`:
the conditions of every policy, and the settings in force on every rule of the configuration that it generates for its
proxies (of Kuadrant: of its effective policies). A test compares attache with every recording.

| project | release | scenarios | policies | acceptance agrees | acceptance, overridden and merged agree | settings in force agree | protection falsely claimed |
|---|---|---|---|---|---|---|---|
";

const BETWEEN: &str = "
A policy agrees if both report the same for all of its ancestors; acceptance includes its reason. A setting
is counted on each listener and rule where either reports it in force. The last column counts protective settings
(authentication, authorization, CORS, CSRF, rate limits) that attache reported in force where they are not.

## Disagreements that remain
";
