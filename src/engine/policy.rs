//! A policy: what it targets, its strategy, its settings; and the order of precedence.

use std::cmp::Ordering;
use std::sync::{Arc, LazyLock, OnceLock};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::ids::{GATEWAY_API, GroupKind, ObjectKey};
use super::level::Level;
use super::literal;
use super::merge::{Part, Piece, pieces};
use super::object::{From, Meta, Object, ROUTES};
use super::profile::{Direction, Op, Profile, Strategy};
use super::selector::Selector;
use super::shared;
use super::work;

mod definition;
mod empty;
mod fields;
mod settings;
mod targets;

pub use fields::fields;
pub use targets::{Entry, Fault, MOST_ENTRIES, entries, has_unread, hidden, written};
pub(crate) use targets::{at, type_name};

/// The annotation by which a policy says that its section comes later (design section 4).
pub const PENDING: &str = "attache.dev/pending";

/// A policy as the engine keeps it.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The object; its spec stays JSON until it is merged.
    pub object: Arc<Object>,
    /// What is known of its kind.
    pub profile: Arc<Profile>,
    /// What it names, faulty entries left out.
    pub targets: Box<[TargetRef]>,
    /// How it merges; none when the spec names an unknown or more than one strategy: such a policy
    /// takes part in no merge (GEP-713: an unsupported name is never replaced by the default).
    pub strategies: Option<Box<[Stanza]>>,
    /// What it says of the fields in which all policies of one target must agree: JSON, empty where the kind
    /// has no such fields.
    pub(super) agreed: Box<str>,
    /// Its settings.
    pieces: Box<[Piece]>,
    /// What it is on routes and then on levels on which other facts hold, as the profile lists these; made when first asked
    /// for.
    elsewhere: OnceLock<Box<[Arc<Policy>]>>,
    /// Those of these routes on which it is refused for its settings.
    refused: Box<[usize]>,
    /// How much more it is to read them than their number says, in leaves: their values may be long.
    length: u32,
    precedence: Precedence,
    is_without_target: bool,
}

/// One reference to a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRef {
    /// The kind.
    pub gk: GroupKind,
    /// The namespace that the entry names, if it names one.
    pub namespace: Option<Arc<str>>,
    /// One object, or all objects with these labels.
    pub select: Select,
    /// A section of it.
    pub section: Option<Arc<str>>,
    /// The sections of it on this port, where the kind names them so.
    pub port: Option<u16>,
    /// Members of the entry whose meaning the profile does not know, as JSON: entries that differ in
    /// them are different targets (ruling 40).
    pub unknown: Option<Arc<str>>,
    /// Namespaces in which labels select; its own where nothing else is said.
    pub from: From,
    /// Whether the kind can stand there. What is surely refused of a new policy does nothing in an older one.
    pub is_taken: bool,
}

/// Which objects of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// The one of this name.
    Name(Arc<str>),
    /// Those with these labels; none where the selector cannot be read.
    Labels(Option<Box<Selector>>),
    /// Those with an annotation of this key and value.
    Annotated(Arc<str>, Arc<str>),
}

/// Settings that merge by one strategy. A policy of the legacy dialect has up to two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stanza {
    /// How they merge.
    pub strategy: Strategy,
    /// Where they stand.
    pub place: StanzaPlace,
}

/// Where settings stand in a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StanzaPlace {
    /// Beside the targets.
    Spec,
    /// In `spec.defaults`.
    Defaults,
    /// In `spec.overrides`.
    Overrides,
}

/// The order of policies on one level: older first, then `namespace/name`; one that is not created
/// yet is the newest (GEP-713, conflict resolution; design 9, ruling 15). Some kinds have a weight, which
/// counts before age.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Precedence {
    weight: i32,
    created: Option<Timestamp>,
    key: ObjectKey,
}

// === impl Policy ===

impl Policy {
    /// Reads a policy from its object.
    pub fn read(object: Arc<Object>, profile: Arc<Profile>) -> Self {
        let spec = spec(&object);
        Self::of(object, &spec, profile)
    }

    /// A policy from its object and the spec of it, which has been read.
    pub(super) fn of(object: Arc<Object>, spec: &Value, profile: Arc<Profile>) -> Self {
        let version = object.meta.version.as_deref();
        let schema = profile.schema(version).map(|schema| &schema.spec);
        let pruned = schema.filter(|schema| schema.drops_something(spec));
        let pruned = pruned.map(|_| {
            let mut spec = spec.clone();
            profile.prune(version, &mut spec);
            spec
        });
        let spec = pruned.as_ref().unwrap_or(spec);
        // What the API server does not serve is not there.
        let is_served = version.is_none_or(|version| profile.has_version(version));
        let strategies = settings::stanzas(spec, &profile).ok();
        // Neither is what is refused.
        let is_there = is_served && profile.unmet(spec).is_none();
        let strategies: Option<Box<[Stanza]>> = strategies.filter(|_| is_there).map(Into::into);
        let stanzas = strategies.as_deref().unwrap_or_default();
        let pieces = pieces(&object.key, spec, &profile, stanzas);
        let leaves = pieces.iter().map(Piece::leaves).sum();
        let bytes = object.spec.as_deref().map_or(0, str::len);
        let length = settings::values(spec) / work::VALUES + bytes / work::COPIED_BYTES;
        let length = length.saturating_sub(leaves);
        let optional = profile.required.is_said() && !*profile.required;
        Self {
            targets: targets::of(&object, spec, &profile).into(),
            pieces,
            length: u32::try_from(length).unwrap_or(u32::MAX),
            strategies,
            agreed: settings::agreed(spec, &profile).into(),
            refused: settings::refused(spec, &profile).into(),
            precedence: Precedence::of_policy(&object, &profile),
            is_without_target: optional && entries(spec, &profile).is_empty(),
            elsewhere: OnceLock::new(),
            object,
            profile,
        }
    }

