//! Resolves each fact: configuration first, then the built-in profile, then the CRD, then a safe default. The schema
//! of the CRD narrows a built-in profile.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::derive::{Derived, REF_FIELDS};
use super::file::read;
use super::file::{GepVersion, ProfileFile, StanzaSpelling, StanzasFile};
use super::values::paths;
use super::{
    Allowed, Class, CrossNamespace, DictatedBy, Direction, Fact, Ineffective, Merging, OnRoutes,
    Op, Profile, RefField, SameTarget, Source, StanzaNames, Strategies, Strategy,
};
use crate::model::ids::GroupKind;
use crate::model::level::Level;
use crate::model::object::status::ENFORCEMENT;
use crate::model::object::{Crd, gateway_kinds};

mod narrow;

/// The maximum number of entries in `status.ancestors` unless the CRD states it (Gateway API).
const MAX_ANCESTORS: usize = 16;

/// The profiles that people wrote for a kind, the most trusted first.
pub(super) type Explicit<'a> = [(Option<&'a ProfileFile>, Source)];

/// Resolves the profile of a kind from all sources.
#[expect(clippy::too_many_lines, reason = "one fact after another")]
pub(super) fn resolve(gk: &GroupKind, explicit: &Explicit<'_>, crd: Option<&Crd>) -> Profile {
    let derived = crd.map(|crd| &*crd.facts);
    let refs = first(explicit, |p| p.targets.refs.clone())
        .or_else(|| from_crd(derived.map(|d| d.refs.clone()).filter(|r| !r.is_empty())))
        .unwrap_or_else(|| default(default_refs()));
    let allow = first(explicit, read::allowed);
    let parents = stated(explicit, |p| p.parents.clone());
    let (refs, parents, allow) = match derived {
        Some(derived) => {
            let narrowed = narrow::allow(allow.clone(), &refs, derived);
            let parents = narrow::parents(parents, allow.as_ref(), narrowed.as_ref());
            (narrow::refs(refs, derived), parents, narrowed)
        }
        None => (refs, parents, allow),
    };
    let annotation = stated(explicit, |p| p.targets.annotation.clone().map(Some));
    let demanded = derived.is_some_and(|d| d.required);
    let required = first(explicit, |p| p.targets.required)
        .filter(|fact| fact.from == Source::Config || **fact || !demanded)
        .or_else(|| from_crd(demanded.then_some(true)))
        .unwrap_or_else(|| default(annotation.is_none()));
    let class = first(explicit, |p| p.class)
        .or_else(|| from_crd(crd.and_then(Crd::class)))
        .unwrap_or_else(|| default(likely_class(allow.as_ref())));
    let strategies = strategies(explicit, derived);
    let unset = unset(explicit, *class, &strategies, allow.as_ref());
    let same_target = first(explicit, |p| p.conflict.same_target)
        .unwrap_or_else(|| default(same_target(*class, &strategies, *unset)));
    let effective = first(explicit, |p| p.effective.clone())
        .unwrap_or_else(|| default(effective(allow.as_ref())));
    let cross_namespace = first(explicit, |p| p.targets.cross_namespace)
        .or_else(|| from_crd(derived.and_then(|d| d.cross_namespace)))
        .unwrap_or_else(|| default(CrossNamespace::Forbidden));
    let mut profile = Profile {
        gk: gk.clone(),
        only: None,
        on_routes: Fact::default(),
        ineffective: Fact::default(),
        exclude: excluded(explicit, &refs, &strategies),
        needs_route: first(explicit, |p| p.needs_route).unwrap_or_else(|| default(true)),
        hostnames_within_listeners: stated(explicit, |p| p.hostnames_within_listeners),
        parents,
        conflict_scope: stated(explicit, |p| p.conflict.scope),
        one_with_no_target: stated(explicit, |p| p.conflict.one_with_no_target),
        rejected_because: stated(explicit, |p| p.conflict.rejected_because.clone()),
        hierarchy: stated(explicit, |p| p.hierarchy.clone()),
        service_as: stated(explicit, |p| p.targets.service_as),
        named_by_filters_of: stated(explicit, |p| p.targets.named_by_filters_of.clone()),
        on_missing: stated(explicit, |p| p.targets.on_missing),
        on_missing_except: stated(explicit, |p| p.targets.on_missing_except.clone()),
        unread_without_proxy_if: stated(explicit, |p| p.targets.unread_without_proxy_if.clone()),
        namespaces_without_proxy: stated(explicit, |p| p.targets.namespaces_without_proxy.clone()),
        namespaces_without_mesh: stated(explicit, |p| p.targets.namespaces_without_mesh.clone()),
        namespaces_in_mesh: stated(explicit, |p| p.targets.namespaces_in_mesh.clone()),
        gateway_by_label: stated(explicit, |p| p.targets.gateway_by_label.clone().map(Some)),
        gateway_pods: stated(explicit, |p| p.targets.gateway_pods.clone().map(Some)),
        root_namespace: stated(explicit, |p| p.targets.root_namespace.clone().map(Some)),
        excluded_targets: stated(explicit, |p| p.targets.excluded.clone()),
        name_comparison: first(explicit, |p| p.targets.name_comparison)
            .or_else(|| from_crd(derived.and_then(|d| d.spelled)))
            .unwrap_or_default(),
        section_naming: stated(explicit, |p| p.targets.section_naming),
        ports_by: stated(explicit, |p| p.targets.ports_by),
        port_numbers_with: stated(explicit, |p| p.targets.port_numbers_with.clone()),
        conflict_fields: stated(explicit, |p| {
            Some(paths::paths(p.conflict.fields.as_ref()?))
        }),
        core_group_with: stated(explicit, |p| p.targets.core_group_with.clone()),
        no_core_group_with: stated(explicit, |p| p.targets.no_core_group_with.clone()),
        weight: stated(explicit, |p| p.conflict.weight.clone().map(Some)),
        equal_age: stated(explicit, |p| p.conflict.equal_age),
        controls: stated(explicit, |p| {
            Some(p.controls.clone()).filter(|controls| !controls.is_empty())
        }),
        caveats: stated(explicit, |p| p.caveats.clone()),
        requirements: stated(explicit, |p| p.requirements.clone()),
        protects: stated(explicit, read::protections),
        switched_off_by: stated(explicit, |p| p.switched_off_by.clone()),
        protects_if_empty: stated(explicit, |p| p.protects_if_empty.clone()),
        weakened_by: stated(explicit, |p| p.weakened_by.clone()),
        alternative_entries: stated(explicit, |p| p.alternative_entries.clone()),
        alternatives: stated(explicit, |p| p.alternatives.clone().map(Some)),
        applies_through: stated(explicit, |p| p.applies_through.clone().map(Some)),
        drops_nulls: stated(explicit, |p| p.drops_nulls),
        references: stated(explicit, |p| p.references.clone()),
        rejected_if: stated(explicit, |p| p.rejected_if.clone()),
        reported_invalid: stated(explicit, |p| p.reported_invalid.clone().map(Some)),
        controllers: stated(explicit, |p| p.controllers.clone()),
        ignored_by: stated(explicit, |p| p.ignored_by.clone()),
        classes: stated(explicit, |p| p.classes.clone()),
        domain: stated(explicit, |p| p.domain.clone().map(Some)),
        status: first(explicit, |p| p.status.shape)
            .or_else(|| from_crd(derived.and_then(|d| d.status)))
            .map(|fact| fact.map(Some))
            .unwrap_or_default(),
        max_ancestors: first(explicit, |p| p.status.max_ancestors)
            .filter(|fact| fact.from == Source::Config)
            .or_else(|| from_crd(derived.and_then(|d| d.max_ancestors)))
            .or_else(|| first(explicit, |p| p.status.max_ancestors))
            .unwrap_or_else(|| default(MAX_ANCESTORS)),
        reports_overridden: stated(explicit, |p| p.status.overridden),
        may_be_empty: stated(explicit, |p| p.status.may_be_empty),
        must_be_true: stated(explicit, |p| p.status.must_be_true.clone()),
        in_force: first(explicit, |p| p.status.in_force.clone())
            .unwrap_or_else(|| default(ENFORCEMENT.into_iter().map(Arc::from).collect())),
        nothing_to_apply_to: stated(explicit, |p| p.status.nothing_to_apply_to.clone()),
        merging: merging(explicit),
        versions: from_crd(crd.map(|crd| crd.served.clone()))
            .unwrap_or_else(|| stated(explicit, |p| p.versions.clone())),
        schemas: derived.map(|d| d.versions.clone()).unwrap_or_default(),
        one_form: from_crd(derived.is_some_and(|d| d.one_form).then_some(true)).unwrap_or_default(),
        annotation,
        cross_namespace,
        effective,
        same_target,
        allow,
        class,
        refs,
        required,
        strategies,
        default_strategy: unset,
    };
    add_settings_by_place(&mut profile, explicit);
    profile
}

