//! A directory of manifests as a snapshot: the state to check against without a cluster.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::engine::admission::finding::{Code, Finding};
use crate::engine::kinds::profile::ProfileRules;
use crate::engine::model::file_order::before_first;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::intern::Interner;
use crate::engine::model::object::{Crd, Header, Meta, Node, Object, watched_gateway_kinds};
use crate::engine::model::selector::Labels;
use crate::engine::state::snapshot::{Change, Snapshot};

mod assumed_objects;
mod counts;
mod duplicates;
mod generated_routes;
mod scopes;

use assumed_objects::{surroundings, without_absent};
pub use counts::Counts;
use duplicates::differ;
pub use duplicates::{Duplicate, written_twice};
use scopes::cluster_scoped;
pub use scopes::is_known_cluster_scoped;

pub(super) use super::files::files;
pub use super::files::{Links, read_stdin};
use super::repository::unbuilt;

use super::departures::{Definitions, Judged};
use super::manifest::{Manifests, Origin, Problem, without_place};
use super::parallel::parallel_map;
use super::raw::RawObject;

/// The number of objects that a thread takes at a time.
const RUN: usize = 256;
/// The label that the API server sets on every Namespace.
const NAMESPACE_LABEL: &str = "kubernetes.io/metadata.name";

/// A directory that was read.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// All usable objects.
    pub snapshot: Snapshot,
    /// The usable objects, in the order of appearance.
    pub objects: Vec<Object>,
    /// Mismatches between Gateway API objects and their CRDs.
    pub departures: BTreeMap<ObjectKey, Vec<Finding>>,
    /// The place at which each object is written; of two with one name, the later one. This includes the objects that the
    /// API server would not accept.
    pub origins: BTreeMap<ObjectKey, Origin>,
    /// Objects without a creation time in any file. The times they have here only express their order.
    pub undated: BTreeSet<ObjectKey>,
    /// Objects that are in no file: controllers generate them from others.
    pub generated: BTreeSet<ObjectKey>,

    /// Objects that are written again, in the order of appearance.
    pub duplicates: Vec<Duplicate>,
    /// Objects per kind.
    pub counts: Counts,
    /// Parts that could not be used, with the reason.
    pub problems: Vec<Problem>,
    /// The CRDs among the objects.
    pub crds: Vec<Arc<Crd>>,
}

/// Reads files and directories (recursively, sorted by name) into a snapshot. Objects without a namespace go to
/// `namespace`, as with kubectl.
pub fn load(paths: &[PathBuf], rules: &Arc<ProfileRules>, namespace: &str) -> Loaded {
    Loaded::new(unbuilt(paths, Links::Within), rules, namespace)
}

/// A manifest that is an object.
struct ObjectManifest {
    /// The version in its `apiVersion`.
    version: Arc<str>,
    gk: GroupKind,
    origin: Origin,
    raw: RawObject,
    /// Its metadata as the API server would store it.
    header: Header,
}

/// An object that was read, or why it cannot be used.
struct LoadedObject {
    origin: Origin,
    object: Result<Object, Unusable>,
    judged: Judged,
}

/// The identity of an object that cannot be used, if it is known, and the problem, unless it was reported before.
struct Unusable {
    outline: Option<Object>,
    problem: Option<Problem>,
}

/// Applies `work` to each item, in parallel. An item is freed as soon as it is done, so that not all items and all
/// results are in memory at once. Each thread has an interner.
fn each<T: Send, R: Send>(items: Vec<T>, work: impl Fn(&mut Interner, T) -> R + Sync) -> Vec<R> {
    let count = items.len();
    let mut items = items.into_iter();
    let mut runs: Vec<Mutex<Vec<T>>> = Vec::with_capacity(count.div_ceil(RUN));
    while items.len() > 0 {
        runs.push(Mutex::new(items.by_ref().take(RUN).collect()));
    }
    drop(items);
    let take = |run: &Mutex<Vec<T>>| {
        let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *run)
    };
    let done = parallel_map(&runs, Interner::default, |interner, run| {
        let items = take(run).into_iter();
        items.map(|item| work(interner, item)).collect::<Vec<R>>()
    });
    let mut all = Vec::with_capacity(count);
    all.extend(done.into_iter().flatten());
    all
}

