//! The facts of a profile, each under the name that it has in the configuration file.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::paths::spec_path;
use super::{
    ActsThrough, Allowed, Alternatives, Classes, Fact, GatewayByLabel, Ineffective, OnListeners,
    OnRoutes, PortSettings, Profile, Protection, RefField, ReportedInvalid, Source, Strategies,
    Strategy, Weakness,
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
            fact("versions", &self.versions, |v| json!(v)),
            fact("class", &self.class, |v| json!(v)),
            fact("targets.refs", &self.refs, |v| list(v, reference)),
            fact("targets.byFilterOf", &self.by_filter_of, |v| {
                list(v, |gk| json!(gk.to_string()))
            }),
            fact("targets.annotation", &self.annotation, |v| {
                json!(
                    v.as_ref()
                        .map(|a| json!({"target": kind(&a.target), "key": a.key}))
                )
            }),
            fact("targets.required", &self.required, |v| json!(v)),
            fact("targets.oneForm", &self.one_form, |v| json!(v)),
            fact("targets.onMissing", &self.on_missing, |v| json!(v)),
            fact("targets.onMissingExcept", &self.on_missing_except, classes),
            fact("targets.noProxyLabels", &self.no_proxy_labels, |v| {
                let labels: BTreeMap<&Arc<str>, &Arc<str>> =
                    v.iter().map(|(label, value)| (label, value)).collect();
                json!((!labels.is_empty()).then_some(labels))
            }),
            fact("targets.noProxyWhen", &self.no_proxy_when, |v| {
                json!((!v.is_empty()).then_some(v))
            }),
            fact("targets.gatewayByLabel", &self.gateway_by_label, |v| {
                by_label(v.as_ref())
            }),
            fact("targets.gatewayPods", &self.gateway_pods, |v| {
                json!(v.as_ref().map(|pods| &pods.name_label))
            }),
            fact("targets.rootNamespace", &self.root_namespace, |v| json!(v)),
            Named {
                name: "targets.allow",
                value: allow.map_or(Value::Null, |allow| list(allow, allowed)),
                from: allow.map(|allow| allow.from).unwrap_or_default(),
            },
            fact("targets.refused", &self.refused, |v| {
                json!((!v.kinds.is_empty()).then(|| v.kinds.iter().map(kind).collect::<Vec<_>>()))
            }),
            fact("targets.nameComparison", &self.name_comparison, |v| {
                json!(v)
            }),
            fact("targets.sectionNaming", &self.section_naming, |v| json!(v)),
            fact("targets.portsBy", &self.ports_by, |v| json!(v)),
            fact("targets.portNumbersWith", &self.port_numbers_with, |v| {
                json!(v)
            }),
            fact("targets.coreGroupWith", &self.core_group_with, |v| json!(v)),
            fact("targets.noCoreGroupWith", &self.no_core_group_with, |v| {
                json!(v)
            }),
            fact("targets.crossNamespace", &self.cross_namespace, |v| {
                json!(v)
            }),
            fact("targets.serviceAs", &self.service_as, |v| json!(v)),
            fact("effective", &self.effective, |v| list(v, kind)),
            fact("needsRoute", &self.needs_route, |v| json!(v)),
            fact(
                "hostnamesWithinListeners",
                &self.hostnames_within_listeners,
                |v| json!(v),
            ),
            fact("parents", &self.parents, |v| json!(v)),
            fact("hierarchy", &self.hierarchy, |v| json!(v)),
            fact("conflict.sameTarget", &self.same_target, |v| json!(v)),
            fact("conflict.scope", &self.conflict_scope, |v| json!(v)),
            fact("conflict.oneWithNoTarget", &self.one_with_no_target, |v| {
                json!(v)
            }),
            fact("conflict.clashes", &self.clashes, |v| json!(v)),
            fact("conflict.weight", &self.weight, |v| json!(v)),
            fact("conflict.equalAge", &self.equal_age, |v| json!(v)),
            fact("conflict.fields", &self.conflict_fields, |v| {
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
            part("merge.dialect", &self.strategies, |v| {
                json!(v.legacy.then_some("legacy"))
            }),
            fact("merge.default", &self.default_strategy, |v| strategy(*v)),
            fact("merge.dictatedBy", &merging.dictated_by, |v| json!(v)),
            fact("merge.mergeWith", &merging.merge_with, |v| json!(v)),
            fact("merge.atomicFields", &merging.atomic_fields, |v| {
                list(v, |p| json!(p.join(".")))
            }),
            fact("merge.listKeys", &merging.list_keys, |v| json!(v)),
            fact("merge.combinedLists", &merging.combined_lists, |v| json!(v)),
            fact("merge.listsByPolicy", &merging.lists_by_policy, |v| {
                list(v, |list| json!(list.join(".")))
            }),
            fact("merge.dropsEmptyLists", &merging.drops_empty_lists, |v| {
                json!(v)
            }),
            fact("merge.unsetIs", &merging.unset_is, |v| {
                v.iter()
                    .map(|(path, text)| format!("{}: {text}", spec_path(path)))
                    .collect()
            }),
            fact("merge.appendLists", &merging.append_lists, |v| json!(v)),
            fact("merge.emptySpec", &merging.empty_spec, |v| json!(v)),
            fact("merge.nonEmptyIf", &merging.non_empty_if, |v| {
                list(v, |field| json!(format!("spec.{field}")))
            }),
            fact("merge.exclude", &self.exclude, |v| json!(v)),
            fact("merge.onRoutes", &self.on_routes, |v| list(v, on_routes)),
            fact("merge.ineffective", &self.ineffective, |v| list(v, idle)),
            fact("merge.onListeners", &merging.on_listeners, |v| {
                list(v, on_listeners)
            }),
            fact("merge.ports", &merging.ports, |v| port_settings(v.as_ref())),
            fact("merge.unread", &merging.unread, |v| json!(v)),
            fact("merge.notAppliedIf", &merging.not_applied_if, |v| {
                list(v, super::NotApplied::json)
            }),
            fact("merge.levelsByAge", &merging.levels_by_age, |v| json!(v)),
            fact("merge.stages", &merging.stages, |v| json!(v)),
            fact("merge.stagePerPolicy", &merging.stage_per_policy, |v| {
                json!(v)
            }),
            fact("merge.keptFromAbove", &merging.kept_from_above, |v| {
                json!(v)
            }),
            fact("merge.partitionBy", &merging.partition_by, |v| json!(v)),
            fact(
                "merge.accumulatePerStage",
                &merging.accumulate_per_stage,
                |v| json!(v),
            ),
            fact("merge.inheritance", &merging.inheritance, |v| json!(v)),
        ]
    }

    fn other_facts(&self) -> Vec<Named> {
        vec![
            fact("controls", &self.controls, |v| {
                list(v, |c| {
                    json!({"setting": c.setting.join("."), "target": kind(&c.target),
                           "field": format!("spec.{}", c.field),
                           "zeroIsUnset": c.zero_is_unset})
                })
            }),
            fact("protects", &self.protects, |v| {
                let settings = |p: &Protection| json!(p.settings);
                Value::Object(
                    v.iter()
                        .map(|p| (p.name.to_string(), settings(p)))
                        .collect(),
                )
            }),
            fact("switchedOffBy", &self.switched_off_by, |v| json!(v)),
            fact("weakenedBy", &self.weakened_by, |v| list(v, weakness)),
            fact("protectsIfEmpty", &self.protects_if_empty, |v| json!(v)),
            fact("alternativeEntries", &self.alternative_entries, |v| {
                json!(v)
            }),
            fact("alternatives", &self.alternatives, |v| {
                v.as_ref().map_or(Value::Null, alternatives)
            }),
            fact("actsThrough", &self.acts_through, |v| {
                json!(v.as_ref().map(ActsThrough::json))
            }),
            fact("dropsNulls", &self.drops_nulls, |v| json!(v)),
            fact("caveats", &self.caveats, |v| {
                list(v, |caveat| json!(caveat.text))
            }),
            fact("requirements", &self.requirements, |_| {
                json!(super::requirements::shown(&self.requirements))
            }),
            fact("references", &self.references, |v| {
                list(v, super::Reference::json)
            }),
            fact("rejectedIf", &self.rejected_if, |_| {
                json!(super::rejected_if::shown(&self.rejected_if))
            }),
            fact("reportedInvalid", &self.reported_invalid, |v| {
                json!(v.as_ref().map(ReportedInvalid::json))
            }),
            fact("controllers", &self.controllers, |v| json!(v)),
            fact("ignoredBy", &self.ignored_by, |v| json!(v)),
            fact("classes", &self.classes, |v| json!(v)),
            fact("domain", &self.domain, |v| json!(v)),
            fact("status.shape", &self.status, |v| json!(v)),
            fact("status.maxAncestors", &self.max_ancestors, |v| json!(v)),
            fact("status.overridden", &self.tells_overridden, |v| json!(v)),
            fact("status.mayBeEmpty", &self.may_be_empty, |v| json!(v)),
            fact("status.mustBeTrue", &self.must_be_true, |v| json!(v)),
            fact("status.inForce", &self.in_force, |v| json!(v)),
            fact("status.idle", &self.idle, |v| json!(v)),
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
            names.push(words(self.default_strategy.value));
        }
        names
    }
}