/// Adds settings that apply only in some places. They depend on the other facts of the profile.
fn add_settings_by_place(profile: &mut Profile, explicit: &Explicit<'_>) {
    if let Some(on_routes) = first(explicit, |p| p.merge.on_routes.clone()) {
        profile.on_routes.from = on_routes.from;
        profile.on_routes.value = read::on_routes(profile, &on_routes.value);
    }
    let others = OnRoutes::not_effective(profile);
    if !others.is_empty() {
        if profile.on_routes.is_empty() {
            profile.on_routes.from = profile.effective.from;
        }
        let none = OnRoutes::new(profile, others, Vec::new(), true);
        profile.on_routes.value.push(none);
    }
    if let Some(idle) = first(explicit, |p| p.merge.ineffective.clone()) {
        profile.ineffective.from = idle.from;
        profile.ineffective.value = Ineffective::read(profile, &idle.value);
        for on in &mut profile.on_routes.value {
            on.add_ineffective(&idle);
        }
    }
    let mut on_listeners = profile.merging.on_listeners.value.clone();
    for on in &mut on_listeners {
        on.add_profile(profile);
    }
    profile.merging.on_listeners.value = on_listeners;
}

pub(super) fn first<T>(
    explicit: &Explicit<'_>,
    f: impl Fn(&ProfileFile) -> Option<T>,
) -> Option<Fact<T>> {
    explicit.iter().find_map(|(profile, from)| {
        let value = f((*profile)?)?;
        Some(Fact { value, from: *from })
    })
}