// === impl Loaded ===

impl Loaded {
    /// Turns manifests into a snapshot.
    ///
    /// A `creationTimestamp` in a file counts. Objects without one are newer than all objects that have one; among
    /// themselves, the earlier in the files is the older. The times they get do not depend on other objects: a
    /// timestamp of the year 9999 does not change the order of any two others. A Namespace that objects live in exists
    /// whether or not a file defines it.
    pub fn new(manifests: Manifests, rules: &Arc<ProfileRules>, namespace: &str) -> Self {
        Self::on(None, manifests, rules, namespace)
    }

    /// Applies manifests to a state as one change. Objects that exist in `base` keep their age; new ones are newer than
    /// all of them.
    pub fn on(
        base: Option<&Snapshot>,
        manifests: Manifests,
        rules: &Arc<ProfileRules>,
        namespace: &str,
    ) -> Self {
        Self::load(base, base, manifests, rules, namespace)
    }

    /// Turns manifests into a separate state, on top of that of a cluster. Objects that exist in
    /// the cluster keep their age. CRDs, classes and Namespaces that the manifests lack are taken
    /// from the cluster, because manifests usually leave these to others. Objects that the
    /// manifests name and that are in neither of them do not exist.
    pub fn over_cluster(
        cluster: &Snapshot,
        manifests: Manifests,
        rules: &Arc<ProfileRules>,
        namespace: &str,
    ) -> Self {
        let base = surroundings(cluster, rules);
        let mut loaded = Self::load(Some(&base), Some(cluster), manifests, rules, namespace);
        loaded.snapshot = without_absent(&loaded.snapshot, cluster);
        loaded
    }

    /// Applies manifests to a state. Objects in `ages` keep their age.
    fn load(
        base: Option<&Snapshot>,
        ages: Option<&Snapshot>,
        mut manifests: Manifests,
        rules: &Arc<ProfileRules>,
        namespace: &str,
    ) -> Self {
        let generated = generated_routes::add(&mut manifests, rules, namespace);
        let mut problems = manifests.problems;
        let mut interner = Interner::default();
        let mut parsed = each(manifests.objects, |interner, manifest| {
            let version = manifest.api_version.rsplit('/').next().unwrap_or_default();
            let mut version: Arc<str> = version.into();
            interner.text(&mut version);
            let mut raw = RawObject::read(manifest.json.get());
            raw.intern(interner);
            ObjectManifest {
                version,
                gk: manifest.gk,
                origin: manifest.origin,
                raw,
                header: Header::default(),
            }
        });
        parsed.retain_mut(
            |ObjectManifest {
                 gk, origin, raw, ..
             }| {
                interner.kind(gk);
                let Some(why) = &raw.odd else {
                    return true;
                };
                problems.push(problem(gk, origin, raw, &why.to_string()));
                !raw.header().name.is_empty()
            },
        );
        let crds = definitions(&parsed);
        let cluster_scoped = cluster_scoped(base, &crds);
        let definitions = Definitions::new(base, crds);
        let mut loaded = Self {
            generated,
            ..Self::default()
        };
        let mut age = before_first(parsed.len());
        for ObjectManifest {
            version,
            gk,
            raw,
            header,
            ..
        } in &mut parsed
        {
            age = age
                .saturating_add(SignedDuration::from_secs(1))
                .unwrap_or(age);
            *header = placed(raw.header().clone(), gk, cluster_scoped(gk), namespace);
            interner.text(&mut header.namespace);
            header.meta.version = Some(version.clone());
            let key = header.key(gk);
            let known = ages.and_then(|ages| ages.get(&key));
            let known = known.and_then(|object| object.meta.created);
            let created = header.meta.created.or(known);
            header.meta.created = created.or(Some(age));
            if created.is_none() {
                loaded.undated.insert(key);
            } else {
                loaded.undated.remove(&key);
            }
        }
        loaded.take(base, parsed, &definitions, &mut problems);
        loaded.add_namespaces(base, age);
        problems.sort();
        loaded.problems = problems;
        loaded.build(base, rules);
        loaded
    }

