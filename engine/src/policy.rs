//! A policy: its targets, strategy and settings, and the order of precedence.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::kinds::profile::{
    ControllerFile, Direction, EqualAge, Profile, RejectedIf, RuleOrder, Strategy,
};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::literal;
use crate::model::object::{From, Object};
use crate::model::selector::Selector;

mod by_filter;
mod definition;
mod empty;
mod fields;
pub(crate) mod fuel;
mod in_force;
mod listeners;
mod pod_selector;
mod references;
mod rejection_condition;
mod requirements;
mod settings;
mod stanza;
mod targets;
pub(crate) mod tree;
mod variant;
mod weaknesses;
mod without_target;

pub use fields::fields;
pub use in_force::InForce;
pub use pod_selector::PodSelector;
pub(crate) use pod_selector::has_own_pods;
pub(crate) use references::named_object;
pub(crate) use rejection_condition::condition_against;
use stanza::read_stanzas;
pub use stanza::{PolicyStanza, StanzaRef};
pub use targets::value_at;
pub use targets::{
    Fault, MOST_ENTRIES, Spelling, TargetEntry, entries, has_unread, hidden, written,
};
pub use tree::Setting;
pub use variant::ListenerFacts;
pub(crate) use variant::Variant;
use variant::profile_variants;

/// The annotation by which a policy declares that its section comes later (docs/reference/findings.md).
pub const PENDING: &str = "attache.dev/pending";

/// A policy as the engine keeps it.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The object; its spec remains JSON until it is merged.
    pub object: Arc<Object>,
    /// The profile of its kind.
    pub profile: Arc<Profile>,
    /// Its targets, without malformed entries.
    pub targets: Box<[TargetRef]>,
    /// Its strategies; `None` if the spec names an unknown strategy, or more than one. Such a policy takes part in no
    /// merge (GEP-713: an unsupported name is never replaced by the default).
    pub strategies: Option<Box<[Stanza]>>,
    /// The values of the fields in which all policies of one target must agree, as JSON; empty if the kind has no
    /// such fields.
    pub(crate) fields_that_must_agree: Box<str>,
    /// Its stanzas.
    stanzas: Box<[PolicyStanza]>,
    /// Its variants under the other facts that the profile lists for some routes and then for some levels; each is created
    /// on first use.
    variants: Box<[OnceLock<Arc<Policy>>]>,
    /// The conditions of the profile for which controllers reject it, by index.
    rejected_by: Box<[usize]>,
    /// The cost of reading the settings beyond their number, in units of fuel: their values may be long.
    reading_cost: u32,
    precedence: Precedence,
    is_without_target: bool,
    variant: Variant,
    /// The objects that its settings name, and without which its controllers reject it.
    pub(crate) references: Box<[references::NamedObject]>,
}

/// One target reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRef {
    /// The kind.
    pub gk: GroupKind,
    /// The namespace of the entry, if it has one.
    pub namespace: Option<Arc<str>>,
    /// A name, or a selector.
    pub select: Select,
    /// The section of the target.
    pub section: Option<Arc<str>>,
    /// The port whose sections are the target, for kinds that refer to sections by port.
    pub port: Option<u16>,
    /// Members of the entry whose meaning the profile does not know, as JSON: entries that differ in them are
    /// different targets.
    pub unknown: Option<Arc<str>>,
    /// The namespaces that a selector covers; only its own by default.
    pub from: From,
    /// Whether the kind can be a target. An entry that is certainly rejected in a new policy has no effect in an
    /// older one.
    pub is_taken: bool,
    /// Whether the entry has `core` for the empty group.
    pub says_core: bool,
}

/// The objects of a kind that a target refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// The object with this name.
    Name(Arc<str>),
    /// The objects with these labels; none if the selector cannot be read.
    Labels(Option<Box<Selector>>),
    /// The Gateways whose Pods have these labels.
    Pods(Box<PodSelector>),
    /// The objects with this annotation key and value.
    Annotated(Arc<str>, Arc<str>),
    /// The route with this name, one of whose rules names the policy in a filter at this position.
    Filter(Arc<str>, u16),
}

/// Settings under one strategy. A policy of GEP-713 of 2021 has up to two stanzas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stanza {
    /// The strategy.
    pub strategy: Strategy,
    /// Their location.
    pub place: StanzaPlace,
}

/// The location of settings in a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StanzaPlace {
    /// Directly in `spec`, next to the targets.
    Spec,
    /// In `spec.defaults`.
    Defaults,
    /// In `spec.overrides`.
    Overrides,
}

