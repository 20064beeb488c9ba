//! The names of kinds and objects on the command line: `KIND[.group]/NAME[#section]`, short names, plurals.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use misspelt::Misspelt;

use crate::cache::directory::{Loaded, is_known_cluster_scoped};
use crate::cache::served::Served;
use crate::engine::kinds::profile::ProfileRules;
use crate::engine::model::hint::nearest;
use crate::engine::model::ids::{APIEXTENSIONS, GATEWAY_API, GroupKind, Place};
use crate::engine::model::object::{Crd, watched_gateway_kinds};

mod misspelt;
mod parse;

pub(super) use parse::{each, split};

/// The known kinds and their names.
#[derive(Clone)]
pub(super) struct Names {
    kinds: BTreeMap<GroupKind, Aliases>,
    later: Option<LazyNames>,
}

/// More names that take time to find out.
type LazyNames = Arc<dyn Fn() -> Names + Send + Sync>;

/// The names of a kind besides its own.
#[derive(Clone, Debug)]
struct Aliases {
    /// Plural, singular and short names, in lower case.
    names: Vec<String>,
    namespaced: bool,
    rank: Rank,
    /// Whether it is taken for a policy kind: by the state, a built-in profile, or its name.
    is_policy: bool,
}

/// If several kinds share a name, the first variant wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Targets of policies: kinds of Gateway API and of Kubernetes itself.
    Target,
    /// Kinds with a CRD.
    Defined,
    /// Other kinds of Kubernetes and its extension servers: `PodMetrics` also has the name pods.
    Other,
    /// Policy kinds with a built-in profile that are not installed.
    Known,
}

/// The short names of Gateway API, in case its CRDs cannot be read.
const SHORT: [(&str, &str); 4] = [
    ("GatewayClass", "gc"),
    ("Gateway", "gtw"),
    ("ListenerSet", "lset"),
    ("ReferenceGrant", "refgrant"),
];

/// Names of sections, which are not objects, and how to write them.
const SECTIONS: [(&str, &str); 3] = [
    ("listener", "gateway/NAME#LISTENER"),
    ("rule", "httproute/NAME#RULE"),
    ("port", "service/NAME#PORT"),
];
/// The name of the group of the core API, which is empty in manifests.
const CORE: &str = "core";
/// Words up to this length resemble too many names for a suggestion.
const SHORTEST: usize = 3;
/// The number of kinds that an error lists before "and N more".
const MAX_NAMED_KINDS: usize = 12;

// === impl Names ===

