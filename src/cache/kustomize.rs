//! Finds kustomizations among files: what each of them reads, and which of them no other builds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::files::text;
use super::manifest::options;
use crate::engine::model::literal::Literal;

/// File names that make a directory a kustomization.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
/// Fields that list manifests or directories.
const RESOURCES: [&str; 3] = ["resources", "bases", "components"];
/// Fields that list other files, or entries with the path of one.
const OTHERS: [&str; 10] = [
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "replacements",
    "configurations",
    "crds",
    "generators",
    "transformers",
    "validators",
    "openapi",
];

/// A kustomization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kustomization {
    /// Its file.
    pub(super) file: PathBuf,
    /// Its directory.
    pub(super) dir: PathBuf,
    /// Whether it is a component, which is only built as part of others.
    is_component: bool,
    /// Files of manifests.
    files: BTreeSet<PathBuf>,
    /// Directories with kustomizations.
    dirs: BTreeSet<PathBuf>,
    /// Patches and other files that are not manifests.
    others: BTreeSet<PathBuf>,
    /// The first resource that is not on this machine.
    pub(super) remote: Option<String>,
}

/// All kustomizations among files.
#[derive(Clone, Debug, Default)]
pub(super) struct Kustomizations {
    by_dir: BTreeMap<PathBuf, Kustomization>,
}

// === impl Kustomization ===

impl Kustomization {
    /// Reads the kustomization of a directory, if there is one.
    fn in_directory(dir: &Path) -> Option<Self> {
        let mut files = NAMES.iter().map(|name| dir.join(name));
        let file = files.find(|file| file.is_file())?;
        let read = text(&file).ok();
        let value = read
            .and_then(|text| serde_saphyr::from_str_with_options::<Literal>(&text, options()).ok());
        let Literal(value) = value.unwrap_or_default();
        let mut kustomization = Self {
            file,
            dir: normal(dir),
            is_component: value.get("kind").and_then(Value::as_str) == Some("Component"),
            ..Self::default()
        };
        for name in RESOURCES.iter().flat_map(|field| texts(&value, field)) {
            let path = normal(&dir.join(&name));
            if path.is_dir() {
                kustomization.dirs.insert(path);
            } else if path.is_file() {
                kustomization.files.insert(path);
            } else {
                kustomization.remote = Some(name);
            }
        }
        for name in OTHERS.iter().flat_map(|field| texts(&value, field)) {
            let path = normal(&dir.join(&name));
            if path.is_file() {
                kustomization.others.insert(path);
            }
        }
        Some(kustomization)
    }
}

/// The paths that a field lists: strings, or entries with a `path`. Inline patches are strings too, but not paths.
fn texts(value: &Value, field: &str) -> Vec<String> {
    let items = match value.get(field) {
        Some(Value::Array(items)) => items.as_slice(),
        Some(item) => std::slice::from_ref(item),
        None => &[],
    };
    let path = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        item => item.get("path").and_then(Value::as_str).map(str::to_owned),
    };
    items.iter().filter_map(path).collect()
}

// === impl Kustomizations ===

impl Kustomizations {
    /// Finds the kustomizations in the directories of these files.
    pub(super) fn among<'a>(files: impl Iterator<Item = &'a Path>) -> Self {
        let dirs: BTreeSet<&Path> = files.filter_map(Path::parent).collect();
        let kustomizations = dirs.into_iter().filter_map(|dir| {
            let dir = if dir.as_os_str().is_empty() {
                Path::new(".")
            } else {
                dir
            };
            Kustomization::in_directory(dir)
        });
        Self {
            by_dir: kustomizations
                .map(|kustomization| (kustomization.dir.clone(), kustomization))
                .collect(),
        }
    }

    /// Reads the kustomization of a directory and those that it builds, inside or outside of the directory.
    pub(super) fn built_from(dir: &Path) -> Self {
        let mut all = Self::default();
        let mut open = vec![normal(dir)];
        while let Some(next) = open.pop() {
            if all.by_dir.contains_key(&next) {
                continue;
            }
            if let Some(kustomization) = Kustomization::in_directory(&next) {
                open.extend(kustomization.dirs.iter().cloned());
                all.by_dir.insert(next, kustomization);
            }
        }
        all
    }

    /// The kustomization of a directory.
    pub(super) fn in_directory(&self, dir: &Path) -> Option<&Kustomization> {
        self.by_dir.get(&normal(dir))
    }

    /// All files that the kustomizations read, and their own files.
    pub(super) fn files(&self) -> BTreeSet<PathBuf> {
        let all = self.by_dir.values();
        let read = all.flat_map(|k| k.files.iter().chain(&k.others).chain([&k.file]));
        read.cloned().collect()
    }

    /// The number of kustomizations.
    pub(super) fn len(&self) -> usize {
        self.by_dir.len()
    }

    /// The kustomizations that no other builds.
    pub(super) fn roots(&self) -> impl Iterator<Item = &Kustomization> {
        let named: BTreeSet<&PathBuf> = self.by_dir.values().flat_map(|k| &k.dirs).collect();
        let all = self.by_dir.values();
        all.filter(move |k| !k.is_component && !named.contains(&k.dir))
    }

    /// A kustomization and all that it builds, directly or not.
    fn below<'a>(&'a self, root: &'a Kustomization) -> Vec<&'a Kustomization> {
        let (mut reached, mut open) = (vec![root], vec![root]);
        while let Some(next) = open.pop() {
            for inner in next.dirs.iter().filter_map(|dir| self.by_dir.get(dir)) {
                if !reached.iter().any(|known| known.dir == inner.dir) {
                    reached.push(inner);
                    open.push(inner);
                }
            }
        }
        reached
    }

    /// The manifests that a kustomization is built from.
    pub(super) fn sources(&self, root: &Kustomization) -> BTreeSet<PathBuf> {
        let all = self.below(root).into_iter();
        all.flat_map(|k| k.files.iter().cloned()).collect()
    }

    /// A resource that a kustomization needs and that is not on this machine.
    pub(super) fn remote(&self, root: &Kustomization) -> Option<String> {
        self.below(root).into_iter().find_map(|k| k.remote.clone())
    }

    /// The kustomization that reads a file as something other than a manifest, such as a patch.
    pub(super) fn reads(&self, file: &Path) -> Option<&Kustomization> {
        let file = normal(file);
        self.by_dir
            .values()
            .find(|k| k.others.contains(&file) && !k.files.contains(&file))
    }
}

/// A path without `.`, and without `..` as far as that can be resolved without the file system.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(normal.components().next_back(), Some(Component::Normal(_))) =>
            {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    if normal.as_os_str().is_empty() {
        normal.push(".");
    }
    normal
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::normal;

    #[test]
    fn paths_are_compared_without_detours() {
        for (path, plain) in [
            ("./a/../b/c.yaml", "b/c.yaml"),
            ("overlays/prod/../../base", "base"),
            ("../a", "../a"),
            ("a/..", "."),
            ("/a/./b", "/a/b"),
        ] {
            assert_eq!(normal(Path::new(path)), Path::new(plain), "{path}");
        }
    }
}