/// The order of policies on one level: older first, then by namespace and name as the controllers of the kind compare them. A policy
/// that is not created yet is the newest (GEP-713, conflict resolution). Some kinds have a weight, which counts before age.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Precedence {
    weight: i32,
    created: Option<Timestamp>,
    equal_age: EqualAge,
    key: ObjectKey,
}

// === impl Policy ===

impl Policy {
    /// Reads a policy from its object.
    pub fn read(object: Arc<Object>, profile: Arc<Profile>) -> Self {
        let spec = spec(&object);
        Self::new(object, &spec, profile)
    }

    /// A policy from its object and the parsed spec.
    pub(crate) fn new(object: Arc<Object>, spec: &Value, profile: Arc<Profile>) -> Self {
        Self::new_variant(object, spec, profile, Variant::default())
    }

    /// A policy from its object and the parsed spec, without the settings that do not apply to some listeners.
    fn new_variant(
        object: Arc<Object>,
        spec: &Value,
        profile: Arc<Profile>,
        variant: Variant,
    ) -> Self {
        let version = object.meta.version.as_deref();
        let differs = profile.is_stored_differently(version, spec);
        let stored = differs.then(|| {
            let mut spec = spec.clone();
            profile.as_stored(version, &mut spec);
            spec
        });
        let spec = stored.as_ref().unwrap_or(spec);
        // A policy of an unserved version, or one that the API server rejects, has no strategies.
        let is_served = version.is_none_or(|version| profile.has_version(version));
        let strategies = settings::stanzas(spec, &profile).ok();
        let is_valid = || !definition::is_unseen(&object) || profile.is_valid(version, spec);
        let is_there = is_served && profile.unmet(spec).is_none() && is_valid();
        let strategies: Option<Box<[Stanza]>> = strategies.filter(|_| is_there).map(Into::into);
        let is_applied = empty::not_applied(&object, &profile).is_none();
        let stanzas = strategies
            .as_deref()
            .filter(|_| is_applied)
            .unwrap_or_default();
        let mut acting_spec = variant.at.acting(spec, &profile);
        profile.take_ignored_settings(&mut acting_spec);
        let pieces = read_stanzas(&object.key, &acting_spec, &profile, stanzas);
        let leaves = pieces.iter().map(PolicyStanza::leaves).sum();
        let bytes = object.spec.as_deref().map_or(0, str::len);
        let length = settings::values(spec) / fuel::VALUES + bytes / fuel::COPIED_BYTES;
        let length = length.saturating_sub(leaves);
        let optional = profile.required.is_stated() && !*profile.required;
        Self {
            references: references::read(spec, &profile, &object.key.namespace),
            targets: targets::targets_of_policy(&object, spec, &profile).into(),
            stanzas: pieces,
            reading_cost: u32::try_from(length).unwrap_or(u32::MAX),
            strategies,
            fields_that_must_agree: settings::fields_that_must_agree(spec, &profile).into(),
            rejected_by: profile.rejected_by(spec, &object.meta),
            precedence: Precedence::of_policy(&object, &profile),
            is_without_target: optional && entries(spec, &profile).is_empty(),
            variants: profile_variants(&profile)
                .map(|_| OnceLock::new())
                .collect(),
            variant,
            object,
            profile,
        }
    }

    /// Its key.
    pub fn key(&self) -> &ObjectKey {
        &self.object.key
    }

    /// Whether the policy declares that its sections come later.
    pub fn is_pending(&self) -> bool {
        let annotation = self.object.meta.annotations.get(PENDING);
        annotation.is_some_and(|value| &**value == "true")
    }

    /// Its position in the order of policies on one level.
    pub fn precedence(&self) -> &Precedence {
        &self.precedence
    }

