//! Reads directories as they are kept in Git: builds kustomizations, and leaves out patches and templates.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::exec::{self, ExecError};
use super::files::{FoundFile, Links, files, read_found};
pub use super::kustomize::normal;
use super::kustomize::{Kustomization, Kustomizations};
use super::manifest::{Manifest, Manifests, Origin, documents};
use super::skipped::{Skipped, SkippedFileType};
use crate::engine::model::ids::GroupKind;
use crate::engine::model::literal;

/// The manifests of a repository.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    /// The manifests that belong together.
    pub manifests: Manifests,
    /// Builds that define the same objects, for different clusters. Only one of each group applies at a time.
    pub alternatives: Vec<Vec<Build>>,
    /// Notes for the user on how the files were read.
    pub notes: Vec<String>,
}

/// The result of building a kustomization.
#[derive(Clone, Debug)]
pub struct Build {
    /// The last component of its directory: `prod`.
    pub label: String,
    /// Its directory.
    pub dir: String,
    /// Its objects.
    pub manifests: Manifests,
}

/// Kind, namespace and name of an object.
type Name = (GroupKind, String, String);

/// Reads files and directories (recursively, sorted by name) into manifests. Kustomizations are not built; patches are left out.
pub fn unbuilt(paths: &[PathBuf], links: Links) -> Manifests {
    let files_found = files(paths, links);
    let named = |path: &PathBuf| paths.contains(path);
    let walked = files_found.iter().flatten().filter(|path| !named(path));
    let all = Kustomizations::among(walked.map(PathBuf::as_path));
    not_built(files_found, paths, &all, &BTreeSet::new())
}

/// Reads files and directories. Kustomizations are built if there is a program for it and nothing has to be fetched.
pub fn read(paths: &[PathBuf], links: Links) -> Repository {
    let files_found = files(paths, links);
    let named = |path: &PathBuf| paths.contains(path);
    let walked = files_found.iter().flatten().filter(|path| !named(path));
    let all = Kustomizations::among(walked.map(PathBuf::as_path));
    let mut repository = Repository::default();
    let (mut builds, mut built) = (Vec::new(), BTreeSet::new());
    let mut missing = false;
    for root in all.roots() {
        if missing {
            break;
        }
        if let Some(remote) = all.remote(root) {
            repository.notes.push(format!(
                "{} is not built: it reads {remote:?}, which is not here; -k builds it all the same",
                shown(&root.dir)
            ));
            continue;
        }
        let sources = all.sources(root);
        match exec::kustomize(&root.dir) {
            Ok(text) => {
                builds.push(build(root, &text, &sources));
                built.extend(sources);
            }
            Err(ExecError::Missing) => missing = true,
            Err(ExecError::Failed(why)) => {
                let file = root.file.display().to_string();
                let why = format!("cannot be built, so what it reads is checked as it is: {why}");
                repository.manifests.pass_over(&file, &why);
            }
        }
    }
    if missing {
        let count = all.len();
        let noun = if count == 1 {
            "kustomization is"
        } else {
            "kustomizations are"
        };
        repository.notes.push(format!(
            "{count} {noun} not built, because neither kustomize nor kubectl is on the PATH: manifests are read as they are, and patches are left out"
        ));
    }
    repository
        .manifests
        .append(not_built(files_found, paths, &all, &built));
    repository.add(builds);
    repository
}

/// Reads the files that are not part of a build.
fn not_built(
    files_found: Vec<FoundFile>,
    paths: &[PathBuf],
    all: &Kustomizations,
    built: &BTreeSet<PathBuf>,
) -> Manifests {
    let (mut read, mut skipped) = (Vec::new(), Vec::new());
    for file in files_found {
        let Some(path) = file.as_ref().ok().filter(|path| !paths.contains(path)) else {
            read.push(file);
            continue;
        };
        if built.contains(&normal(path)) {
            continue;
        }
        match all.reads(path) {
            None => read.push(file),
            Some(reader) => skipped.push(Skipped {
                file: path.display().to_string(),
                line: 0,
                what: SkippedFileType::Patch(reader.file.display().to_string()),
            }),
        }
    }
    let mut manifests = read_found(&read);
    manifests.skipped.extend(skipped);
    manifests
}

