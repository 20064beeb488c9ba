//! Narrows a built-in profile by the CRD at hand, which decides what can be written. The
//! configuration takes precedence over both.

use crate::kinds::profile::derive::Derived;
use crate::kinds::profile::{Allowed, Fact, Parent, RefField, Shape, Source, Strategies};
use crate::model::ids::GroupKind;

/// The fields that hold references, without those that the CRD does not have, and with its limits
/// and members. The fields of a configuration get the members alone.
pub(super) fn refs(mut known_fields: Fact<Vec<RefField>>, crd: &Derived) -> Fact<Vec<RefField>> {
    match known_fields.from {
        Source::Builtin => {}
        Source::Config => {
            for field in &mut known_fields.value {
                field.members = counterpart(field, crd).and_then(|of_crd| of_crd.members.clone());
            }
            return known_fields;
        }
        _ => return known_fields,
    }
    let known = |field: &&RefField| has(crd, &field.path);
    let narrowed: Vec<RefField> = known_fields
        .value
        .iter()
        .filter(known)
        .map(|field| {
            let of_crd = counterpart(field, crd);
            of_crd.map_or_else(|| field.clone(), |of_crd| field_of(field, of_crd))
        })
        .collect();
    if narrowed.is_empty() {
        return known_fields;
    }
    // These parts are not shown as facts of a field, so they do not count as a change.
    let with_hidden_parts_of = |one: &RefField, other: &RefField| RefField {
        members: one.members.clone(),
        kinds: one.kinds.clone(),
        may_lack: one.may_lack.clone(),
        keyed: one.keyed,
        ..other.clone()
    };
    let mut pairs = known_fields.value.iter().zip(&narrowed);
    let same = known_fields.value.len() == narrowed.len()
        && pairs.all(|(one, other)| *one == with_hidden_parts_of(one, other));
    let from = if same { known_fields.from } else { Source::Crd };
    let value = narrowed;
    Fact { value, from }
}

/// The facts of a CRD about the field of a profile.
fn counterpart<'a>(profile: &RefField, crd: &'a Derived) -> Option<&'a RefField> {
    crd.refs.iter().find(|of_crd| of_crd.path == profile.path)
}

/// Whether a profile names a member for sections that the CRD has.
fn has_section_field(profile: &RefField, crd: &RefField) -> bool {
    profile.section_field.is_some() && !crd.lacks_member(profile.section_member())
}

/// Combines the facts of a profile and of a CRD about one field.
fn field_of(profile: &RefField, crd: &RefField) -> RefField {
    let narrower = |stated: Option<bool>, crd: Option<bool>| {
        if crd == Some(false) {
            crd
        } else {
            stated.or(crd)
        }
    };
    let sections = crd.sections.filter(|_| !has_section_field(profile, crd));
    RefField {
        sections: narrower(profile.sections, sections),
        namespace: narrower(profile.namespace, crd.namespace),
        max: crd.max.or(profile.max),
        unique: profile.unique || crd.unique,
        keyed: crd.keyed,
        needs_section: profile.needs_section || crd.needs_section,
        needs_group: profile.needs_group || crd.needs_group,
        default_group: crd.default_group.clone().or(profile.default_group.clone()),
        default_kind: crd.default_kind.clone().or(profile.default_kind.clone()),
        members: crd.members.clone(),
        kinds: crd.kinds.clone(),
        ..profile.clone()
    }
}