    /// Its key.
    pub fn key(&self) -> &ObjectKey {
        &self.object.key
    }

    /// Whether it says that its sections come later.
    pub fn is_pending(&self) -> bool {
        let said = self.object.meta.annotations.get(PENDING);
        said.is_some_and(|value| &**value == "true")
    }

    /// Its place among the policies of one level.
    pub fn precedence(&self) -> &Precedence {
        &self.precedence
    }

    /// Its settings, ready to be merged; empty when its strategy cannot be used.
    pub(super) fn parts(&self) -> impl ExactSizeIterator<Item = Part<'_>> {
        self.pieces.iter().map(|piece| piece.of(self))
    }

    /// What it is on the routes for which its profile has other facts, by their place in the profile.
    pub(super) fn on_routes(&self, place: usize) -> Option<&Arc<Self>> {
        self.elsewhere().get(place)
    }

    /// What it is on a level on which some settings do nothing; none on other levels.
    pub(super) fn at_level(&self, level: Level) -> Option<&Arc<Self>> {
        let (place, _) = self.profile.idle_at(level)?;
        self.elsewhere().get(self.profile.on_routes.len() + place)
    }

    fn elsewhere(&self) -> &[Arc<Self>] {
        self.elsewhere.get_or_init(|| {
            let on_routes = self.profile.on_routes.iter().map(|on| &on.profile);
            let at_levels = self.profile.idle.iter().map(|idle| &idle.profile);
            let read = |profile: &Arc<Profile>| Self::read(self.object.clone(), profile.clone());
            let all = on_routes.chain(at_levels);
            all.map(|profile| Arc::new(read(profile))).collect()
        })
    }

    /// Whether it is refused on routes of a kind, for settings that these do not take.
    pub fn is_refused_on(&self, route: &GroupKind) -> bool {
        let on = self.profile.on_routes_of(route);
        on.is_some_and(|(place, _)| self.refused.contains(&place))
    }

    /// How many settings it has; one with a long path counts for several.
    pub fn leaves(&self) -> usize {
        self.pieces.iter().map(Piece::leaves).sum()
    }

    /// How much more it is to read its settings than their number says, in leaves.
    pub(super) fn length(&self) -> usize {
        self.length as usize
    }

    /// Reads its settings from its spec, which the caller has read.
    pub(super) fn read_from(&self, mut spec: Value) {
        self.parts().for_each(|part| part.take_from(&mut spec));
    }

    /// Whether its strategy is None.
    pub fn merges_by_none(&self) -> bool {
        let mut stanzas = self.strategies.iter().flat_map(|stanzas| stanzas.iter());
        stanzas.any(|stanza| stanza.strategy == Strategy::None)
    }

    /// Whether anything above the routes may be a target of it.
    pub(super) fn may_stand_above_routes(&self) -> bool {
        let mut targets = self.targets.iter();
        self.targets.is_empty()
            || targets.any(|target| target.selects() || Level::is_above_routes(&target.gk))
    }

    /// Whether it stands at every Namespace.
    pub fn is_wide(&self) -> bool {
        let own = &self.key().namespace;
        let mut targets = self.targets.iter();
        targets.any(|t| t.gk.is_core("Namespace") && t.object(own).is_none())
    }

    /// Whether it names no target, of a kind that says that it need not.
    pub fn is_without_target(&self) -> bool {
        self.is_without_target
    }

    /// The settings of one stanza: what is left of the spec without targets and strategy.
    pub fn settings(&self, stanza: Stanza) -> Value {
        settings::take(&mut self.spec(), stanza.place, &self.profile)
    }
}

/// The `spec` of an object of a kind that the engine has no type for, empty where there is none.
pub fn spec(object: &Object) -> Value {
    let spec = object.spec.as_deref();
    spec.and_then(|spec| literal::from_str(spec).ok())
        .unwrap_or_else(|| Value::Object(Map::new()))
}

// === impl TargetRef ===

impl TargetRef {
    /// Whether it finds its objects by what they have, instead of naming one.
    pub fn selects(&self) -> bool {
        !matches!(self.select, Select::Name(_))
    }

    /// Whether it names the whole object, as far as is known.
    pub fn is_whole(&self) -> bool {
        self.section.is_none() && self.port.is_none()
    }

