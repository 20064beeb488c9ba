//! The state for reviewing requests, which combines the states of all cases of other tests.

use std::sync::{Arc, LazyLock};

use attache::cache::directory::Loaded;
use attache::cache::manifest::Manifests;
use attache::config::Configuration;
use attache::engine::admission::settings::ReviewSettings;
use attache::engine::kinds::profile::ProfileRules;
use attache::engine::model::object::Object;
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::{Value, json};

use super::files;
use super::rng::Rng;

/// A state built in two ways, which must give the same answers.
pub struct ReviewState {
    /// Built from lists.
    pub listed: Arc<Snapshot>,
    /// Built object by object, in another order.
    pub grown: Snapshot,
    /// Settings with everything enabled.
    pub review_settings: Arc<ReviewSettings>,
}

static STATE: LazyLock<ReviewState> = LazyLock::new(ReviewState::read);

impl ReviewState {
    /// The state that all targets share.
    pub fn get() -> &'static Self {
        &STATE
    }

    fn read() -> Self {
        let mut configuration = configuration();
        let rules = configuration.rules(crate::builtin());
        let mut manifests = Manifests::default();
        let mut states = vec![crate::root().join("tests/review/base.yaml")];
        for test in ["review", "kinds"] {
            states.extend(files::of_cases(test, "state.yaml"));
        }
        states.extend(files::of_cases("kinds", "kinds.yaml"));
        for path in states {
            manifests.add(&path.display().to_string(), &files::text(&path));
        }
        let loaded = Loaded::new(manifests, &rules, "default");
        assert!(
            loaded.objects.len() > 300,
            "{} objects",
            loaded.objects.len()
        );
        configuration.mutations = switches();
        Self {
            listed: Arc::new(loaded.snapshot),
            grown: grown(&rules, &loaded.objects),
            review_settings: Arc::new(configuration.review_settings()),
        }
    }
}

/// The profiles of all cases, and overrides that use every property of a request.
fn configuration() -> Configuration {
    let mut all = Configuration::default();
    for test in ["review", "kinds", "mutate"] {
        for path in files::of_cases(test, "attache.yaml") {
            all.profiles
                .extend(Configuration::read(&path).unwrap().profiles);
        }
    }
    let overrides = json!([
        {"when": {"groups": ["lenient"]}, "findings": {"section-unknown": "off", "affected-by": "deny"}},
        {"when": {"namespaces": ["shop"], "dryRun": true}, "findings": {"target-not-found": "deny"}},
    ]);
    all.overrides = serde_json::from_value(overrides).unwrap();
    all
}

fn switches() -> attache::engine::admission::mutate::Switches {
    let all: Value = json!({"normalize-targets": true, "default-strategy": true,
        "affected-annotation": true, "migrate-target-ref": true, "project-fields": true});
    serde_json::from_value(all).unwrap()
}

/// Applies objects one by one in random order, some of them twice, after listing their kinds.
pub fn grown(rules: &Arc<ProfileRules>, objects: &[Object]) -> Snapshot {
    let mut rng = Rng::new(7);
    let mut order: Vec<usize> = (0..objects.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, rng.below(i + 1));
    }
    let mut snapshot = Snapshot::new(rules.clone());
    // As for a directory, the kinds of Gateway API and those of CRDs are known.
    let nothing = Loaded::new(Manifests::default(), rules, "default").snapshot;
    let known = nothing.known_kinds().cloned();
    let mut kinds: Vec<_> = known
        .chain(objects.iter().map(|o| o.key.gk.clone()))
        .collect();
    kinds.extend(objects.iter().filter_map(|object| match &object.node {
        attache::engine::model::object::Node::Crd(crd) => Some(crd.gk.clone()),
        _ => None,
    }));
    for gk in kinds {
        snapshot = snapshot.apply(Change::Listed(gk, Vec::new()));
    }
    for i in order {
        if rng.one_in(5) {
            let mut other = objects[i].clone();
            other.meta.labels.insert("other".into(), "x".into());
            snapshot = snapshot.apply(Change::Applied(Arc::new(other)));
        }
        if rng.one_in(7) {
            snapshot = snapshot.apply(Change::Deleted(objects[i].key.clone()));
        }
        snapshot = snapshot.apply(Change::Applied(Arc::new(objects[i].clone())));
    }
    snapshot
}
