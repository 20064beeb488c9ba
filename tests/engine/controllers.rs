//! Compares attache's answers with those of the controllers' own code for the same states.
//!
//! Each `<project>/*.yaml` holds scenarios: a state, the conditions that the project wrote on policies and routes, and
//! the settings in force on each rule of its translated configuration. `make record-controllers` records them again.
//! `<project>/settings.yaml` maps the recorded settings to fields of policies, and says which of them protect.
//!
//! Every disagreement is in `<project>/disagreements.yaml` with its reason: one more, or one less, fails. A claim that
//! a protecting setting is in force may never be among them. `ATTACHE_BLESS=1` writes that file and
//! `docs/reference/agreement.md`; a disagreement without a reason still fails. `ATTACHE_CASE=name` compares only scenarios with
//! that in their name, and prints both answers.

mod agreement;
mod answers;
mod compare;
mod disagreements;
pub(crate) mod recording;
mod settings;

use std::fmt::Write as _;
use std::fs;

use agreement::Counts;
use compare::{About, Disagreement};

/// The recorded projects.
const PROJECTS: [&str; 5] = [
    "envoy-gateway",
    "istio",
    "kgateway",
    "kuadrant",
    "nginx-gateway-fabric",
];

#[test]
fn attache_says_what_the_controllers_say() {
    let only = std::env::var("ATTACHE_CASE").unwrap_or_default();
    let bless = std::env::var_os("ATTACHE_BLESS").is_some();
    let mut wrong = String::new();
    let mut all = Vec::new();
    for project in PROJECTS {
        let dir = testing::cases::root("controllers").join(project);
        let settings = settings::read(&dir);
        let mut counts = Counts::default();
        let mut found: Vec<Disagreement> = Vec::new();
        for recording in recording::read_all(&dir) {
            counts.project.clone_from(&recording.project);
            counts.release.clone_from(&recording.release);
            for scenario in &recording.scenarios {
                if !scenario.name.contains(&only) {
                    continue;
                }
                let said = answers::answers(&recording.common, scenario, &settings);
                let differences = compare::compare(scenario, &said, &settings, &mut counts);
                if !only.is_empty() {
                    println!("{}\n{said:#?}\n{differences:#?}", scenario.name);
                }
                found.extend(differences);
            }
        }
        for one in &found {
            if one.about == About::FalseProtection {
                writeln!(wrong, "{}: {}", one.at, one.said).unwrap();
            }
        }
        if !only.is_empty() {
            continue;
        }
        let path = dir.join("disagreements.yaml");
        let known = disagreements::read(&path);
        let now = disagreements::sorted(&known, &found);
        if bless {
            fs::write(&path, disagreements::write(&now)).unwrap();
        }
        wrong.push_str(&disagreements::differences(
            &disagreements::read(&path),
            &found,
        ));
        all.push((counts, now));
    }
    if only.is_empty() {
        let docs = testing::cases::root("controllers").join("../../docs/reference");
        let versions = fs::read_to_string(docs.join("versions.md")).unwrap();
        let pages = [
            ("agreement.md", agreement::page(&all)),
            ("versions.md", agreement::versions(&versions, &all)),
        ];
        for (name, page) in pages {
            let path = docs.join(name);
            if bless {
                fs::write(&path, &page).unwrap();
            }
            if fs::read_to_string(&path).unwrap_or_default() != page {
                writeln!(
                    wrong,
                    "docs/reference/{name} is not what it should be: ATTACHE_BLESS=1 writes it"
                )
                .unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
