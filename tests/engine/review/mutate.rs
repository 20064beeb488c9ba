//! Runs every case in `tests/mutate/`: a state, a request, the patch, and the validating endpoint's verdict on the
//! patched object.
//!
//! Each case also has the state and the profiles of `tests/review/`. Policies of all kinds have been listed, unless the
//! request says `unlisted: true`.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use attache::config::Configuration;
use attache::engine::admission::mutate::{Mutations, mutate};
use attache::engine::admission::verdict::Verdict;
use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::Object;
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::Value;

use super::{as_configured, state, transcript};
use testing::cases::{asked, documents, hold, reviewed, root};

fn configuration(case: &Path) -> Configuration {
    let shared = Configuration::read(&root("review").join("attache.yaml")).unwrap();
    let own = Configuration::read(&case.join("attache.yaml")).unwrap();
    // The later of two profiles for one kind wins.
    let profiles = shared.profiles.iter().chain(&own.profiles).cloned();
    Configuration {
        profiles: profiles.collect(),
        ..own
    }
}

fn listed(snapshot: Snapshot) -> Snapshot {
    let kinds: Vec<GroupKind> = snapshot.policy_kinds().cloned().collect();
    kinds.into_iter().fold(snapshot, |snapshot, kind| {
        let objects: Vec<Arc<Object>> = snapshot.objects(&kind).cloned().collect();
        snapshot.apply(Change::Listed(kind, objects))
    })
}

fn mutated(snapshot: &Snapshot, on: &Mutations, request: &Value) -> Verdict {
    asked(request, |request| mutate(snapshot, on, request))
}

#[test]
fn every_object_is_mutated_as_expected() {
    hold(&root("mutate"), |case| {
        let mut request = documents(&case.join("request.yaml")).remove(0);
        let config = configuration(case);
        let mut snapshot = state(case, &config);
        if request["unlisted"] != true {
            snapshot = listed(snapshot);
        }
        let on = config.review_settings().mutations;
        let off = mutated(&snapshot, &Mutations::default(), &request);
        assert_eq!(off, Verdict::default(), "{}", case.display());

        let verdict = mutated(&snapshot, &on, &request);
        let mut text = String::from("patch:\n");
        for operation in &verdict.patch.0 {
            let operation = serde_json::to_string(operation).unwrap();
            writeln!(text, "- {operation}").unwrap();
        }
        for line in verdict.warnings() {
            writeln!(text, "# {line}").unwrap();
        }
        if let Some(object) = request.get_mut("object") {
            json_patch::patch(object, &verdict.patch).unwrap();
            let again = mutated(&snapshot, &on, &request);
            assert!(
                again.patch.is_empty(),
                "{}: {:?}",
                case.display(),
                again.patch
            );
            assert_eq!(again.findings, verdict.findings);
        }
        let verdict = reviewed(&snapshot, &request);
        let verdict = as_configured(&config, &snapshot, verdict, &request);
        text.push_str(&transcript(&verdict));
        text
    });
}