/// The allowed target kinds: those that the CRD allows, with their meaning from the profile. A CRD is read as if all sections
/// were named by `sectionName`; where `refs` name another member that it has, it allows sections.
pub(super) fn allow(
    stated: Option<Fact<Vec<Allowed>>>,
    refs: &[RefField],
    crd: &Derived,
) -> Option<Fact<Vec<Allowed>>> {
    let Some(taken) = &crd.allow else {
        return stated;
    };
    let mut taken = taken.clone();
    let has_section_member = |field: &RefField| {
        counterpart(field, crd).is_some_and(|of_crd| has_section_field(field, of_crd))
    };
    if refs.iter().any(has_section_member) {
        for allowed in &mut taken {
            allowed.sections = true;
        }
    }
    let taken = &taken;
    let crd_alone = || Fact {
        value: taken.clone(),
        from: Source::Crd,
    };
    let allowed = match stated {
        Some(fact) if fact.from != Source::Builtin => return Some(fact),
        Some(fact) if !fact.value.is_empty() => fact,
        _ => return Some(crd_alone()),
    };
    let mut value: Vec<Allowed> = Vec::new();
    for known in &allowed.value {
        let taken = taken.iter().filter(|taken| overlap(&taken.gk, &known.gk));
        for taken in taken {
            let any = &*known.gk.group == "*" || &*known.gk.kind == "*";
            let gk = if any { &taken.gk } else { &known.gk };
            let narrowed = Allowed {
                gk: gk.clone(),
                sections: known.sections && taken.sections,
                only: known.only,
                names: known.names.clone(),
            };
            if !value.iter().any(|other| other.gk == narrowed.gk) {
                value.push(narrowed);
            }
        }
    }
    let is_new = |taken: &&Allowed| {
        !allowed
            .value
            .iter()
            .any(|known| overlap(&taken.gk, &known.gk))
    };
    value.extend(taken.iter().filter(is_new).cloned());
    let from = if value == allowed.value {
        allowed.from
    } else {
        Source::Crd
    };
    Some(Fact { value, from })
}

/// The parents whose routes controllers follow: a release whose CRD takes no `ListenerSet` as a
/// target, where the profile does, follows none.
pub(super) fn parents(
    stated: Fact<Vec<Parent>>,
    allow: Option<&Fact<Vec<Allowed>>>,
    narrowed: Option<&Fact<Vec<Allowed>>>,
) -> Fact<Vec<Parent>> {
    let takes_sets = |allow: Option<&Fact<Vec<Allowed>>>| {
        let mut allowed = allow.into_iter().flat_map(|allow| allow.iter());
        allowed.any(|allowed| allowed.gk.is_listener_set())
    };
    if stated.from != Source::Builtin || !takes_sets(allow) || takes_sets(narrowed) {
        return stated;
    }
    let others = stated.value.into_iter();
    Fact {
        value: others
            .filter(|parent| *parent != Parent::ListenerSet)
            .collect(),
        from: Source::Crd,
    }
}

/// Whether a kind may match both; `*` matches any group or kind.
fn overlap(one: &GroupKind, other: &GroupKind) -> bool {
    let same = |one: &str, other: &str| one == other || one == "*" || other == "*";
    same(&one.group, &other.group) && same(&one.kind, &other.kind)
}

/// Replaces the field that names a strategy, and its names, by those of the CRD. Returns whether
/// this changes anything.
pub(super) fn strategy(strategies: &mut Strategies, crd: &Derived) -> bool {
    let of_crd = &crd.strategies;
    let Some(path) = &strategies.path else {
        return false;
    };
    if !has(crd, path) {
        strategies.path = None;
        strategies.values.clear();
        strategies.default = None;
        return true;
    }
    if of_crd.path != strategies.path || !of_crd.complete {
        return false;
    }
    let mut names = of_crd.values.clone();
    for (name, meaning) in &mut names {
        if let Some(known) = strategies.values.get(name) {
            *meaning = *known;
        }
    }
    let narrowed = names.keys().ne(strategies.values.keys());
    strategies.values = names;
    narrowed
}

/// Whether the CRD has a field of `spec` in some version. If it does not list its fields, it may
/// have any.
pub(super) fn has(crd: &Derived, path: &str) -> bool {
    let all = crd.versions.last().map(|version| &*version.spec);
    all.is_none_or(|spec: &Shape| spec.at(path).is_some())
}