/// A fact that no CRD states.
fn stated<T: Default>(explicit: &Explicit<'_>, f: impl Fn(&ProfileFile) -> Option<T>) -> Fact<T> {
    first(explicit, f).unwrap_or_default()
}

fn from_crd<T>(value: Option<T>) -> Option<Fact<T>> {
    let from = Source::Crd;
    value.map(|value| Fact { value, from })
}

fn default<T>(value: T) -> Fact<T> {
    let from = Source::Default;
    Fact { value, from }
}

fn default_refs() -> Vec<RefField> {
    let field = |path: &&str| RefField {
        path: (*path).to_owned(),
        many: path.ends_with('s'),
        may_lack: vec!["kind", "name"],
        ..RefField::default()
    };
    REF_FIELDS.iter().map(field).collect()
}

/// A kind that can target only backends applies to these alone.
fn likely_class(allow: Option<&Fact<Vec<Allowed>>>) -> Class {
    let backends_alone = allow.is_some_and(|allow| level(allow) == Some(Level::Backend));
    if backends_alone {
        Class::Direct
    } else {
        Class::Inherited
    }
}

/// The rule of the route, or the allowed targets if none of them is at or above it.
fn effective(allow: Option<&Fact<Vec<Allowed>>>) -> Vec<GroupKind> {
    let rule = vec![GroupKind::gateway_api("HTTPRoute")];
    let Some(allow) = allow else {
        return rule;
    };
    let reaches = |allowed: &Allowed| Level::end_for(&allowed.meant()) <= Level::Rule;
    if allow.is_empty() || allow.iter().any(reaches) {
        return rule;
    }
    allow.iter().map(Allowed::meant).collect()
}

/// The common level of the allowed target kinds, if they have one.
pub(super) fn level(allow: &[Allowed]) -> Option<Level> {
    // A CRD that lists groups and kinds apart allows kinds that do not exist: a Gateway of the core API.
    let exists = |allowed: &&Allowed| {
        let gk = &allowed.gk;
        !gk.group.is_empty() || gateway_kinds().all(|known| known.kind != gk.kind)
    };
    let allow = allow.iter().filter(exists);
    let mut levels = allow.map(|allowed| Level::of_kind(&allowed.meant()));
    let first = levels.next()??;
    levels.all(|level| level == Some(first)).then_some(first)
}

