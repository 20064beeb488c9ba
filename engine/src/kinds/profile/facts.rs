//! The facts of a profile, each under the name that it has in the configuration file.

use serde::Serialize;
use serde_json::{Value, json};

use super::values::paths::spec_path;
use super::{
    Allowed, Alternatives, AppliesThrough, Classes, Fact, GatewayByLabel, Ineffective, OnListeners,
    OnRoutes, Profile, RefField, ReportedInvalid, Source, Strategies, Strategy, Weakness,
};
use crate::model::ids::GroupKind;

/// One fact of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Named {
    /// Its path in a profile: `targets.allow`.
    #[serde(skip)]
    pub name: &'static str,
    /// The value, in the format of a profile.
    pub value: Value,
    /// Its source.
    pub from: Source,
}

// === impl Profile ===

impl Profile {
    /// Every fact, in the order of the description of the configuration.
    pub fn facts(&self) -> Vec<Named> {
        let parts = [
            self.facts_of_targets(),
            self.facts_of_merging(),
            self.other_facts(),
        ];
        parts.into_iter().flatten().collect()
    }

    fn facts_of_targets(&self) -> Vec<Named> {
        let allow = self.allow.as_ref();
        vec![
            fact("versions", &self.versions),
            fact("class", &self.class),
            shown("targets.refs", &self.refs, |v| list(v, reference)),
            shown("targets.namedByFiltersOf", &self.named_by_filters_of, |v| {
                list(v, |gk| json!(gk.to_string()))
            }),
            shown("targets.annotation", &self.annotation, |v| {
                json!(
                    v.as_ref()
                        .map(|a| json!({"target": kind(&a.target), "key": a.key}))
                )
            }),
            fact("targets.required", &self.required),
            fact("targets.oneForm", &self.one_form),
            fact("targets.onMissing", &self.on_missing),
            shown("targets.onMissingExcept", &self.on_missing_except, classes),
            shown(
                "targets.namespacesWithoutProxy",
                &self.namespaces_without_proxy,
                |v| json!((!v.is_empty()).then_some(v)),
            ),
            shown(
                "targets.unreadWithoutProxyIf",
                &self.unread_without_proxy_if,
                |v| json!((!v.is_empty()).then_some(v)),
            ),
            shown(
                "targets.namespacesWithoutMesh",
                &self.namespaces_without_mesh,
                |v| json!((!v.is_empty()).then_some(v)),
            ),
            shown("targets.namespacesInMesh", &self.namespaces_in_mesh, |v| {
                json!((!v.is_empty()).then_some(v))
            }),
            shown("targets.gatewayByLabel", &self.gateway_by_label, |v| {
                by_label(v.as_ref())
            }),
            shown("targets.gatewayPods", &self.gateway_pods, |v| {
                json!(v.as_ref().map(|pods| &pods.name_label))
            }),
            fact("targets.rootNamespace", &self.root_namespace),
            Named {
                name: "targets.allow",
                value: allow.map_or(Value::Null, |allow| list(allow, allowed)),
                from: allow.map(|allow| allow.from).unwrap_or_default(),
            },
            shown("targets.excluded", &self.excluded_targets, |v| {
                json!((!v.kinds.is_empty()).then(|| v.kinds.iter().map(kind).collect::<Vec<_>>()))
            }),
            fact("targets.nameComparison", &self.name_comparison),
            fact("targets.sectionNaming", &self.section_naming),
            fact("targets.portsBy", &self.ports_by),
            fact("targets.portNumbersWith", &self.port_numbers_with),
            fact("targets.coreGroupWith", &self.core_group_with),
            fact("targets.noCoreGroupWith", &self.no_core_group_with),
            fact("targets.crossNamespace", &self.cross_namespace),
            fact("targets.serviceAs", &self.service_as),
            shown("effective", &self.effective, |v| list(v, kind)),
            fact("needsRoute", &self.needs_route),
            fact("hostnamesWithinListeners", &self.hostnames_within_listeners),
            fact("parents", &self.parents),
            fact("hierarchy", &self.hierarchy),
            fact("conflict.sameTarget", &self.same_target),
            fact("conflict.scope", &self.conflict_scope),
            fact("conflict.oneWithNoTarget", &self.one_with_no_target),
            fact("conflict.rejectedBecause", &self.rejected_because),
            fact("conflict.weight", &self.weight),
            fact("conflict.equalAge", &self.equal_age),
            shown("conflict.fields", &self.conflict_fields, |v| {
                list(v, |p| json!(p.join(".")))
            }),
        ]
    }

