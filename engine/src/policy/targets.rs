//! Target entries of a policy's spec, with the field path of each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::pod_selector::gateways;
use super::{Policy, Select, TargetRef};
use crate::kinds::profile::{
    CrossNamespace, Fact, NameComparison, OnMissing, Profile, RefField, Source,
};
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::object::guessed_group;
use crate::model::object::{From, Object, gateway_kinds};
use crate::model::section;
use crate::model::selector::{Labels, Selector};
use crate::model::wording::type_name;

/// One entry of a target field.
#[derive(Clone, Debug)]
pub struct TargetEntry<'a> {
    /// The field path: `spec.targetRefs[0]`.
    pub path: String,
    /// The target field.
    pub field: &'a RefField,
    /// The target, or the fault of the entry.
    pub target: Result<TargetRef, Fault>,
    /// A field that is misspelled, but can only mean one thing.
    pub spelling: Option<Spelling>,
    /// Whether it is certain that no controller accepts this spelling.
    pub is_misspelt: bool,
    /// Whether its group is guessed, because the entry has none.
    pub guessed: bool,
    /// Whether it has both a name and a selector, of which the name counts.
    pub both: bool,
    /// Its namespace, if the kind or the field ignores it.
    pub unread: Option<Arc<str>>,
    /// Its section, if the CRD has no such member, so that the API server prunes it.
    pub pruned_section: Option<Arc<str>>,
}

/// A field with a wrong spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// `kind` or `group`.
    pub field: &'static str,
    /// The value; empty if the field is missing.
    pub written: String,
    /// The value that it stands for.
    pub right: String,
}

/// Why an entry does not refer to anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not an object, but of this type.
    NotAnObject(&'static str),
    /// A part is missing or empty: `kind`, or `name` without a selector.
    Missing(&'static str),
    /// `group` contains a version.
    Versioned(String),
    /// A member that must be a text is none.
    NotText(String),
}

/// The maximum number of entries that are read; the CRDs of projects allow 16 or fewer. Each may select all objects
/// of a kind, so their cost is a product.
pub const MOST_ENTRIES: usize = 64;

/// The first [`MOST_ENTRIES`] entries of the target fields, in the order of the profile and of the spec.
pub fn entries<'a>(spec: &Value, profile: &'a Profile) -> Vec<TargetEntry<'a>> {
    let mut entries = Vec::new();
    let hidden = hidden(spec, profile);
    for field in &profile.refs.value {
        if hidden.iter().any(|(path, _)| *path == field.path) {
            continue;
        }
        let says_something =
            |value: &&Value| !value.is_null() && !is_without(value, field, profile);
        let Some(value) = value_at(spec, &field.path).filter(says_something) else {
            continue;
        };
        let base = format!("spec.{}", field.path);
        let list = value.as_array().filter(|_| field.many);
        let items = list.map_or(std::slice::from_ref(value), Vec::as_slice);
        for (i, item) in items.iter().enumerate() {
            let path = || list.map_or_else(|| base.clone(), |_| format!("{base}[{i}]"));
            let left = MOST_ENTRIES.saturating_sub(entries.len());
            if left == 0 {
                break;
            }
            for item in by_section(item, field).into_iter().take(left) {
                entries.push(entry(path(), &item, field, profile));
            }
        }
    }
    entries
}

/// An entry once for each section that it names: some kinds have a list of them.
fn by_section<'v>(item: &'v Value, field: &RefField) -> Vec<Cow<'v, Value>> {
    let member = field.section_member();
    let listed = item.get(member).filter(|_| field.section_field.is_some());
    let (Some(Value::Array(names)), Value::Object(members)) = (listed, item) else {
        return vec![Cow::Borrowed(item)];
    };
    let mut whole = members.clone();
    whole.remove(member);
    if names.is_empty() {
        return vec![Cow::Owned(Value::Object(whole))];
    }
    let names = names.iter().take(MOST_ENTRIES);
    let of_section = names.map(|name| {
        let mut entry = whole.clone();
        entry.insert(member.to_owned(), name.clone());
        Cow::Owned(Value::Object(entry))
    });
    of_section.collect()
}

/// The number of entries in a field, whether or not all are read.
pub fn written(spec: &Value, field: &RefField) -> usize {
    match value_at(spec, &field.path) {
        Some(Value::Array(items)) if field.many => items.len(),
        Some(Value::Null) | None => 0,
        Some(_) => 1,
    }
}

/// Whether there are more entries than are read.
pub fn has_unread(spec: &Value, profile: &Profile) -> bool {
    let fields = profile.refs.iter();
    fields.map(|field| written(spec, field)).sum::<usize>() > MOST_ENTRIES
}