impl Names {
    /// The names of kinds from CRDs, Kubernetes, Gateway API, and other kinds in use.
    pub(super) fn new<'a>(
        crds: impl IntoIterator<Item = &'a Crd>,
        used: impl IntoIterator<Item = &'a GroupKind>,
        rules: &ProfileRules,
    ) -> Self {
        let mut served = Served::own();
        served.add_missing(Served::from_crds(crds));
        Self::from_served(&served, used, rules)
    }

    /// The names of the kinds that files define or use.
    pub(super) fn of_files(loaded: &Loaded) -> Self {
        let crds = loaded.crds.iter().map(AsRef::as_ref);
        let (snapshot, rules) = (&loaded.snapshot, loaded.snapshot.rules());
        let names = Self::new(crds, snapshot.known_kinds(), rules);
        names.with_policies(&loaded.counts.policy_kinds)
    }

    /// The names of served kinds, of Gateway API, and of other kinds in use.
    pub(super) fn from_served<'a>(
        served: &Served,
        used: impl IntoIterator<Item = &'a GroupKind>,
        rules: &ProfileRules,
    ) -> Self {
        let mut kinds = BTreeMap::new();
        for (gk, kind) in served.kinds() {
            let names = std::iter::once(&kind.plural).chain(&kind.aliases);
            let names = names.map(|name| name.to_lowercase()).collect();
            kinds.insert(gk.clone(), Aliases::new(gk, names, kind.namespaced));
        }
        let misspelt = Misspelt::new(kinds.keys(), rules);
        let used = used.into_iter().filter(|gk| !misspelt.has(gk));
        for gk in watched_gateway_kinds().chain(used.cloned()) {
            kinds.entry(gk).or_insert_with_key(|gk| {
                let short = SHORT.iter().filter(|(kind, _)| gk.is_gateway_api(kind));
                let short = short.map(|(_, short)| (*short).to_owned());
                let names = std::iter::once(plural(&gk.kind)).chain(short).collect();
                Aliases::new(gk, names, !is_known_cluster_scoped(gk))
            });
        }
        add_known(&mut kinds, rules);
        Self { kinds, later: None }
    }

    /// The plurals of the kinds that users mostly ask for: policy kinds that exist, and their targets.
    pub(super) fn offered(&self) -> impl Iterator<Item = &str> {
        let offered = self
            .kinds
            .iter()
            .filter(|(gk, calling)| calling.rank != Rank::Known && is_offered(gk, calling));
        offered
            .filter_map(|(_, calling)| calling.names.first())
            .map(String::as_str)
    }

    /// Sets which kinds are policy kinds.
    pub(super) fn with_policies<'a>(
        mut self,
        policies: impl IntoIterator<Item = &'a GroupKind>,
    ) -> Self {
        let policies: BTreeSet<&GroupKind> = policies.into_iter().collect();
        for (gk, calling) in &mut self.kinds {
            calling.is_policy = policies.contains(gk);
        }
        self
    }

    /// Adds more names, which are loaded only if a name is not found.
    pub(super) fn or_later(self, later: impl Fn() -> Self + Send + Sync + 'static) -> Self {
        let later: Option<LazyNames> = Some(Arc::new(later));
        Self { later, ..self }
    }

    /// Whether objects of a kind have a namespace; unknown kinds do.
    pub(super) fn namespaced(&self, gk: &GroupKind) -> bool {
        match (self.kinds.get(gk), &self.later) {
            (Some(calling), _) => calling.namespaced,
            (None, Some(later)) => later().namespaced(gk),
            (None, None) => true,
        }
    }

    /// The kind with this name: its kind, plural, singular or short name, with or without the group (and a version
    /// before the group, as in kubectl). An unknown kind with a group is a virtual one.
    ///
    /// # Errors
    /// If no kind or several kinds have this name.
    pub(super) fn kind(&self, word: &str) -> Result<GroupKind, String> {
        let (name, group) = match word.split_once('.') {
            Some((name, rest)) => (name, Some(without_version(rest))),
            None => (word, None),
        };
        // An empty group cannot be read out of `HTTPRoute.`, so it has a name.
        let group = group.map(|group| if group == CORE { "" } else { group });
        let lowercase = name.to_lowercase();
        let is_called = |(gk, calling): &(&GroupKind, &Aliases)| {
            let by_name = calling.names.contains(&lowercase) || gk.kind.eq_ignore_ascii_case(name);
            by_name && group.is_none_or(|group| gk.group.eq_ignore_ascii_case(group))
        };
        let called = || self.kinds.iter().filter(is_called);
        let rank = called().map(|(_, calling)| calling.rank).min();
        let mut best = called().filter(|(_, calling)| Some(calling.rank) == rank);
        if let (Some(Rank::Known), Some(later)) = (rank, &self.later) {
            return later().kind(word);
        }
        match (best.next(), best.next(), &self.later) {
            (Some((gk, _)), None, _) => Ok(gk.clone()),
            (Some((one, _)), Some((other, _)), _) => Err(format!(
                "several kinds are called {word}: write {} or {}",
                with_group(one),
                with_group(other)
            )),
            (None, _, Some(later)) => later().kind(word),
            (None, _, None) => match group {
                Some(group) if !group.is_empty() => Ok(GroupKind::new(group, name)),
                _ => Err(self.unknown(word)),
            },
        }
    }

    fn unknown(&self, word: &str) -> String {
        let lowercase = word.to_lowercase();
        let singular = lowercase.strip_suffix('s').unwrap_or(&lowercase);
        if let Some((_, owner)) = SECTIONS.iter().find(|(section, _)| *section == singular) {
            return format!("a {singular} is a section of an object: write {owner}");
        }
        let called = |rank: Rank| -> Vec<&str> {
            let kinds = self
                .kinds
                .iter()
                .filter(|(_, calling)| calling.rank == rank);
            let names = kinds.flat_map(|(gk, calling)| {
                std::iter::once(&*gk.kind).chain(calling.names.iter().map(String::as_str))
            });
            names.filter(|name| name.len() > SHORTEST).collect()
        };
        let ranks = [Rank::Target, Rank::Defined, Rank::Other, Rank::Known];
        let near = ranks
            .into_iter()
            .find_map(|rank| nearest(word, &called(rank)));
        if let Some(near) = near.filter(|_| word.len() > SHORTEST) {
            return format!("no kind is called {word:?}; did you mean {near:?}?");
        }
        let those = |policies: bool| {
            let offered = self
                .kinds
                .iter()
                .filter(|(gk, calling)| calling.rank != Rank::Known && is_offered(gk, calling));
            let names = offered.filter(|(_, calling)| calling.is_policy == policies);
            let names: BTreeSet<&str> = names.map(|(gk, _)| &*gk.kind).collect();
            let names: Vec<&str> = names.into_iter().collect();
            let shown = names
                .get(..names.len().min(MAX_NAMED_KINDS))
                .unwrap_or_default()
                .join(", ");
            match names.len().saturating_sub(MAX_NAMED_KINDS) {
                _ if names.is_empty() => "none".to_owned(),
                0 => shown,
                more => format!("{shown} and {more} more"),
            }
        };
        format!(
            "no kind is called {word:?}. Policy kinds here: {}. Their targets: {}. For another kind, write KIND.group",
            those(true),
            those(false)
        )
    }

    /// The object or section of `KIND/NAME[#section]`, or of two words.
    ///
    /// # Errors
    /// As for [`Names::kind`], or if the name is missing.
    pub(super) fn place(&self, kind: &str, name: &str, namespace: &str) -> Result<Place, String> {
        let gk = self.kind(kind)?;
        let (name, section) = match name.split_once('#') {
            Some((name, section)) => (name, Some(section)),
            None => (name, None),
        };
        if name.is_empty() || section == Some("") {
            return Err(format!("{kind}/{name}: a name is missing"));
        }
        let namespace = if self.namespaced(&gk) { namespace } else { "" };
        let object = crate::engine::model::ids::ObjectKey::new(gk, namespace, name);
        Ok(Place {
            object,
            section: section.map(Arc::from),
        })
    }
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names")
            .field("kinds", &self.kinds)
            .finish_non_exhaustive()
    }
}

