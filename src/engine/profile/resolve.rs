//! Fact by fact: configuration, then built-in profile, then CRD, then a safe default (design 2.2).

use super::file::{Dialect, Match, ProfileFile, RefFile, StrategyValue};
use super::{
    Allowed, Class, Control, CrossNamespace, DictatedBy, Direction, Fact, Op, Profile, RefField,
    SameTarget, Source, StanzaNames, Strategies, Strategy, derive,
};
use crate::engine::ids::GroupKind;
use crate::engine::object::{Crd, is_route};

/// The most entries of `status.ancestors` where no CRD says it (Gateway API).
const MAX_ANCESTORS: usize = 16;

type Explicit<'a> = [(Option<&'a ProfileFile>, Source)];

/// The profile of a kind from everything that says something about it.
pub(super) fn resolve(gk: &GroupKind, explicit: &Explicit<'_>, crd: Option<&Crd>) -> Profile {
    let schema = crd.map(|crd| &crd.spec_schema);
    let refs = first(explicit, |p| {
        Some(p.targets.refs.as_ref()?.iter().map(field).collect())
    })
    .or_else(|| from_crd(schema.and_then(derive::refs)))
    .unwrap_or_else(|| default(default_refs()));
    let required = first(explicit, |p| p.targets.required)
        .or_else(|| from_crd(schema.is_some_and(derive::required).then_some(true)))
        .unwrap_or_else(|| default(true));
    let class = first(explicit, |p| p.class)
        .or_else(|| from_crd(crd.and_then(derive::class)))
        .unwrap_or_else(|| default(Class::Inherited));
    let strategies = strategies(explicit, schema.map(derive::strategies));
    let unset = first(explicit, |p| p.merge.unset.map(strategy))
        .unwrap_or_else(|| default(unset(class.value, &strategies.value)));
    let allow = first(explicit, allowed);
    let same_target = first(explicit, |p| p.conflict.same_target)
        .unwrap_or_else(|| default(same_target(class.value, &strategies.value, unset.value)));
    let effective = first(explicit, |p| Some(kinds(p.effective.as_ref()?)))
        .unwrap_or_else(|| default(effective(allow.as_ref())));
    let cross_namespace = first(explicit, |p| p.targets.cross_namespace)
        .or_else(|| from_crd(cross_namespace(&refs.value)))
        .unwrap_or_else(|| default(CrossNamespace::Forbidden));
    Profile {
        gk: gk.clone(),
        hierarchy: first_value(explicit, |p| p.hierarchy.clone()),
        service_as: first_value(explicit, |p| p.targets.service_as),
        controls: first_value(explicit, controls),
        domain: first_value(explicit, |p| Some(Some(p.domain.as_deref()?.into()))),
        max_ancestors: first(explicit, |p| p.status.max_ancestors)
            .map(|fact| fact.value)
            .or(crd.and_then(|crd| crd.max_ancestors))
            .unwrap_or(MAX_ANCESTORS),
        cross_namespace,
        effective,
        same_target,
        allow,
        section_naming: first_value(explicit, |p| p.targets.section_naming),
        exclude: excluded(explicit, &refs.value, &strategies.value),
        class,
        refs,
        required,
        strategies,
        unset,
    }
}

fn first<T>(explicit: &Explicit<'_>, f: impl Fn(&ProfileFile) -> Option<T>) -> Option<Fact<T>> {
    explicit.iter().find_map(|(profile, from)| {
        let value = f((*profile)?)?;
        Some(Fact { value, from: *from })
    })
}

fn first_value<T: Default>(explicit: &Explicit<'_>, f: impl Fn(&ProfileFile) -> Option<T>) -> T {
    first(explicit, f)
        .map(|fact| fact.value)
        .unwrap_or_default()
}

fn from_crd<T>(value: Option<T>) -> Option<Fact<T>> {
    let from = Source::Crd;
    value.map(|value| Fact { value, from })
}

fn default<T>(value: T) -> Fact<T> {
    let from = Source::Default;
    Fact { value, from }
}

/// Paths are written from the object and kept from `spec`.
fn within_spec(path: &str) -> String {
    path.strip_prefix("spec.").unwrap_or(path).to_owned()
}

fn field(file: &RefFile) -> RefField {
    RefField {
        path: within_spec(&file.path),
        many: file.many,
        default_group: file.default_group.as_deref().map(Into::into),
        sections: file.sections,
        namespace: file.namespace,
        max: file.max,
        unique: file.unique,
    }
}

fn default_refs() -> Vec<RefField> {
    let field = |path: &str, many| RefField {
        path: path.to_owned(),
        many,
        default_group: None,
        sections: None,
        namespace: None,
        max: None,
        unique: false,
    };
    vec![field("targetRef", false), field("targetRefs", true)]
}

fn allowed(profile: &ProfileFile) -> Option<Vec<Allowed>> {
    let allow = profile.targets.allow.as_ref()?;
    let kinds = allow.iter().map(|a| Allowed {
        gk: GroupKind::new(a.group.as_str(), a.kind.as_str()),
        sections: a.sections,
    });
    Some(kinds.collect())
}

fn kinds(files: &[Match]) -> Vec<GroupKind> {
    let kind = |m: &Match| GroupKind::new(m.group.as_str(), m.kind.as_str());
    files.iter().map(kind).collect()
}

