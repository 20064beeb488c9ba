//! Fact by fact: configuration, then built-in profile, then CRD, then a safe default (design 2.2).

use super::file::{Dialect, ProfileFile, RefFile, StrategyValue};
use super::{
    Allowed, Class, Direction, Fact, Op, Profile, RefField, Source, Strategies, Strategy, derive,
};
use crate::engine::ids::GroupKind;
use crate::engine::object::Crd;

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
    Profile {
        gk: gk.clone(),
        allow: first(explicit, allowed),
        section_naming: first(explicit, |p| p.targets.section_naming)
            .map(|fact| fact.value)
            .unwrap_or_default(),
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
    }
}

fn default_refs() -> Vec<RefField> {
    let field = |path: &str, many| RefField {
        path: path.to_owned(),
        many,
        default_group: None,
        sections: None,
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
        value.stanzas = stanzas.value;
        from = from.min(stanzas.from);
    }
    if let Some(dialect) = first(explicit, |p| p.merge.dialect) {
        value.legacy = dialect.value == Dialect::Legacy;
        from = from.min(dialect.from);
    }
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
    if strategies.stanzas {
        names.extend(["defaults", "overrides"].map(str::to_owned));
    }
    names.sort();
    names.dedup();
    names
}