/// Builds the kustomization in one directory. The caller reports problems.
///
/// # Errors
/// Fails if neither kustomize nor kubectl is there, or the build fails.
pub fn kustomization(dir: &Path) -> Result<Manifests, String> {
    let text = exec::kustomize(dir).map_err(|trouble| match trouble {
        ExecError::Missing => format!(
            "neither kustomize nor kubectl is on the PATH: install one, or build {} elsewhere and name - for the standard input",
            dir.display()
        ),
        ExecError::Failed(why) => format!("{} cannot be built: {why}", dir.display()),
    })?;
    let all = Kustomizations::built_from(dir);
    let root = all.in_directory(dir).cloned().unwrap_or_default();
    let sources = all.sources(&root);
    Ok(build(&root, &text, &sources).manifests)
}

/// The manifests of a kustomization and of those that it builds.
pub fn sources(dir: &Path) -> BTreeSet<PathBuf> {
    let all = Kustomizations::built_from(dir);
    all.in_directory(dir)
        .map(|root| all.sources(root))
        .unwrap_or_default()
}

/// All files that a kustomization and those that it builds read. A build can only change when one of them does.
pub fn read_by(dir: &Path) -> BTreeSet<PathBuf> {
    Kustomizations::built_from(dir).files()
}

/// Renders a Helm chart.
///
/// # Errors
/// Fails if Helm is not there, or rendering fails.
pub fn chart(dir: &Path, values: &[PathBuf], namespace: &str) -> Result<Manifests, String> {
    let text = exec::helm(dir, values, namespace).map_err(|trouble| match trouble {
        ExecError::Missing => format!(
            "helm is not on the PATH: install it, or run helm template {} elsewhere and name - for the standard input",
            dir.display()
        ),
        ExecError::Failed(why) => format!("{} cannot be rendered: {why}", dir.display()),
    })?;
    let mut manifests = Manifests::default();
    for document in documents(&text) {
        let document = document.text;
        let file = template(dir, document).unwrap_or_else(|| dir.to_owned());
        let mut part = Manifests::default();
        part.add("rendered.yaml", document);
        let file = file.display().to_string();
        for object in &mut part.objects {
            object.origin = whole_file(&file);
        }
        for problem in &mut part.problems {
            problem.file.clone_from(&file);
            (problem.line, problem.column) = (0, 0);
        }
        part.skipped.clear();
        manifests.append(part);
    }
    Ok(manifests)
}

/// The template of a rendered document, from the line `# Source: chart/templates/routes.yaml`; the first component is the
/// name of the chart. `None` if there is no such file: a subchart may be packed, and a template may print such a line itself.
fn template(dir: &Path, document: &str) -> Option<PathBuf> {
    let mut lines = document.lines();
    let source = lines.find_map(|line| line.strip_prefix("# Source: "))?;
    let (_, inside) = source.trim_end().split_once('/')?;
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let inside = Path::new(inside);
    let file = dir.join(inside);
    (inside.components().all(is_plain) && file.is_file()).then_some(file)
}

/// The objects of a build, each with the origin of its source if it can be found.
fn build(root: &Kustomization, text: &str, sources: &BTreeSet<PathBuf>) -> Build {
    let dir = shown(&root.dir);
    let mut manifests = Manifests::default();
    manifests.add(&dir, text);
    let written = read_found(&sources.iter().cloned().map(Ok).collect::<Vec<FoundFile>>());
    let mut places: BTreeMap<(GroupKind, String), Vec<Origin>> = BTreeMap::new();
    for object in written.objects {
        let (gk, _, name) = name(&object);
        places.entry((gk, name)).or_default().push(object.origin);
    }
    let file = root.file.display().to_string();
    for object in &mut manifests.objects {
        object.origin = place(object, &places).unwrap_or_else(|| whole_file(&file));
    }
    let label = root.dir.file_name().and_then(|name| name.to_str());
    Build {
        label: label.unwrap_or(".").to_owned(),
        dir,
        manifests,
    }
}

