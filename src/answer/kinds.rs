//! `attache kinds`: the policy kinds, and the facts about each with their sources.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::Answer;
use super::named::KindName;
use crate::engine::kinds::profile::{Class, Profile, ProfileRules, Source};
use crate::engine::model::ids::GroupKind;
use crate::engine::model::object::Crd;

/// Policy kinds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Kinds {
    /// The kinds, sorted by group and kind.
    pub kinds: Vec<Kind>,
}

/// A policy kind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Kind {
    /// API group.
    pub group: Arc<str>,
    /// Kind.
    pub kind: Arc<str>,
    /// Served versions, the stored version first; empty without a CRD.
    pub versions: Vec<Arc<str>>,
    /// Whether its objects are namespaced; null without a CRD.
    pub scope: Option<Scope>,
    /// Its class.
    pub class: Class,
    /// The names of its strategies.
    pub strategies: Vec<String>,
    /// The kinds that can be targets; null if unknown.
    pub targets: Option<Vec<KindName>>,
    /// Every fact by name.
    pub facts: BTreeMap<String, KnownFact>,
    /// The profile of the kind.
    #[serde(skip)]
    pub profile: Arc<Profile>,
}

/// The scope of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Scope {
    /// Objects are in namespaces.
    Namespaced,
    /// Objects are cluster-scoped.
    Cluster,
}

/// A fact and its source.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KnownFact {
    /// The fact.
    pub value: Value,
    /// Its source.
    #[schemars(schema_with = "sources")]
    pub from: Source,
}

fn sources(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"enum": ["config", "builtin", "crd", "default"]})
}

impl Answer for Kinds {
    const KIND: &'static str = "Kinds";
}

/// The policy kinds with a CRD and those in use; with `all`, also those that only a profile knows.
pub fn kinds(rules: &ProfileRules, crds: &[Arc<Crd>], used: &[GroupKind], all: bool) -> Kinds {
    let mut by_kind: BTreeMap<GroupKind, Kind> = BTreeMap::new();
    for crd in crds {
        if let Some(profile) = rules.profile(&crd.gk, Some(crd)) {
            by_kind.insert(profile.gk.clone(), Kind::new(profile, Some(crd)));
        }
    }
    let more = rules.kinds().filter(|_| all).chain(used);
    for gk in more {
        if let (false, Some(profile)) = (by_kind.contains_key(gk), rules.profile(gk, None)) {
            by_kind.insert(gk.clone(), Kind::new(profile, None));
        }
    }
    Kinds {
        kinds: by_kind.into_values().collect(),
    }
}

// === impl Kind ===

impl Kind {
    /// Whether a word names the kind: by kind, or by kind and group; not case-sensitive.
    pub fn is_called(&self, word: &str) -> bool {
        let (name, group) = word.split_once('.').unwrap_or((word, ""));
        self.kind.eq_ignore_ascii_case(name)
            && (group.is_empty() || self.group.eq_ignore_ascii_case(group))
    }

    fn new(profile: Arc<Profile>, crd: Option<&Crd>) -> Self {
        let facts = profile.facts().into_iter().map(|fact| {
            let known = KnownFact {
                value: json!(fact.value),
                from: fact.from,
            };
            (fact.name.to_owned(), known)
        });
        let targets = profile.allow.as_ref().map(|allow| {
            let kinds = allow.value.iter();
            kinds.map(|allowed| KindName::from(&allowed.gk)).collect()
        });
        let scope = crd.map(|crd| {
            if crd.namespaced {
                Scope::Namespaced
            } else {
                Scope::Cluster
            }
        });
        Self {
            group: profile.gk.group.as_str().into(),
            kind: profile.gk.kind.as_str().into(),
            versions: crd.map(|crd| crd.served.clone()).unwrap_or_default(),
            scope,
            class: profile.class.value,
            strategies: profile.strategy_names(),
            targets,
            facts: facts.collect(),
            profile,
        }
    }
}