// === impl Aliases ===

impl Aliases {
    fn new(gk: &GroupKind, names: Vec<String>, namespaced: bool) -> Self {
        let rank = Rank::for_kind(gk);
        Self {
            names,
            namespaced,
            rank,
            is_policy: rank == Rank::Defined && gk.kind.ends_with("Policy"),
        }
    }
}

/// Adds the policy kinds with a built-in profile, and the short names of all policy kinds.
fn add_known(kinds: &mut BTreeMap<GroupKind, Aliases>, rules: &ProfileRules) {
    for profile in rules.builtin() {
        if profile.policy == Some(false) {
            continue;
        }
        let gk = profile.matches.clone();
        let calling = kinds.entry(gk).or_insert_with_key(|gk| Aliases {
            rank: Rank::Known,
            ..Aliases::new(gk, vec![plural(&gk.kind)], true)
        });
        calling.is_policy = true;
        for name in &profile.short_names {
            if !calling.names.contains(name) {
                calling.names.push(name.clone());
            }
        }
    }
}

/// Whether users mostly ask for objects of a kind: policies and their targets.
fn is_offered(gk: &GroupKind, calling: &Aliases) -> bool {
    let is_target = gk.group == GATEWAY_API && &*gk.kind != "ReferenceGrant";
    calling.is_policy || is_target || gk.is_core("Namespace") || gk.is_core("Service")
}

// === impl Rank ===

impl Rank {
    fn for_kind(gk: &GroupKind) -> Self {
        let group = &*gk.group;
        if group == GATEWAY_API || ["", "apps", "batch", APIEXTENSIONS].contains(&group) {
            return Self::Target;
        }
        let of_kubernetes = !group.contains('.') || group.ends_with(".k8s.io");
        if of_kubernetes {
            Self::Other
        } else {
            Self::Defined
        }
    }
}