/// Whether a selector of everything means the same as no target, for kinds that then apply to their namespace.
fn is_without(value: &Value, field: &RefField, profile: &Profile) -> bool {
    let everything = match selection(value, field) {
        Some(Select::Labels(Some(selector))) => selector.is_empty(),
        Some(_) => false,
        None => value.as_object().is_some_and(Map::is_empty),
    };
    everything && field.default_kind.is_some() && *profile.on_missing == OnMissing::Namespace
}

/// Fields that are set and ignored, each with the field that takes precedence.
pub fn hidden<'a>(spec: &Value, profile: &'a Profile) -> Vec<(&'a str, &'a str)> {
    let set = |path: &str| value_at(spec, path).is_some_and(|value| !value.is_null());
    let hiding = profile.refs.iter().filter(|field| set(&field.path));
    let pairs = hiding.flat_map(|field| {
        let hidden = field.takes_precedence_over.iter();
        hidden.map(|path| (&**path, &*field.path))
    });
    pairs.filter(|(path, _)| set(path)).collect()
}

/// The targets of a policy: its valid entries, or the default target of its kind if there are no entries.
pub(super) fn targets_of_policy(
    object: &Object,
    spec: &Value,
    profile: &Profile,
) -> Vec<TargetRef> {
    let entries = entries(spec, profile);
    let unsaid = entries.is_empty();
    let own = &object.key.namespace;
    let in_namespace = entries.iter().find_map(|entry| {
        let target = entry.target.as_ref().ok()?;
        let is_own = target.gk.is_core("Namespace") && target.select == Select::Name(own.clone());
        entry.field.in_namespace.clone().filter(|_| is_own)
    });
    let mut targets: Vec<TargetRef> = entries.into_iter().filter_map(|e| e.target.ok()).collect();
    targets.extend(gateways(&targets, own, profile));
    let everything = Select::Labels(Some(Box::default()));
    targets.extend(in_namespace.map(|kind| everything.reference_to(kind)));
    if let Some(annotation) = &*profile.annotation {
        let select = Select::Annotated(annotation.key.clone(), object.key.name.clone());
        targets.push(select.reference_to(annotation.target.clone()));
    }
    if unsaid && *profile.on_missing == OnMissing::Namespace {
        // A policy in the root namespace applies to all Namespaces.
        let select = if profile.root_namespace.as_ref() == Some(own) {
            Select::Labels(Some(Box::default()))
        } else {
            Select::Name(own.clone())
        };
        targets.push(select.reference_to(GroupKind::core("Namespace")));
    }
    targets
}

impl Policy {
    /// The only target, if it names one.
    pub fn only_target(&self) -> Option<Place> {
        let [target] = &*self.targets else {
            return None;
        };
        let object = target.object(&self.key().namespace)?;
        let section = target.section.clone();
        (!target.selects()).then_some(Place { object, section })
    }

    /// Whether one of its targets names or selects an object.
    pub fn has_target(&self, key: &ObjectKey, object: Option<&Object>) -> bool {
        let own = &self.key().namespace;
        let mut targets = self.targets.iter();
        targets.any(|target| target.matches(own, key, object))
    }
}

impl TargetEntry<'_> {
    /// Whether all kinds that can be its target are known.
    pub fn knows_kinds(&self, profile: &Profile, target: &TargetRef) -> bool {
        knows_kinds(profile, self.field, target, self.guessed)
    }
}

impl Select {
    /// A reference without a section to objects of a kind.
    pub(super) fn reference_to(self, gk: GroupKind) -> TargetRef {
        TargetRef {
            gk,
            namespace: None,
            select: self,
            section: None,
            port: None,
            unknown: None,
            from: From::Same,
            is_taken: true,
            says_core: false,
        }
    }
}

/// The value at a dotted path.
pub fn value_at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