/// Direct kinds, None and kinds of GEP-713 of 2021 keep the oldest policy; other kinds merge as levels do.
fn same_target(class: Class, strategies: &Strategies, unset: Strategy) -> SameTarget {
    let stand_together = matches!(unset, Strategy::Merge(_, Op::Additive));
    let keeps_oldest = class == Class::Direct || unset == Strategy::None || strategies.follows_2021;
    if keeps_oldest && !stand_together {
        SameTarget::OldestWins
    } else {
        SameTarget::Merge
    }
}

fn strategies(explicit: &Explicit<'_>, derived: Option<&Derived>) -> Fact<Strategies> {
    let says_something = |s: &Strategies| s.path.is_some() || s.stanzas.is_some();
    let mut value = derived.map(|d| d.strategies.clone()).unwrap_or_default();
    let mut from = if says_something(&value) {
        Source::Crd
    } else {
        Source::Default
    };
    if let Some(named) = first(explicit, |p| p.merge.strategy.clone()) {
        value.path = Some(paths::within_spec(&named.value.path));
        let values = named.value.values.into_iter();
        value.values = values.map(|(name, v)| (name, v.into())).collect();
        value.complete = true;
        value.follows_2021 = false;
        value.takes_both = false;
        from = named.from;
        if let Some(derived) = derived.filter(|_| from == Source::Builtin)
            && narrow::strategy(&mut value, derived)
        {
            from = Source::Crd;
        }
    }
    if let Some(stanzas) = first(explicit, |p| p.merge.stanzas) {
        value.stanzas = match stanzas.value {
            StanzasFile::Has(false) => None,
            // The CRD shows their spelling, if it has them.
            StanzasFile::Has(true) => value.stanzas.or(Some(StanzaNames::PLURAL)),
            StanzasFile::Written(StanzaSpelling::Singular) => Some(StanzaNames::SINGULAR),
            StanzasFile::Written(StanzaSpelling::Plural) => Some(StanzaNames::PLURAL),
        };
        from = from.min(stanzas.from);
        if let Some(derived) = derived.filter(|_| stanzas.from == Source::Builtin)
            && let Some(names) = value.stanzas
            && ![names.defaults, names.overrides]
                .iter()
                .any(|name| narrow::has(derived, name))
        {
            value.stanzas = None;
            from = Source::Crd;
        }
    }
    if let Some(inside) = first(explicit, |p| p.merge.nested_strategies.clone()) {
        value.nested = inside.value;
        value.follows_2021 = false;
        value.takes_both = false;
        from = from.min(inside.from);
    }
    if let Some(unread) = first(explicit, |p| p.merge.ignored_beside_stanzas.clone()) {
        let unread = unread.value.iter().map(|field| paths::within_spec(field));
        value.apart.extend(unread);
    }
    if let Some(gep_version) = first(explicit, |p| p.merge.gep_version) {
        value.follows_2021 = gep_version.value == GepVersion::Of2021;
        value.takes_both = false;
        from = from.min(gep_version.from);
    }
    if first(explicit, |p| p.merge.dictated_by).is_some_and(|by| *by == DictatedBy::Fixed) {
        value.path = None;
        value.values = BTreeMap::new();
        value.default = None;
    }
    Fact { value, from }
}