/// The origin of an object of a build; kustomize may have added a prefix or suffix to its name.
fn place(object: &Manifest, places: &BTreeMap<(GroupKind, String), Vec<Origin>>) -> Option<Origin> {
    let (gk, _, name) = name(object);
    if let Some([one]) = places.get(&(gk.clone(), name.clone())).map(Vec::as_slice) {
        return Some(one.clone());
    }
    let mut within = places
        .iter()
        .filter(|((kind, written), _)| *kind == gk && name.contains(written.as_str()));
    match (within.next(), within.next()) {
        (Some((_, origins)), None) => origins.first().cloned(),
        _ => None,
    }
}

fn whole_file(file: &str) -> Origin {
    Origin {
        file: file.to_owned(),
        line: 0,
        items: Vec::new(),
    }
}

fn name(object: &Manifest) -> Name {
    let value: Value = literal::from_str(object.json.get()).unwrap_or_default();
    let text = |field: &str| {
        let field_value = value.get("metadata").and_then(|meta| meta.get(field));
        field_value
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    (object.gk.clone(), text("namespace"), text("name"))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

// === impl Repository ===

impl Repository {
    /// Groups builds: those that define an object in common are alternatives.
    fn add(&mut self, builds: Vec<Build>) {
        let mut groups: Vec<(BTreeSet<Name>, Vec<Build>)> = Vec::new();
        for build in builds {
            let mut names: BTreeSet<Name> = build.manifests.objects.iter().map(name).collect();
            // Each overlay may define the Namespace of its objects.
            names.retain(|(gk, ..)| !gk.is_core("Namespace"));
            let (same, others): (Vec<_>, Vec<_>) = groups
                .into_iter()
                .partition(|(known, _)| !known.is_disjoint(&names));
            let mut all = Vec::new();
            for (known, builds) in same {
                names.extend(known);
                all.extend(builds);
            }
            all.push(build);
            groups = others;
            groups.push((names, all));
        }
        for (_, mut builds) in groups {
            builds.sort_by(|a, b| a.dir.cmp(&b.dir));
            match <[Build; 1]>::try_from(builds) {
                Ok([one]) => self.manifests.append(one.manifests),
                Err(builds) => self.alternatives.push(builds),
            }
        }
    }

    /// The labels of the alternatives; empty if there are no alternatives.
    pub fn labels(&self) -> BTreeSet<String> {
        let all = self.alternatives.iter().flat_map(|builds| labels(builds));
        all.collect()
    }

    /// All manifests, with the alternatives of this label. Groups without it use their last one.
    pub fn with(&self, label: &str) -> Manifests {
        let mut manifests = self.manifests.clone();
        for builds in &self.alternatives {
            let labels = labels(builds);
            let at = labels.iter().position(|known| known == label);
            let build = builds.get(at.unwrap_or(builds.len() - 1));
            manifests.append(
                build
                    .map(|build| build.manifests.clone())
                    .unwrap_or_default(),
            );
        }
        manifests
    }

    /// Merges everything into one state: with the alternatives for production if any are named so, else with the last
    /// ones. A note says which were chosen.
    #[must_use]
    pub fn merged(mut self) -> Self {
        let labels = self.labels();
        let Some(last) = labels.last() else {
            return self;
        };
        let production = ["prod", "production"]
            .into_iter()
            .find(|name| labels.contains(*name));
        let label = production.unwrap_or(last).to_owned();
        let mut note = String::new();
        for builds in &self.alternatives {
            let dirs: Vec<&str> = builds.iter().map(|build| &*build.dir).collect();
            let _ = write!(note, "{} define the same objects; ", dirs.join(", "));
        }
        self.notes.push(format!(
            "{note}this is with {label:?}: name one directory to see another"
        ));
        Self {
            manifests: self.with(&label),
            alternatives: Vec::new(),
            notes: self.notes,
        }
    }
}

/// The last components of the directories, or the whole paths if two are the same.
fn labels(builds: &[Build]) -> Vec<String> {
    let short: BTreeSet<&str> = builds.iter().map(|build| &*build.label).collect();
    let is_enough = short.len() == builds.len();
    let label = |build: &Build| {
        let label = if is_enough { &build.label } else { &build.dir };
        label.clone()
    };
    builds.iter().map(label).collect()
}