/// A strategy in words: `patch defaults`.
pub fn words(strategy: Strategy) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match strategy {
        Strategy::None => "none".to_owned(),
        Strategy::Merge(direction, op) => {
            format!("{} {}", text(&json!(op)), text(&json!(direction)))
        }
    }
}

fn fact<T>(name: &'static str, fact: &Fact<T>, value: impl Fn(&T) -> Value) -> Named {
    Named {
        name,
        value: value(&fact.value),
        from: fact.from,
    }
}

/// One of several facts with a common source. A fact without a value has no source.
fn part<T>(name: &'static str, whole_fact: &Fact<T>, value: impl Fn(&T) -> Value) -> Named {
    let mut named = fact(name, whole_fact, value);
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
    let (kinds, targets) = (&alternatives.with, &alternatives.open_targets);
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
    } else {
        json!({"level": idle.level, "protocols": requests.protocols, "routes": kinds, "settings": settings})
    }
}

fn on_listeners(on: &OnListeners) -> Value {
    json!({"protocols": on.protocols, "settings": on.settings,
           "exceptSettings": on.except_settings, "stages": on.stages})
}

fn port_settings(ports: Option<&PortSettings>) -> Value {
    json!(ports.map(|ports| {
        json!({"list": ports.list, "port": ports.port, "replaces": ports.replaces})
    }))
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