fn controls(profile: &ProfileFile) -> Option<Vec<Control>> {
    let control = |c: &super::file::ControlFile| Control {
        setting: c.setting.split('.').map(str::to_owned).collect(),
        target: GroupKind::new(c.target.group.as_str(), c.target.kind.as_str()),
        field: within_spec(&c.field),
    };
    let controls = &profile.controls;
    (!controls.is_empty()).then(|| controls.iter().map(control).collect())
}

/// Whether entries of the CRD take `namespace`; none where the CRD has no such entries.
fn cross_namespace(refs: &[RefField]) -> Option<CrossNamespace> {
    let said = refs.iter().filter_map(|field| field.namespace);
    let takes = said.reduce(|a, b| a || b)?;
    Some(if takes {
        CrossNamespace::Grant
    } else {
        CrossNamespace::Forbidden
    })
}

/// The rule of the route, or the lowest allowed target where no route can be reached (ruling 2).
fn effective(allow: Option<&Fact<Vec<Allowed>>>) -> Vec<GroupKind> {
    let rule = vec![GroupKind::gateway_api("HTTPRoute")];
    let Some(allow) = allow else {
        return rule;
    };
    let over_routes = ["GatewayClass", "Gateway", "ListenerSet"];
    let reaches =
        |gk: &GroupKind| is_route(gk) || over_routes.iter().any(|kind| gk.is_gateway_api(kind));
    if allow.value.is_empty() || allow.value.iter().any(|allowed| reaches(&allowed.gk)) {
        return rule;
    }
    allow
        .value
        .iter()
        .map(|allowed| allowed.gk.clone())
        .collect()
}

/// None and the older dialect keep the oldest; other kinds fold as levels do (ruling 4).
fn same_target(class: Class, strategies: &Strategies, unset: Strategy) -> SameTarget {
    if class == Class::Direct || unset == Strategy::None || strategies.legacy {
        SameTarget::OldestWins
    } else {
        SameTarget::Merge
    }
}

fn strategy(value: StrategyValue) -> Strategy {
    Strategy::Merge(value.direction, value.op)
}

fn strategies(explicit: &Explicit<'_>, derived: Option<Strategies>) -> Fact<Strategies> {
    let derived_from = if derived.is_some() {
        Source::Crd
    } else {
        Source::Default
    };
    let mut value = derived.unwrap_or_default();
    let mut from = derived_from;
    if let Some(named) = first(explicit, |p| p.merge.strategy.clone()) {
        value.path = Some(within_spec(&named.value.path));
        let values = named.value.values.into_iter();
        value.values = values.map(|(name, v)| (name, strategy(v))).collect();
        value.complete = true;
        value.legacy = false;
        from = named.from;
    }
    if let Some(stanzas) = first(explicit, |p| p.merge.stanzas) {
        // The CRD says how they are written, if it has them.
        let names = value.stanzas.unwrap_or(StanzaNames::PLURAL);
        value.stanzas = stanzas.value.then_some(names);
        from = from.min(stanzas.from);
    }
    if let Some(dialect) = first(explicit, |p| p.merge.dialect) {
        value.legacy = dialect.value == Dialect::Legacy;
        from = from.min(dialect.from);
    }
    value.dictated_by = first_value(explicit, |p| p.merge.dictated_by);
    if value.dictated_by == DictatedBy::Fixed {
        value.path = None;
    }
    value.with = first_value(explicit, |p| p.merge.with);
    value.list_keys = first_value(explicit, |p| p.merge.list_keys.clone());
    let split = |path: &String| path.split('.').map(str::to_owned).collect();
    value.units = first_value(explicit, |p| {
        Some(p.merge.units.as_ref()?.iter().map(split).collect())
    });
    Fact { value, from }
}

/// What holds where a policy names no strategy (design 2.5).
fn unset(class: Class, strategies: &Strategies) -> Strategy {
    let atomic_defaults = Strategy::Merge(Direction::Defaults, Op::Atomic);
    if class == Class::Direct {
        return Strategy::None;
    }
    let wanted = [
        atomic_defaults,
        Strategy::Merge(Direction::Defaults, Op::Patch),
        Strategy::Merge(Direction::Overrides, Op::Atomic),
        Strategy::Merge(Direction::Overrides, Op::Patch),
    ];
    let supported = |s: &&Strategy| strategies.values.values().any(|v| v == *s);
    wanted
        .iter()
        .find(supported)
        .copied()
        .unwrap_or(atomic_defaults)
}

/// Everything in `spec` that is not a setting.
fn excluded(explicit: &Explicit<'_>, refs: &[RefField], strategies: &Strategies) -> Vec<String> {
    let top = |path: &str| path.split('.').next().unwrap_or(path).to_owned();
    let mut names: Vec<String> = refs.iter().map(|r| top(&r.path)).collect();
    names.extend(["targetRef", "targetRefs", "targetSelectors"].map(str::to_owned));
    names.extend(strategies.path.as_deref().map(top));
    if let Some(more) = first(explicit, |p| Some(p.merge.exclude.clone())) {
        names.extend(more.value.iter().map(|path| top(&within_spec(path))));
    }
    if let Some(stanzas) = strategies.stanzas {
        names.extend([stanzas.defaults, stanzas.overrides].map(str::to_owned));
    }
    names.sort();
    names.dedup();
    names
}