    /// Reads the objects and adds them, without those that the API server would not accept.
    fn take(
        &mut self,
        base: Option<&Snapshot>,
        parsed: Vec<ObjectManifest>,
        definitions: &Definitions,
        problems: &mut Vec<Problem>,
    ) {
        let taken = each(parsed, |interner, manifest| {
            let ObjectManifest {
                gk,
                raw,
                version,
                header,
                origin,
            } = manifest;
            let judged = definitions.judge(&gk, &header, &version, raw.spec.as_deref());
            let read = raw.to_object_as(&gk, &header, judged.pruned.as_deref());
            let read = read.map(|mut object| {
                interner.object(&mut object);
                object
            });
            let object = read.map_err(|why| Unusable {
                outline: raw.outline(&gk, &header, &why),
                problem: raw
                    .odd
                    .is_none()
                    .then(|| problem(&gk, &origin, &raw, &why.to_string())),
            });
            LoadedObject {
                origin,
                object,
                judged,
            }
        });
        let mut places = HashMap::new();
        for LoadedObject {
            origin,
            object,
            judged,
        } in taken
        {
            let mut object = match object {
                Ok(object) => object,
                Err(unusable) => {
                    problems.extend(unusable.problem);
                    if let Some(outline) = unusable.outline {
                        self.push(outline, origin, &mut places);
                    }
                    continue;
                }
            };
            // If two objects have one name, the later one counts.
            if judged.findings.is_empty() {
                self.departures.remove(&object.key);
            } else {
                self.departures.insert(object.key.clone(), judged.findings);
            }
            if judged.is_refused {
                self.origins.entry(object.key).or_insert(origin);
                continue;
            }
            if let Some(base) = base {
                base.replace_reported(&mut object);
            }
            self.push(object, origin, &mut places);
        }
    }

    /// Adds an object. It replaces an earlier one with the same name, as `kubectl apply` would.
    fn push(&mut self, object: Object, origin: Origin, places: &mut HashMap<ObjectKey, usize>) {
        let place = *places
            .entry(object.key.clone())
            .or_insert(self.objects.len());
        if let Some(first) = self.origins.insert(object.key.clone(), origin.clone()) {
            let before = self.objects.get(place);
            self.duplicates.push(Duplicate {
                key: object.key.clone(),
                first,
                again: origin,
                differs: before.is_none_or(|before| differ(before, &object)),
            });
        }
        match self.objects.get_mut(place) {
            Some(before) => *before = object,
            None => self.objects.push(object),
        }
    }

    /// Adds the Namespaces that objects live in and no file defines.
    fn add_namespaces(&mut self, base: Option<&Snapshot>, created: Timestamp) {
        let gk = GroupKind::core("Namespace");
        let names: BTreeSet<Arc<str>> = self
            .objects
            .iter()
            .map(|object| Arc::clone(&object.key.namespace))
            .filter(|name| !name.is_empty())
            .collect();
        for name in names {
            let key = ObjectKey::new(gk.clone(), "", Arc::clone(&name));
            let known = base.is_some_and(|base| base.get(&key).is_some());
            if known || self.origins.contains_key(&key) {
                continue;
            }
            let meta = Meta {
                labels: Labels::from_iter([(NAMESPACE_LABEL.into(), name)]),
                created: Some(created),
                ..Meta::default()
            };
            self.objects.push(Object {
                key,
                meta,
                node: Node::Other,
                spec: None,
                reported: None,
                unread: None,
            });
        }
    }

