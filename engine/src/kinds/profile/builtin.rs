//! Built-in profiles: one YAML file per project.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::file::lists::{NamesFile, VersionsFile};
use super::file::{File, ProfileFile};
use super::{ControllerFile, Profile, Source, resolve};
use crate::model::ids::GroupKind;

/// The files, by project.
const FILES: [(&str, &str); 17] = [
    (
        "agentic-networking",
        include_str!("builtin/agentic-networking.yaml"),
    ),
    ("airlock", include_str!("builtin/airlock.yaml")),
    ("apisix", include_str!("builtin/apisix.yaml")),
    ("aws", include_str!("builtin/aws.yaml")),
    ("azure", include_str!("builtin/azure.yaml")),
    ("envoy-gateway", include_str!("builtin/envoy-gateway.yaml")),
    ("flomesh", include_str!("builtin/flomesh.yaml")),
    ("gateway-api", include_str!("builtin/gateway-api.yaml")),
    ("gke", include_str!("builtin/gke.yaml")),
    ("istio", include_str!("builtin/istio.yaml")),
    ("kgateway", include_str!("builtin/kgateway.yaml")),
    ("kong", include_str!("builtin/kong.yaml")),
    ("kuadrant", include_str!("builtin/kuadrant.yaml")),
    ("linkerd", include_str!("builtin/linkerd.yaml")),
    (
        "nginx-gateway-fabric",
        include_str!("builtin/nginx-gateway-fabric.yaml"),
    ),
    ("traefik", include_str!("builtin/traefik.yaml")),
    ("wso2-apk", include_str!("builtin/wso2-apk.yaml")),
];

/// The versions of kinds.
const VERSIONS: &str = include_str!("builtin/versions.yaml");

/// Short names of kinds.
const NAMES: &str = include_str!("builtin/names.yaml");

/// The built-in facts about policy kinds and controllers. Reading them takes milliseconds: callers
/// read them once and pass them on.
#[derive(Clone, Debug)]
pub struct Builtin {
    /// The profiles of policy kinds, with versions and short names.
    pub profiles: Arc<BuiltinProfiles>,
    /// The facts about controllers.
    pub controllers: Vec<ControllerFile>,
}

/// The built-in profiles, shared by all rules.
#[derive(Clone, Debug, Default)]
pub struct BuiltinProfiles {
    files: BTreeMap<GroupKind, ProfileFile>,
    /// The profiles of policy kinds without a CRD and without configuration.
    alone: BTreeMap<GroupKind, Arc<Profile>>,
}

// === impl BuiltinProfiles ===

impl BuiltinProfiles {
    /// Resolves the profiles of these files.
    pub fn new(files: Vec<ProfileFile>) -> Self {
        let files = by_kind(files);
        let policies = files.iter().filter(|(_, file)| file.policy != Some(false));
        let alone = policies.map(|(gk, file)| {
            let explicit = [(None, Source::Config), (Some(file), Source::Builtin)];
            (gk.clone(), Arc::new(resolve::resolve(gk, &explicit, None)))
        });
        Self {
            alone: alone.collect(),
            files,
        }
    }

    /// The files.
    pub fn iter(&self) -> impl Iterator<Item = &ProfileFile> {
        self.files.values()
    }

    /// The kinds that have a file.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &GroupKind> {
        self.files.keys()
    }

    /// The file about a kind.
    pub(super) fn get(&self, gk: &GroupKind) -> Option<&ProfileFile> {
        self.files.get(gk)
    }

    /// The profile of a policy kind without a CRD and without configuration.
    pub(super) fn alone(&self, gk: &GroupKind) -> Option<&Arc<Profile>> {
        self.alone.get(gk)
    }
}

/// Profiles by kind; the last one of a kind counts.
pub(super) fn by_kind(files: Vec<ProfileFile>) -> BTreeMap<GroupKind, ProfileFile> {
    let keyed = files.into_iter().map(|file| (file.matches.clone(), file));
    keyed.collect()
}

// === impl Builtin ===

impl Builtin {
    /// Reads the files.
    ///
    /// # Errors
    /// If a file does not have the format of a profile; a test reads them all.
    pub fn read() -> Result<Self, String> {
        let versions: VersionsFile = parse("versions", VERSIONS)?;
        let names: NamesFile = parse("names", NAMES)?;
        let (mut profiles, mut controllers) = (Vec::new(), Vec::new());
        for (name, text) in FILES {
            let file: File = parse(name, text)?;
            profiles.extend(file.profiles);
            controllers.extend(file.controllers);
        }
        for profile in &mut profiles {
            let known = versions.versions_of(&profile.matches);
            profile.versions = profile.versions.take().or(known);
            profile.short_names = names.names_of(&profile.matches);
        }
        Ok(Self {
            profiles: Arc::new(BuiltinProfiles::new(profiles)),
            controllers,
        })
    }
}

fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, String> {
    serde_saphyr::from_str(text).map_err(|error| format!("built-in profile {name}: {error}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_read_and_names_each_kind_once() {
        let mut kinds = BTreeSet::new();
        for (name, text) in super::FILES {
            let file: super::File = super::parse(name, text).unwrap();
            for profile in file.profiles {
                let kind = (profile.matches.group, profile.matches.kind);
                assert!(kinds.insert(kind.clone()), "{kind:?} twice");
            }
        }
        let versions: super::VersionsFile = serde_saphyr::from_str(super::VERSIONS).unwrap();
        for of_kind in &versions.versions {
            for kind in of_kind.kind.iter() {
                let is_known = kinds.iter().any(|(g, k)| *g == of_kind.group && k == kind);
                assert!(is_known, "{} {kind}", of_kind.group);
            }
        }
    }

    #[test]
    fn every_short_name_is_that_of_a_kind() {
        let profiles = super::Builtin::read().unwrap().profiles;
        let names: super::NamesFile = serde_saphyr::from_str(super::NAMES).unwrap();
        for named in &names.names {
            let mut kinds = profiles.iter().map(|p| &p.matches);
            assert!(
                kinds.any(|kind| kind.group == named.group && kind.kind == named.kind),
                "{named:?}"
            );
            assert!(!named.short.is_empty(), "{named:?}");
        }
    }

    #[test]
    fn every_file_obeys_the_schema() {
        let schema = schemars::schema_for!(super::File);
        let schema = jsonschema::validator_for(schema.as_value()).unwrap();
        for (name, text) in super::FILES {
            let file: serde_json::Value = serde_saphyr::from_str(text).unwrap();
            let faults: Vec<String> = schema.iter_errors(&file).map(|e| e.to_string()).collect();
            assert!(faults.is_empty(), "{name}: {faults:#?}");
        }
        let misspelt = serde_json::json!({"profiles": [{"match": {"group": "", "kind": "K"}, "clas": "direct"}]});
        assert!(!schema.is_valid(&misspelt));
    }
}