fn merging(explicit: &Explicit<'_>) -> Merging {
    Merging {
        dictated_by: stated(explicit, |p| p.merge.dictated_by),
        merge_with: stated(explicit, |p| p.merge.merge_with),
        atomic_fields: stated(explicit, |p| {
            Some(paths::paths(p.merge.atomic_fields.as_ref()?))
        }),
        units_by_key: Vec::new(),
        parent_first: false,
        list_keys: stated(explicit, |p| p.merge.list_keys.clone()),
        combined_lists: stated(explicit, |p| p.merge.combined_lists.clone()),
        lists_by_policy: stated(explicit, |p| {
            let lists = p.merge.lists_by_policy.as_ref()?.iter();
            Some(lists.map(|list| paths::last_two(list)).collect())
        }),
        drops_empty_lists: stated(explicit, |p| p.merge.drops_empty_lists),
        assumed_when_unset: stated(explicit, |p| p.merge.assumed_when_unset.clone()),
        append_lists: stated(explicit, |p| p.merge.append_lists.clone()),
        empty_spec: stated(explicit, |p| p.merge.empty_spec.map(Some)),
        on_listeners: stated(explicit, |p| p.merge.on_listeners.clone()),
        ports: stated(explicit, |p| p.merge.ports.clone().map(Some)),
        ignored_settings: stated(explicit, |p| p.merge.ignored_settings.clone()),
        not_applied_if: stated(explicit, |p| p.merge.not_applied_if.clone()),
        replaced_by_filters: stated(explicit, |p| p.merge.replaced_by_filters.clone()),
        levels_by_age: stated(explicit, |p| p.merge.levels_by_age.clone()),
        stages: stated(explicit, |p| p.merge.stages.clone()),
        stage_per_policy: stated(explicit, |p| p.merge.stage_per_policy),
        kept_from_above: stated(explicit, |p| p.merge.kept_from_above.clone()),
        partition_by: stated(explicit, |p| p.merge.partition_by.clone().map(Some)),
        accumulate_per_stage: stated(explicit, |p| p.merge.accumulate_per_stage.clone()),
        delegation_merge: stated(explicit, |p| p.merge.delegation_merge.clone().map(Some)),
        non_empty_if: stated(explicit, |p| {
            let fields = p.merge.non_empty_if.as_ref()?;
            Some(
                fields
                    .iter()
                    .map(|field| paths::within_spec(field))
                    .collect(),
            )
        }),
    }
}

/// The strategy of a policy that names none.
fn unset(
    explicit: &Explicit<'_>,
    class: Class,
    strategies: &Fact<Strategies>,
    allow: Option<&Fact<Vec<Allowed>>>,
) -> Fact<Strategy> {
    if let Some(fact) = first(explicit, |p| p.merge.default.map(Strategy::from)) {
        return fact;
    }
    let named = strategies.default.as_ref();
    if let Some(filled_in) = named.and_then(|name| strategies.values.get(name)) {
        let (value, from) = (*filled_in, strategies.from);
        return Fact { value, from };
    }
    let atomic_defaults = Strategy::Merge(Direction::Defaults, Op::Atomic);
    // A kind that names no strategy and has a single level has nothing to merge with (GEP-713, None).
    let names_none = strategies.path.is_none() && strategies.stanzas.is_none();
    let has_one_level = allow.is_some_and(|allow| level(allow).is_some());
    if class == Class::Direct || (names_none && has_one_level) {
        return default(Strategy::None);
    }
    let wanted = [
        atomic_defaults,
        Strategy::Merge(Direction::Defaults, Op::Patch),
        Strategy::Merge(Direction::Overrides, Op::Atomic),
        Strategy::Merge(Direction::Overrides, Op::Patch),
    ];
    let supported = |s: &&Strategy| strategies.values.values().any(|v| v == *s);
    let strategy = wanted.iter().chain([&Strategy::None]).find(supported);
    default(strategy.copied().unwrap_or(atomic_defaults))
}

/// All fields of `spec` that are not settings.
fn excluded(
    explicit: &Explicit<'_>,
    refs: &[RefField],
    strategies: &Strategies,
) -> Fact<Vec<String>> {
    let top = |path: &str| path.split('.').next().unwrap_or(path).to_owned();
    let more = stated(explicit, |p| p.merge.exclude.clone());
    let mut names: Vec<String> = refs.iter().map(|r| top(&r.path)).collect();
    names.extend(REF_FIELDS.map(str::to_owned));
    names.extend(strategies.path.as_deref().map(top));
    names.extend(more.iter().map(|path| top(&paths::within_spec(path))));
    if let Some(stanzas) = strategies.stanzas {
        names.extend([stanzas.defaults, stanzas.overrides].map(str::to_owned));
    }
    names.sort();
    names.dedup();
    Fact {
        value: names,
        from: more.from,
    }
}