    /// The objects that the API server would not accept, because their version is not served.
    pub fn refused(&self) -> impl Iterator<Item = Problem> {
        let unserved = self.departures.values().flatten().filter(|finding| {
            let is_there = self.snapshot.get(&finding.object).is_some();
            finding.code == Code::VersionUnknown && !is_there
        });
        unserved.map(|finding| {
            let origin = self.origins.get(&finding.object);
            Problem {
                file: origin.map(|origin| origin.file.clone()).unwrap_or_default(),
                line: origin.map_or(0, |origin| origin.line),
                column: 0,
                object: Some(finding.object.clone()),
                message: finding.message.clone(),
                foreign: false,
            }
        })
    }

    fn build(&mut self, base: Option<&Snapshot>, rules: &Arc<ProfileRules>) {
        let mut kinds: BTreeMap<GroupKind, Vec<Arc<Object>>> = BTreeMap::new();
        // A directory is the whole state: a Gateway API kind without objects is known to have none.
        for gk in watched_gateway_kinds() {
            kinds.entry(gk).or_default();
        }
        for object in &self.objects {
            if let Node::Crd(crd) = &object.node {
                self.crds.push(Arc::clone(crd));
                kinds.entry(crd.gk.clone()).or_default();
            }
            let objects = kinds.entry(object.key.gk.clone()).or_default();
            objects.push(Arc::new(object.clone()));
        }
        for (gk, objects) in &kinds {
            let written = objects
                .iter()
                .filter(|object| self.origins.contains_key(&object.key))
                .count();
            if written > 0 {
                self.counts.kinds.insert(gk.clone(), written);
            }
        }
        let mut snapshot = base.map_or_else(|| Snapshot::new(Arc::clone(rules)), Snapshot::clone);
        // CRDs first, because policies are read according to their CRD.
        let crds = kinds.remove_entry(&GroupKind::CRD);
        for (gk, objects) in crds.into_iter().chain(kinds) {
            if base.is_some() {
                snapshot = objects
                    .into_iter()
                    .map(Change::Applied)
                    .fold(snapshot, |s, c| s.apply(c));
            } else {
                snapshot = snapshot.apply(Change::Listed(gk, objects));
            }
        }
        self.counts.policy_kinds = snapshot
            .policy_kinds()
            .filter(|gk| self.counts.kinds.contains_key(*gk))
            .cloned()
            .collect();
        self.snapshot = match base {
            Some(base) => {
                let objects = self.objects.iter();
                let changed = objects.filter(|object| base.is_changed_by(object));
                snapshot.changed_from(base, changed.map(|object| object.key.clone()))
            }
            None => snapshot,
        };
    }
}

/// The metadata as the API server would store it.
fn placed(mut header: Header, gk: &GroupKind, is_global: bool, namespace: &str) -> Header {
    if is_global {
        header.namespace = "".into();
    } else if header.namespace.is_empty() {
        header.namespace = namespace.into();
    }
    let labels = &mut header.meta.labels;
    if gk.is_core("Namespace") && !labels.contains_key(NAMESPACE_LABEL) {
        labels.insert(NAMESPACE_LABEL.into(), Arc::clone(&header.name));
    }
    header
}

/// The CRDs among the files.
fn definitions(parsed: &[ObjectManifest]) -> Vec<Arc<Crd>> {
    let definitions = parsed
        .iter()
        .filter(|manifest| manifest.gk == GroupKind::CRD);
    let read = definitions.filter_map(|ObjectManifest { gk, raw, .. }| {
        match raw.to_object(gk).ok()?.node {
            Node::Crd(crd) => Some(crd),
            _ => None,
        }
    });
    read.collect()
}

fn problem(gk: &GroupKind, origin: &Origin, raw: &RawObject, why: &str) -> Problem {
    Problem {
        file: origin.file.clone(),
        line: origin.line,
        column: 0,
        object: Some(raw.key(gk)),
        message: without_place(why).to_owned(),
        foreign: false,
    }
}