fn entry<'a>(
    path: String,
    item: &Value,
    field: &'a RefField,
    profile: &Profile,
) -> TargetEntry<'a> {
    let mut target = target(item, field);
    let mut spelling = None;
    let mut guessed = false;
    let core_is_right = *profile.name_comparison != NameComparison::Exact;
    match (item.get("group").and_then(Value::as_str), &target) {
        (Some("core"), _) if core_is_right => {}
        (Some("core"), _) => spelling = Some(("group", "core".to_owned(), String::new())),
        (None, Ok(target)) if field.default_group.is_none() => {
            guessed = true;
            spelling = Some(("group", String::new(), target.gk.group.to_string()));
        }
        _ => {}
    }
    if let Ok(target) = &mut target
        && let Some(right) = right_kind(&target.gk, profile)
    {
        if *profile.name_comparison != NameComparison::IgnoreCase && target.gk.kind != right.kind {
            spelling = Some(("kind", target.gk.kind.to_string(), right.kind.to_string()));
        }
        target.gk = right;
    }
    let reads_namespace = match *profile.cross_namespace {
        CrossNamespace::Ignored => false,
        // For these kinds any other namespace is an error.
        CrossNamespace::Forbidden => true,
        _ => field.namespace != Some(false),
    };
    let unread = match &mut target {
        Ok(target) if !reads_namespace => target.namespace.take(),
        _ => None,
    };
    let is_pruned = field.lacks_member(field.section_member());
    let pruned_section = match &mut target {
        Ok(target) if is_pruned => target.section.take(),
        _ => None,
    };
    // The API server or the controller compares with its list of kinds exactly.
    let written = spelling
        .as_ref()
        .is_some_and(|(_, text, _)| !text.is_empty());
    let mut is_misspelt = false;
    if let Ok(target) = &mut target {
        let is_sure = knows_kinds(profile, field, target, guessed);
        // If every kind can be a target and all controllers compare exactly, none accepts a kind in
        // another case.
        let in_other_case = spelling.as_ref().is_some_and(|(name, ..)| *name == "kind");
        let compares_exactly = profile.name_comparison.is_stated() && in_other_case;
        is_misspelt = written && (is_sure || compares_exactly);
        let kind = !is_misspelt && (!is_sure || profile.takes(field, &target.gk, target.selects()));
        let group = !(guessed && field.needs_group);
        target.is_taken = kind && group && may_take_section(profile, target, field);
    }
    TargetEntry {
        path,
        field,
        both: item.get("name").is_some() && field.takes_name() && selection(item, field).is_some(),
        target,
        is_misspelt,
        guessed,
        unread,
        pruned_section,
        spelling: spelling.map(|(field, written, right)| Spelling {
            field,
            written,
            right,
        }),
    }
}

/// Whether all kinds that can be targets are known with certainty. Rules of a CRD about references by name do not
/// apply to selectors, and do not say which group is meant if there is none.
fn knows_kinds(profile: &Profile, field: &RefField, target: &TargetRef, guessed: bool) -> bool {
    let by_name = !guessed && (!target.selects() || field.kinds.is_some());
    let allow = profile.allow.as_ref();
    let is_refused = !guessed && profile.excluded_targets.kinds.contains(&target.gk);
    is_refused
        || allow.is_some_and(|allow| allow.is_stated() && (allow.from != Source::Crd || by_name))
}

/// Whether no certain fact rules out the section of a target.
fn may_take_section(profile: &Profile, target: &TargetRef, field: &RefField) -> bool {
    if target.is_whole() {
        return !field.needs_section;
    }
    let is_said = profile.allow.as_ref().is_some_and(Fact::is_stated);
    field.sections != Some(false)
        && !section::has_none(&target.gk)
        && (!is_said || profile.takes_section_of(&target.gk))
}

/// The kind that was meant if only the case differs, or the group where it is not compared: a kind of Gateway API, a core kind, or one
/// that the policy kind allows.
fn right_kind(written: &GroupKind, profile: &Profile) -> Option<GroupKind> {
    let allowed = profile.allow.iter();
    let allowed = || {
        allowed
            .clone()
            .flat_map(|fact| fact.value.iter().map(|a| a.gk.clone()))
    };
    if *profile.name_comparison == NameComparison::AnyGroup
        && let Some(right) = allowed().find(|gk| gk.kind == written.kind)
    {
        return Some(right).filter(|gk| gk != written);
    }
    let known = gateway_kinds()
        .chain(["Namespace", "Service"].map(GroupKind::core))
        .chain(allowed());
    let loosely = *profile.name_comparison == NameComparison::IgnoreCase;
    let same_group = |group: &str| {
        *written.group == *group || (loosely && written.group.eq_ignore_ascii_case(group))
    };
    let mut alike =
        known.filter(|gk| same_group(&gk.group) && gk.kind.eq_ignore_ascii_case(&written.kind));
    alike.next().filter(|gk| gk != written)
}

