//! States for the tests of `attache explain`: the directories of the pages, and manifests in any order.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache::cache::directory::{Links, Loaded};
use attache::cache::manifest::Manifests;
use attache::cache::repository::unbuilt;
use attache::config::Configuration;
use attache::engine::kinds::profile::ProfileRules;
use serde_json::Value;

/// The directories that have a page.
pub(crate) const CASES: [&str; 8] = [
    "tests/commands/explain/listeners",
    "tests/commands/explain/http",
    "tests/commands/explain/grpc",
    "tests/commands/explain/mesh",
    "tests/commands/explain/attachment",
    "tests/commands/explain/settings",
    "tests/commands/explain/odd",
    "examples/quickstart",
];

/// A directory as the command reads it.
pub(crate) fn loaded(folder: &str) -> Loaded {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let config = Configuration::find(None, Some(&root)).unwrap();
    let paths: [PathBuf; 1] = [root];
    Loaded::new(
        unbuilt(&paths, Links::Within),
        &config.rules(testing::builtin()),
        "default",
    )
}

/// Manifests in this order.
pub(crate) fn in_order(objects: &[Value]) -> Loaded {
    let mut manifests = Manifests::default();
    for (i, object) in objects.iter().enumerate() {
        manifests.add(&format!("{i}.json"), &object.to_string());
    }
    let loaded = Loaded::new(manifests, &Arc::new(ProfileRules::default()), "default");
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    loaded
}
