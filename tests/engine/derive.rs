//! The facts about real policy kinds, from their CRDs alone and with the built-in profiles.
//!
//! The CRDs are in the directory `ATTACHE_REFERENCE_CRDS`; without it the test prints SKIPPED. `facts.yaml` has the
//! expected facts; `ATTACHE_BLESS=1` rewrites it: read the difference.

mod hostile;
mod session;
mod time;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache::cache::directory;
use attache::engine::kinds::profile::{Profile, ProfileRules, Source};
use attache::engine::model::object::Crd;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
struct Facts {
    /// The number of facts that the CRDs alone give; it may only grow.
    derived: usize,
    /// With the built-in profiles.
    kinds: Projects,
    /// Without any profile.
    derived_alone: Projects,
}

/// Facts by project, kind and name; defaults are omitted.
type Projects = BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>>;

fn reference() -> Option<PathBuf> {
    let folder = std::env::var_os("ATTACHE_REFERENCE_CRDS").map(PathBuf::from);
    if folder.is_none() {
        // Not `eprintln`, whose output the test runner hides for passing tests.
        let words = "\n!!!! SKIPPED: set ATTACHE_REFERENCE_CRDS to a folder with a folder of CRDs for each project\n";
        std::io::stderr().write_all(words.as_bytes()).unwrap();
    }
    folder
}

/// The CRDs of each project; two projects may have the same kind in different versions.
fn projects(folder: &Path) -> BTreeMap<String, Vec<Arc<Crd>>> {
    let nothing = Arc::new(ProfileRules::default());
    let folders = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut found = BTreeMap::new();
    for project in folders.filter(|path| path.is_dir()) {
        let name = project.file_name().unwrap().to_string_lossy().into_owned();
        // The two channels of a project have the same kinds.
        let experimental = project.join("experimental");
        let read = if experimental.is_dir() {
            experimental
        } else {
            project
        };
        let loaded = directory::load(&[read], &nothing, "default");
        assert_eq!(loaded.problems, [], "{name}");
        found.insert(name, loaded.crds);
    }
    found
}

fn facts(profile: &Profile, from: &[Source]) -> BTreeMap<String, String> {
    let facts = profile.facts().into_iter();
    let answer = facts.filter(|fact| from.contains(&fact.from) && !is_nothing(&fact.value));
    answer
        .map(|fact| {
            (
                fact.name.to_owned(),
                format!("{} {}", word(fact.from), fact.value),
            )
        })
        .collect()
}

fn word(source: Source) -> &'static str {
    match source {
        Source::Config => "config",
        Source::Builtin => "builtin",
        Source::Crd => "crd",
        Source::Default => "default",
    }
}

#[test]
fn the_facts_of_every_real_kind() {
    let Some(folder) = reference() else {
        return;
    };
    let alone = ProfileRules::default();
    let with_profiles = ProfileRules::new(Vec::new(), testing::builtin().profiles.clone());
    let mut found = Facts::default();
    for (project, crds) in projects(&folder) {
        let kinds = found.kinds.entry(project.clone()).or_default();
        let derived_alone = found.derived_alone.entry(project).or_default();
        for crd in crds {
            if let Some(derived) = alone.profile(&crd.gk, Some(&crd)) {
                let answer = facts(&derived, &[Source::Crd]);
                found.derived += answer.len();
                derived_alone.insert(crd.gk.qualified(), answer);
            }
            let Some(profile) = with_profiles.profile(&crd.gk, Some(&crd)) else {
                continue;
            };
            let answer = facts(&profile, &[Source::Builtin, Source::Crd]);
            kinds.insert(crd.gk.qualified(), answer);
        }
    }
    let count = format!("{} facts derived without a profile\n", found.derived);
    std::io::stderr().write_all(count.as_bytes()).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/derive/facts.yaml");
    if std::env::var_os("ATTACHE_BLESS").is_some() {
        std::fs::write(&file, serde_saphyr::to_string(&found).unwrap()).unwrap();
    }
    let expected: Facts = serde_saphyr::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert!(
        found.derived >= expected.derived,
        "{} facts, {} before",
        found.derived,
        expected.derived
    );
    hold(&found.kinds, &expected.kinds);
    hold(&found.derived_alone, &expected.derived_alone);
}

/// Compares kind by kind, to show which one differs.
fn hold(found: &Projects, expected: &Projects) {
    for (project, kinds) in expected {
        for (kind, facts) in kinds {
            let now = found.get(project).and_then(|kinds| kinds.get(kind));
            assert_eq!(now, Some(facts), "{project} {kind}");
        }
    }
    assert_eq!(found, expected);
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