fn target(item: &Value, field: &RefField) -> Result<TargetRef, Fault> {
    let Value::Object(map) = item else {
        return Err(Fault::NotAnObject(type_name(item)));
    };
    let text = |key: &str| {
        let text = map.get(key).and_then(Value::as_str);
        text.filter(|t| !t.is_empty()).map(Arc::from)
    };
    if let Some(member) = not_text(map, field) {
        return Err(Fault::NotText(member.to_owned()));
    }
    let kind = text("kind").or_else(|| field.default_kind.clone());
    let kind = kind.ok_or(Fault::Missing("kind"))?;
    let group = match map.get("group").and_then(Value::as_str) {
        Some("core") => Arc::default(),
        Some(group) if group.contains('/') => return Err(Fault::Versioned(group.to_owned())),
        Some(group) => Arc::from(group),
        None => field
            .default_group
            .clone()
            .unwrap_or_else(|| Arc::from(guessed_group(&kind))),
    };
    let name = text("name").filter(|_| field.takes_name());
    let select = match (name, selection(item, field)) {
        (Some(name), _) => Select::Name(name),
        (None, Some(selection)) => selection,
        // If the field implies the kind, an empty entry selects everything. So does an entry without labels in a
        // field of selectors.
        (None, None)
            if (map.is_empty() && field.default_kind.is_some())
                || field.path == "targetSelectors" =>
        {
            Select::Labels(selector_of(Selector::default(), field))
        }
        (None, None) => return Err(Fault::Missing("name")),
    };
    Ok(TargetRef {
        gk: GroupKind::new(group, kind),
        namespace: text("namespace").or_else(|| field.default_namespace.clone()),
        select,
        section: section(map, field),
        port: port(map, field),
        unknown: unknown(map, field),
        from: namespaces(map, field),
        is_taken: true,
        says_core: map.get("group").and_then(Value::as_str) == Some("core"),
    })
}

/// The section of an entry. Some kinds write a section that is identified by number as a number.
fn section(entry: &Map<String, Value>, field: &RefField) -> Option<Arc<str>> {
    match entry.get(field.section_member())? {
        Value::String(text) if !text.is_empty() => Some(text.as_str().into()),
        Value::Number(number) if field.section_field.is_some() => Some(number.to_string().into()),
        _ => None,
    }
}

/// The port of an entry, whose sections are the target.
fn port(entry: &Map<String, Value>, field: &RefField) -> Option<u16> {
    let port = entry.get(field.port_field.as_deref()?)?;
    u16::try_from(port.as_u64()?).ok()
}

/// Members of unknown meaning, without those that no controller reads.
fn unknown(entry: &Map<String, Value>, field: &RefField) -> Option<Arc<str>> {
    let is_unknown = |name: &str, value: &Value| {
        !field.lacks_member(name) && !value.is_null() && !field.knows(name)
    };
    let mut members = entry.iter().filter(|(name, value)| is_unknown(name, value));
    let first = members.next()?;
    let all: BTreeMap<&String, &Value> = std::iter::once(first).chain(members).collect();
    serde_json::to_string(&all).ok().map(Into::into)
}

/// The first member that must be a text and is none. The API server refuses such an entry.
fn not_text<'a>(entry: &Map<String, Value>, field: &'a RefField) -> Option<&'a str> {
    let section = field.section_member();
    let mut members = ["group", "kind", "name", "namespace", section].into_iter();
    members.find(|member| match entry.get(*member) {
        None | Some(Value::Null | Value::String(_)) => false,
        Some(Value::Number(_)) => *member != section || field.section_field.is_none(),
        Some(_) => true,
    })
}

/// `namespaces` of an entry, in the format of listeners. The API server drops it if the CRD does not have it.
fn namespaces(entry: &Map<String, Value>, field: &RefField) -> From {
    let is_stored = !field.lacks_member("namespaces");
    let Some(namespaces) = entry.get("namespaces").filter(|_| is_stored) else {
        return From::Same;
    };
    match namespaces.get("from").and_then(Value::as_str) {
        Some("All") => From::All,
        Some("Selector") => {
            let selector = namespaces.get("selector");
            let selector = selector.and_then(|selector| Selector::deserialize(selector).ok());
            selector.map_or(From::None, |selector| From::Selector(Box::new(selector)))
        }
        _ => From::Same,
    }
}

/// The selector of an entry, if it has one: labels under the field's own key, `selector`, or the entry itself if it
/// contains `matchLabels` or `matchExpressions`.
fn selection(item: &Value, field: &RefField) -> Option<Select> {
    let own = field.labels.as_deref().and_then(|key| item.get(key));
    if let Some(labels) = own {
        let labels = Labels::deserialize(labels).ok();
        let selector = labels.as_ref().map(Selector::by_labels);
        return Some(Select::Labels(
            selector.and_then(|one| selector_of(one, field)),
        ));
    }
    let inside = ["matchLabels", "matchExpressions"];
    let has_selector_fields = inside.iter().any(|key| item.get(key).is_some());
    let selector = item
        .get("selector")
        .or(has_selector_fields.then_some(item))?;
    let selector = Selector::deserialize(selector).ok();
    Some(Select::Labels(
        selector.and_then(|one| selector_of(one, field)),
    ))
}

/// A selector as the controllers of the kind read it; `None` if it selects nothing.
fn selector_of(selector: Selector, field: &RefField) -> Option<Box<Selector>> {
    let selects_none = field.empty_selects_none && selector == Selector::default();
    (!selects_none).then(|| Box::new(selector))
}