/// `HTTPRoute.gateway.networking.k8s.io`; `Service.core`.
fn with_group(gk: &GroupKind) -> String {
    let group = if gk.group.is_empty() { CORE } else { &gk.group };
    format!("{}.{group}", gk.kind)
}

/// The group of `v1.gateway.networking.k8s.io`: kubectl accepts a version before it.
fn without_version(word: &str) -> &str {
    let is_version = |text: &str| {
        let digits = text.strip_prefix('v').unwrap_or_default();
        digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.chars().all(|c| c.is_ascii_alphanumeric())
    };
    match word.split_once('.') {
        Some((version, group)) if is_version(version) => group,
        None if is_version(word) => "",
        _ => word,
    }
}

/// The likely plural of a kind.
fn plural(kind: &str) -> String {
    let lowercase = kind.to_lowercase();
    let vowel = |stem: &str| stem.ends_with(['a', 'e', 'i', 'o', 'u']);
    match lowercase.strip_suffix('y') {
        Some(stem) if !vowel(stem) => format!("{stem}ies"),
        _ if lowercase.ends_with('s') => format!("{lowercase}es"),
        _ => format!("{lowercase}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::Names;
    use crate::engine::kinds::profile::{Builtin, ProfileRules};
    use crate::engine::model::ids::GroupKind;

    fn names() -> Names {
        let policies = ["a.example", "b.example"].map(|group| GroupKind::new(group, "RatePolicy"));
        let retry = GroupKind::new("policies.example.com", "RetryPolicy");
        let rules = ProfileRules::new(Vec::new(), Builtin::read().unwrap().profiles);
        Names::new([], policies.iter().chain([&retry]), &rules)
    }

    #[test]
    fn kinds_are_called_as_kubectl_calls_them() {
        let names = names();
        for (word, kind) in [
            ("httproute", "HTTPRoute"),
            ("HTTPRoutes", "HTTPRoute"),
            ("httproutes.gateway.networking.k8s.io", "HTTPRoute"),
            ("httproutes.v1.gateway.networking.k8s.io", "HTTPRoute"),
            ("gtw", "Gateway"),
            ("svc", "Service"),
            ("services.v1", "Service"),
            ("services.core", "Service"),
            ("retrypolicies", "RetryPolicy"),
            ("RatePolicy.a.example", "RatePolicy.a.example"),
            (
                "ExternalService.networking.acme.io",
                "ExternalService.networking.acme.io",
            ),
        ] {
            let gk = names.kind(word).unwrap();
            assert!(gk.to_string().starts_with(kind), "{word}: {gk}");
        }
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_one() {
        let names = names();
        let unknown = names.kind("htproute").unwrap_err();
        assert!(unknown.contains("did you mean \"HTTPRoute\"?"), "{unknown}");
        let several = names.kind("ratepolicies").unwrap_err();
        assert!(several.contains("RatePolicy.a.example or RatePolicy.b.example"));
    }

    #[test]
    fn objects_have_sections_and_namespaces() {
        let names = names();
        let place = names.place("gtw", "edge#http", "infra").unwrap();
        assert_eq!(place.to_string(), "Gateway infra/edge#http");
        let class = names.place("gc", "example", "infra").unwrap();
        assert_eq!(class.to_string(), "GatewayClass example");
        assert!(names.place("gtw", "#http", "infra").is_err());
    }

    #[test]
    fn short_names_are_known_without_definitions() {
        let names = names();
        for (word, kind) in [
            ("btp", "BackendTrafficPolicy.gateway.envoyproxy.io"),
            ("sp", "SecurityPolicy.gateway.envoyproxy.io"),
            ("ctp", "ClientTrafficPolicy.gateway.envoyproxy.io"),
            ("lset", "ListenerSet"),
            ("btlspolicy", "BackendTLSPolicy"),
        ] {
            assert_eq!(names.kind(word).unwrap().to_string(), kind);
        }
        let unknown = names.kind("gw").unwrap_err();
        assert!(
            unknown.contains("Policy kinds here: RatePolicy, RetryPolicy. Their targets: "),
            "{unknown}"
        );
        assert!(!unknown.contains("ConfigMap"), "{unknown}");
        let section = names.kind("listeners").unwrap_err();
        assert!(section.contains("gateway/NAME#LISTENER"), "{section}");
    }
}