    fn facts_of_merging(&self) -> Vec<Named> {
        let merging = &self.merging;
        vec![
            part("merge.strategy", &self.strategies, named_by_field),
            part("merge.stanzas", &self.strategies, |v| {
                json!(v.stanzas.map(|s| [s.defaults, s.overrides]))
            }),
            part("merge.nestedStrategies", &self.strategies, |v| {
                json!((!v.nested.is_empty()).then_some(&v.nested))
            }),
            part("merge.gepVersion", &self.strategies, |v| {
                json!(v.follows_2021.then_some("of-2021"))
            }),
            shown("merge.default", &self.default_strategy, |v| strategy(*v)),
            fact("merge.dictatedBy", &merging.dictated_by),
            fact("merge.mergeWith", &merging.merge_with),
            shown("merge.atomicFields", &merging.atomic_fields, |v| {
                list(v, |p| json!(p.join(".")))
            }),
            fact("merge.listKeys", &merging.list_keys),
            fact("merge.combinedLists", &merging.combined_lists),
            shown("merge.listsByPolicy", &merging.lists_by_policy, |v| {
                list(v, |list| json!(list.join(".")))
            }),
            fact("merge.dropsEmptyLists", &merging.drops_empty_lists),
            shown("merge.assumedWhenUnset", &merging.assumed_when_unset, |v| {
                v.iter()
                    .map(|(path, text)| format!("{}: {text}", spec_path(path)))
                    .collect()
            }),
            fact("merge.appendLists", &merging.append_lists),
            fact("merge.emptySpec", &merging.empty_spec),
            shown("merge.nonEmptyIf", &merging.non_empty_if, |v| {
                list(v, |field| json!(format!("spec.{field}")))
            }),
            fact("merge.exclude", &self.exclude),
            shown("merge.onRoutes", &self.on_routes, |v| list(v, on_routes)),
            shown("merge.ineffective", &self.ineffective, |v| list(v, idle)),
            shown("merge.onListeners", &merging.on_listeners, |v| {
                list(v, on_listeners)
            }),
            fact("merge.ports", &merging.ports),
            fact("merge.ignoredSettings", &merging.ignored_settings),
            shown("merge.notAppliedIf", &merging.not_applied_if, |v| {
                list(v, super::NotApplied::json)
            }),
            fact("merge.replacedByFilters", &merging.replaced_by_filters),
            fact("merge.levelsByAge", &merging.levels_by_age),
            fact("merge.stages", &merging.stages),
            fact("merge.stagePerPolicy", &merging.stage_per_policy),
            fact("merge.keptFromAbove", &merging.kept_from_above),
            fact("merge.partitionBy", &merging.partition_by),
            fact("merge.accumulatePerStage", &merging.accumulate_per_stage),
            fact("merge.delegation", &merging.delegation_merge),
        ]
    }

