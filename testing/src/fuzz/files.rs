//! Files of other tests, which are good seeds.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::root;

/// The files in a folder and its subfolders that `takes` accepts, sorted by name.
pub fn find(folder: &str, takes: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if takes(&path) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths
}

/// The files with this name in the cases of a test.
pub fn of_cases(test: &str, name: &str) -> Vec<PathBuf> {
    let paths = find(&format!("tests/{test}"), &|path| path.ends_with(name));
    assert!(!paths.is_empty(), "no {name} in tests/{test}");
    paths
}

/// The text of a file.
pub fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The documents of a YAML file.
pub fn documents(path: &Path) -> Vec<Value> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text(path))
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    documents.into_iter().filter(|d| !d.is_null()).collect()
}