    /// Whether all that is known of two is the same.
    pub fn is_same_but_for_unknown(&self, other: &Self) -> bool {
        let mut other = other.clone();
        other.unknown.clone_from(&self.unknown);
        *self == other
    }

    /// The object that it names, for a policy in `namespace`; none for a label selector.
    pub fn object(&self, namespace: &Arc<str>) -> Option<ObjectKey> {
        let Select::Name(name) = &self.select else {
            return None;
        };
        let namespace = self.namespace(namespace).clone();
        Some(shared::key(&self.gk, &namespace, name))
    }

    /// The namespace of what it names, for a policy in `own`; empty for cluster-scoped kinds.
    pub fn namespace<'a>(&'a self, own: &'a Arc<str>) -> &'a Arc<str> {
        static NONE: LazyLock<Arc<str>> = LazyLock::new(Arc::default);
        if is_cluster_scoped(&self.gk) {
            &NONE
        } else {
            self.namespace.as_ref().unwrap_or(own)
        }
    }

    /// Whether it names an object, or selects it by its labels, for a policy in `own`. A selector of
    /// a cluster-scoped policy spans all namespaces.
    pub fn matches(&self, own: &Arc<str>, object: &ObjectKey, meta: Option<&Meta>) -> bool {
        let here = || *self.namespace(own) == object.namespace;
        self.gk == object.gk
            && match &self.select {
                Select::Name(name) => *name == object.name && here(),
                Select::Labels(selector) => {
                    (here() || self.spans(own))
                        && selector
                            .as_ref()
                            .zip(meta)
                            .is_some_and(|(selector, meta)| selector.selects(&meta.labels))
                }
                Select::Annotated(key, value) => {
                    here() && meta.is_some_and(|meta| meta.annotations.get(key) == Some(value))
                }
            }
    }

    /// The labels that what it selects must have, each with its value.
    pub fn equal_labels(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        let selector = match &self.select {
            Select::Labels(selector) => selector.as_deref(),
            Select::Name(_) | Select::Annotated(..) => None,
        };
        selector.into_iter().flat_map(Selector::equal)
    }

    /// Whether it selects beyond one namespace, for a policy in `own`.
    pub fn spans(&self, own: &Arc<str>) -> bool {
        let selects = matches!(self.select, Select::Labels(_)) && self.namespace.is_none();
        selects && (own.is_empty() || self.from != From::Same)
    }
}

/// Cluster-scoped kinds that can be targets.
pub fn is_cluster_scoped(gk: &GroupKind) -> bool {
    gk.is_gateway_api("GatewayClass") || gk.is_core("Namespace")
}

/// The group of a reference that names none (design 9, ruling 9).
pub(crate) fn guessed_group(kind: &str) -> &'static str {
    let mut gateway_api = ["GatewayClass", "Gateway", "ListenerSet"]
        .iter()
        .chain(&ROUTES);
    if gateway_api.any(|known| known.eq_ignore_ascii_case(kind)) {
        GATEWAY_API
    } else {
        ""
    }
}

// === impl Precedence ===

impl Precedence {
    /// That of an object: the Gateway API orders routes by the same rule.
    pub fn of(object: &Object) -> Self {
        Self {
            weight: 0,
            created: object.meta.created,
            key: object.key.clone(),
        }
    }

    /// That of a policy. A weight that is no number counts as none.
    fn of_policy(object: &Object, profile: &Profile) -> Self {
        let annotation = profile.weight.as_ref();
        let said = annotation.and_then(|key| object.meta.annotations.get(key));
        let weight = said.and_then(|weight| weight.parse().ok());
        Self {
            weight: weight.unwrap_or_default(),
            ..Self::of(object)
        }
    }

    /// Whether neither is the heavier one.
    pub fn same_weight(&self, other: &Self) -> bool {
        self.weight == other.weight
    }

    /// Whether neither is the older one, nor the heavier.
    pub fn same_age(&self, other: &Self) -> bool {
        (self.weight, self.created) == (other.weight, other.created)
    }
}

impl Ord for Precedence {
    fn cmp(&self, other: &Self) -> Ordering {
        // `None` sorts before `Some`; here it is the newest.
        let age = match (self.created, other.created) {
            (Some(a), Some(b)) => a.cmp(&b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        let weight = other.weight.cmp(&self.weight);
        weight
            .then(age)
            .then_with(|| paths(&self.key, &other.key))
            .then_with(|| self.key.cmp(&other.key))
    }
}

/// The order of `namespace/name`, as one text.
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
pub(super) use settings::{settings_of, take};

/// The operation that a name inside a stanza stands for (Kuadrant and GEP-713 spell these).
pub(crate) fn op_named(name: &str) -> Option<Op> {
    match name {
        "atomic" => Some(Op::Atomic),
        "patch" => Some(Op::Patch),
        "merge" => Some(Op::ByKey),
        _ => None,
    }
}

/// The direction of a stanza.
pub(crate) fn direction(place: StanzaPlace) -> Direction {
    match place {
        StanzaPlace::Overrides => Direction::Overrides,
        StanzaPlace::Spec | StanzaPlace::Defaults => Direction::Defaults,
    }
}