    fn other_facts(&self) -> Vec<Named> {
        vec![
            shown("controls", &self.controls, |v| {
                list(v, |c| {
                    json!({"setting": c.setting.join("."), "target": kind(&c.target),
                           "field": format!("spec.{}", c.field),
                           "zeroIsUnset": c.zero_is_unset})
                })
            }),
            shown("protects", &self.protects, |v| {
                let protections = v.iter();
                let protections = protections.map(|p| (p.name.to_string(), json!(p.settings)));
                Value::Object(protections.collect())
            }),
            fact("switchedOffBy", &self.switched_off_by),
            shown("weakenedBy", &self.weakened_by, |v| list(v, weakness)),
            fact("protectsIfEmpty", &self.protects_if_empty),
            fact("alternativeEntries", &self.alternative_entries),
            shown("alternatives", &self.alternatives, |v| {
                v.as_ref().map_or(Value::Null, alternatives)
            }),
            shown("appliesThrough", &self.applies_through, |v| {
                json!(v.as_ref().map(AppliesThrough::json))
            }),
            fact("dropsNulls", &self.drops_nulls),
            shown("caveats", &self.caveats, |v| {
                // Several conditions may have one text.
                let texts = v.iter().enumerate().filter(|(i, caveat)| {
                    let mut before = v.iter().take(*i);
                    before.all(|other| other.text != caveat.text)
                });
                let texts: Vec<&str> = texts.map(|(_, caveat)| &*caveat.text).collect();
                json!(texts)
            }),
            shown("requirements", &self.requirements, |_| {
                json!(super::rejection::requirements::shown(&self.requirements))
            }),
            shown("references", &self.references, |v| {
                list(v, super::Reference::json)
            }),
            shown("rejectedIf", &self.rejected_if, |_| {
                json!(super::rejection::rejected_if::shown(&self.rejected_if))
            }),
            shown("reportedInvalid", &self.reported_invalid, |v| {
                json!(v.as_ref().map(ReportedInvalid::json))
            }),
            fact("controllers", &self.controllers),
            fact("ignoredBy", &self.ignored_by),
            fact("classes", &self.classes),
            fact("domain", &self.domain),
            fact("status.shape", &self.status),
            fact("status.maxAncestors", &self.max_ancestors),
            fact("status.overridden", &self.reports_overridden),
            fact("status.mayBeEmpty", &self.may_be_empty),
            fact("status.mustBeTrue", &self.must_be_true),
            fact("status.inForce", &self.in_force),
            fact("status.nothingToApplyTo", &self.nothing_to_apply_to),
        ]
    }

    /// The names of its strategies as users write them, stanzas first; the default strategy if it has no names.
    pub fn strategy_names(&self) -> Vec<String> {
        let strategies = &self.strategies;
        let mut names: Vec<String> = Vec::new();
        if let Some(stanzas) = strategies.stanzas {
            names.extend([stanzas.defaults, stanzas.overrides].map(str::to_owned));
        }
        names.extend(strategies.values.keys().cloned());
        names.extend(strategies.nested.keys().cloned());
        if names.is_empty() {
            names.push(strategy_text(self.default_strategy.value));
        }
        names
    }
}

/// A strategy in words: `patch defaults`.
pub fn strategy_text(strategy: Strategy) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match strategy {
        Strategy::None => "none".to_owned(),
        Strategy::Merge(direction, op) => {
            format!("{} {}", text(&json!(op)), text(&json!(direction)))
        }
    }
}

/// A fact whose value has the same form here as in a profile.
fn fact<T: Serialize>(name: &'static str, fact: &Fact<T>) -> Named {
    shown(name, fact, |value| json!(value))
}

/// A fact with its value as users see it.
fn shown<T>(name: &'static str, fact: &Fact<T>, value: impl Fn(&T) -> Value) -> Named {
    Named {
        name,
        value: value(&fact.value),
        from: fact.from,
    }
}

/// One of several facts with a common source. A fact without a value has no source.
fn part<T>(name: &'static str, whole_fact: &Fact<T>, value: impl Fn(&T) -> Value) -> Named {
    let mut named = shown(name, whole_fact, value);
    if named.value.is_null() {
        named.from = Source::Default;
    }
    named
}

fn list<T>(items: &[T], value: impl Fn(&T) -> Value) -> Value {
    items.iter().map(value).collect()
}

fn kind(gk: &GroupKind) -> Value {
    json!({"group": gk.group, "kind": gk.kind})
}

fn reference(field: &RefField) -> Value {
    let mut json = json!({"path": format!("spec.{}", field.path), "many": field.many});
    let parts = [
        ("defaultGroup", json!(field.default_group)),
        ("defaultKind", json!(field.default_kind)),
        ("defaultNamespace", json!(field.default_namespace)),
        ("labels", json!(field.labels)),
        (
            "emptySelectsNone",
            json!(field.empty_selects_none.then_some(true)),
        ),
        ("sections", json!(field.sections)),
        ("sectionField", json!(field.section_field)),
        ("portField", json!(field.port_field)),
        ("namespace", json!(field.namespace)),
        ("max", json!(field.max)),
        ("needsGroup", json!(field.needs_group.then_some(true))),
        ("needsSection", json!(field.needs_section.then_some(true))),
        ("unique", json!(field.unique.then_some(true))),
        (
            "takesPrecedenceOver",
            json!(
                (!field.takes_precedence_over.is_empty()).then_some(&field.takes_precedence_over)
            ),
        ),
        ("inNamespace", json!(field.in_namespace.as_ref().map(kind))),
    ];
    add(&mut json, parts);
    json
}