    /// Its stanzas, to be merged; empty if its strategy cannot be used.
    pub(crate) fn stanzas(&self) -> impl ExactSizeIterator<Item = StanzaRef<'_>> {
        self.stanzas.iter().map(|piece| piece.with_policy(self))
    }

    /// The conditions for which controllers, all or some, reject it on targets of a kind, whatever else there is.
    pub(crate) fn rejected_on(&self, target: &GroupKind) -> impl Iterator<Item = &RejectedIf> {
        let all = self.rejected_by.iter();
        let all = all.filter_map(|index| self.profile.rejected_if.get(*index));
        all.filter(move |rejected| rejected.is_about(target))
    }

    /// The number of settings; one with a long path counts several times.
    pub fn leaves(&self) -> usize {
        self.stanzas.iter().map(PolicyStanza::leaves).sum()
    }

    /// The cost of reading the settings beyond their number, in units of fuel.
    pub(crate) fn reading_cost(&self) -> usize {
        self.reading_cost as usize
    }

    /// Parses the settings from its spec, which the caller has parsed.
    pub(crate) fn read_from(&self, spec: Value) {
        let mut spec = Cow::Owned(spec);
        self.profile.take_ignored_settings(&mut spec);
        let spec = spec.to_mut();
        self.stanzas().for_each(|part| part.take_from(spec));
    }

    /// Whether the policy merges with others by another strategy than policies that name none.
    pub fn chooses_to_merge(&self) -> bool {
        let unset = *self.profile.default_strategy;
        let mut stanzas = self.strategies.iter().flat_map(|stanzas| stanzas.iter());
        stanzas.any(|stanza| stanza.strategy != unset && !stanza.strategy.is_whole())
    }

    /// Whether its strategy is None.
    pub fn merges_by_none(&self) -> bool {
        let mut stanzas = self.strategies.iter().flat_map(|stanzas| stanzas.iter());
        stanzas.any(|stanza| stanza.strategy == Strategy::None)
    }

    /// The settings of one stanza: the spec without targets and strategy.
    pub fn settings(&self, stanza: Stanza) -> Value {
        let mut spec = Cow::Owned(self.spec());
        self.profile.take_ignored_settings(&mut spec);
        settings::take(spec.to_mut(), stanza.place, &self.profile)
    }
}

/// The `spec` of an object of a kind without a type in the engine; empty if there is none.
pub fn spec(object: &Object) -> Value {
    let spec = object.spec.as_deref();
    spec.and_then(|spec| literal::from_str(spec).ok())
        .unwrap_or_else(|| Value::Object(Map::new()))
}

// === impl TargetRef ===

impl TargetRef {
    /// Whether the reference selects objects by their metadata, instead of naming one.
    pub fn selects(&self) -> bool {
        !matches!(self.select, Select::Name(_) | Select::Filter(..))
    }

    /// Whether the reference selects objects by labels: their own, or those of their Pods.
    pub fn selects_by_labels(&self) -> bool {
        matches!(self.select, Select::Labels(_) | Select::Pods(_))
    }

    /// Whether a filter of the target names the policy, and not the policy the target.
    pub fn is_by_filter(&self) -> bool {
        matches!(self.select, Select::Filter(..))
    }

    /// Whether the reference is to the whole object, as far as is known.
    pub fn is_whole(&self) -> bool {
        self.section.is_none() && self.port.is_none()
    }

    /// Whether all known parts of two entries are equal.
    pub fn is_same_but_for_unknown(&self, other: &Self) -> bool {
        let mut other = other.clone();
        other.unknown.clone_from(&self.unknown);
        *self == other
    }

    /// The object that it names, for a policy in `namespace`; `None` for a selector.
    pub fn object(&self, namespace: &Arc<str>) -> Option<ObjectKey> {
        let (Select::Name(name) | Select::Filter(name, _)) = &self.select else {
            return None;
        };
        let namespace = self.namespace(namespace);
        Some(ObjectKey::new(self.gk.clone(), namespace, name.clone()))
    }

    /// The namespace of the object that it names, for a policy in `own`; empty for cluster-scoped kinds.
    pub fn namespace(&self, own: &Arc<str>) -> Arc<str> {
        if is_cluster_scoped(&self.gk) {
            Arc::default()
        } else {
            self.namespace.as_ref().unwrap_or(own).clone()
        }
    }

    /// Whether the reference names or selects an object, for a policy in `own`. A selector of a cluster-scoped policy spans all
    /// namespaces.
    pub fn matches(&self, own: &Arc<str>, key: &ObjectKey, object: Option<&Object>) -> bool {
        let is_in_namespace = || self.namespace(own) == key.namespace;
        self.gk == key.gk
            && match &self.select {
                Select::Name(name) | Select::Filter(name, _) => {
                    *name == key.name && is_in_namespace()
                }
                Select::Labels(selector) => {
                    (is_in_namespace() || self.spans(own))
                        && selector
                            .as_ref()
                            .zip(object)
                            .is_some_and(|(selector, object)| selector.selects(&object.meta.labels))
                }
                Select::Pods(selector) => {
                    (is_in_namespace() || self.spans(own))
                        && object.is_some_and(|gateway| selector.selects(gateway))
                }
                Select::Annotated(key, value) => {
                    let has = |object: &Object| object.meta.annotations.get(key) == Some(value);
                    is_in_namespace() && object.is_some_and(has)
                }
            }
    }

    /// The labels that the selected objects must have, with their values.
    pub fn equal_labels(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        let selector = match &self.select {
            Select::Labels(selector) => selector.as_deref(),
            Select::Name(_) | Select::Pods(_) | Select::Annotated(..) | Select::Filter(..) => None,
        };
        selector.into_iter().flat_map(Selector::equal)
    }

    /// Whether the reference selects in more than one namespace, for a policy in `own`.
    pub fn spans(&self, own: &Arc<str>) -> bool {
        let selects = self.selects_by_labels() && self.namespace.is_none();
        selects && (own.is_empty() || self.from != From::Same)
    }
}

/// Whether a kind of targets is cluster-scoped.
pub fn is_cluster_scoped(gk: &GroupKind) -> bool {
    gk.is_gateway_api("GatewayClass") || gk.is_core("Namespace")
}

// === impl Precedence ===

impl Precedence {
    /// The precedence of an object: the Gateway API orders routes by the same rule.
    pub fn of(object: &Object) -> Self {
        Self {
            weight: 0,
            created: object.meta.created,
            equal_age: EqualAge::default(),
            key: object.key.clone(),
        }
    }

    /// The precedence of a route or `ListenerSet` for a controller.
    pub fn for_controller(object: &Object, facts: Option<&ControllerFile>) -> Self {
        let order = facts.map(|facts| facts.rule_order);
        Self::by(object, order.unwrap_or_default())
    }

    /// The precedence of a route in an order of rules.
    pub fn by(object: &Object, order: RuleOrder) -> Self {
        Self {
            equal_age: order.equal_age,
            ..Self::of(object)
        }
    }

    /// The precedence of a policy. A weight that is not a number counts as none.
    fn of_policy(object: &Object, profile: &Profile) -> Self {
        let annotation = profile.weight.as_ref();
        let text = annotation.and_then(|key| object.meta.annotations.get(key));
        let weight = text.and_then(|weight| weight.parse().ok());
        Self {
            weight: weight.unwrap_or_default(),
            equal_age: *profile.equal_age,
            ..Self::of(object)
        }
    }

    /// Whether both have the same weight.
    pub fn same_weight(&self, other: &Self) -> bool {
        self.weight == other.weight
    }

    /// Whether both have the same weight and age.
    pub fn same_age(&self, other: &Self) -> bool {
        (self.weight, self.created) == (other.weight, other.created)
    }
}

impl Ord for Precedence {
    fn cmp(&self, other: &Self) -> Ordering {
        // `None` sorts before `Some`, but means the newest.
        let age = match (self.created, other.created) {
            (Some(a), Some(b)) => a.cmp(&b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        let weight = other.weight.cmp(&self.weight);
        weight
            .then(age)
            .then_with(|| {
                let (one, other) = (&self.key, &other.key);
                let by_name = || one.name.cmp(&other.name);
                let by_namespace = || one.namespace.cmp(&other.namespace);
                match self.equal_age {
                    EqualAge::Text => paths(one, other),
                    EqualAge::NamespaceThenName => by_namespace().then_with(by_name),
                    EqualAge::NameThenNamespace => by_name().then_with(by_namespace),
                }
            })
            .then_with(|| self.key.cmp(&other.key))
    }
}

/// Compares `namespace/name` as one string.
fn paths(one: &ObjectKey, other: &ObjectKey) -> Ordering {
    if one.namespace == other.namespace {
        return one.name.cmp(&other.name);
    }
    path(one).cmp(path(other))
}

/// The bytes of `namespace/name`, or of the name alone.
fn path(key: &ObjectKey) -> impl Iterator<Item = u8> {
    let between = if key.namespace.is_empty() { "" } else { "/" };
    let parts = [&*key.namespace, between, &*key.name];
    parts.into_iter().flat_map(str::bytes)
}

impl PartialOrd for Precedence {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

pub use settings::{StrategyFault, carries_both, stanzas};

/// The direction of a stanza.
pub(crate) fn direction(place: StanzaPlace) -> Direction {
    match place {
        StanzaPlace::Overrides => Direction::Overrides,
        StanzaPlace::Spec | StanzaPlace::Defaults => Direction::Defaults,
    }
}