fn weakness(weakness: &Weakness) -> Value {
    json!({"settings": weakness.settings, "result": weakness.result, "text": weakness.text})
}

/// `true`, or the kinds of policies and targets that also let requests pass.
fn alternatives(alternatives: &Alternatives) -> Value {
    let (kinds, targets) = (&alternatives.other_kinds, &alternatives.open_targets);
    if kinds.is_empty() && targets.is_empty() {
        return json!(true);
    }
    let kinds = list(kinds, |kind| json!(kind.to_string()));
    json!({"with": kinds, "openTargets": list(targets, |target| json!(target.text))})
}

fn idle(idle: &Ineffective) -> Value {
    let settings = idle.settings.iter().map(|name| format!("spec.{name}"));
    let requests = &idle.requests;
    let settings: Vec<String> = settings.collect();
    let kinds: Vec<_> = requests.routes.iter().map(|gk| &gk.kind).collect();
    if !idle.policies.is_empty() {
        json!({"level": idle.level, "routes": kinds, "settings": settings, "when": idle.policies})
    } else if requests.is_all() {
        json!({"level": idle.level, "settings": settings})
    } else if requests.without_backend {
        json!({"level": idle.level, "settings": settings, "withoutBackend": true})
    } else {
        json!({"level": idle.level, "protocols": requests.protocols, "routes": kinds, "settings": settings})
    }
}

fn on_listeners(on: &OnListeners) -> Value {
    json!({"protocols": on.protocols, "settings": on.settings,
           "exceptSettings": on.except_settings, "stages": on.stages})
}

fn on_routes(on: &OnRoutes) -> Value {
    let kinds: Vec<&str> = on.kinds.iter().map(|gk| &*gk.kind).collect();
    let settings: Vec<String> = on
        .settings
        .iter()
        .map(|name| format!("spec.{name}"))
        .collect();
    json!({"kinds": kinds, "settings": settings, "sections": on.sections})
}

fn classes(classes: &Classes) -> Value {
    let has_any = !(classes.controllers.is_empty() && classes.names.is_empty());
    let (controllers, names) = (&classes.controllers, &classes.names);
    json!(has_any.then(|| json!({"controllers": controllers, "names": names})))
}

fn by_label(by_label: Option<&GatewayByLabel>) -> Value {
    json!(by_label.map(|by_label| &by_label.label))
}

fn allowed(allowed: &Allowed) -> Value {
    let mut json = kind(&allowed.gk);
    let parts = [
        ("sections", json!(allowed.sections)),
        ("only", json!(allowed.only)),
        (
            "names",
            json!((!allowed.names.is_empty()).then_some(&allowed.names)),
        ),
    ];
    add(&mut json, parts);
    json
}

/// Adds the known parts.
fn add<const N: usize>(to: &mut Value, parts: [(&str, Value); N]) {
    if let Value::Object(map) = to {
        let known = parts.into_iter().filter(|(_, value)| !value.is_null());
        map.extend(known.map(|(name, value)| (name.to_owned(), value)));
    }
}

fn named_by_field(strategies: &Strategies) -> Value {
    let Some(path) = &strategies.path else {
        return Value::Null;
    };
    let values = strategies.values.iter();
    let values = values.map(|(name, value)| (name.clone(), strategy(*value)));
    let values: serde_json::Map<String, Value> = values.collect();
    json!({"path": format!("spec.{path}"), "values": values})
}

fn strategy(strategy: Strategy) -> Value {
    match strategy {
        Strategy::None => json!("none"),
        Strategy::Merge(direction, op) => json!({"direction": direction, "op": op}),
    }
}
