//! A test of what is in force on a target: on every path to it, or on those through one place.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::difference::{Differences, agrees, concerned};
use super::file::{EffectiveTest, ExpectedEffective};
use super::test_result::TestResult;
use super::test_state::TestState;
use super::{out_of_place, subject};
use crate::answer::description::{for_requests, paths_at};
use crate::answer::effective::{EffectiveOnPaths, through};
use crate::answer::tested::TestFailure;
use crate::engine::admission::verdict::escape;
use crate::engine::effective::{PathGroup, Resolver};
use crate::engine::model::hint::quoted;
use crate::engine::model::ids::{GroupKind, Place};
use crate::engine::model::literal::Literal;

/// Runs the test.
pub(super) fn run(test_state: &TestState, test: &EffectiveTest) -> TestResult {
    let kind = subject::policy_kind(test_state, &test.effective.policy_kind)?;
    let target = subject::existing(test_state, &test.target)?;
    let via = test.via.as_deref();
    let via = via
        .map(|via| subject::existing(test_state, via))
        .transpose()?;
    let mut resolver = Resolver::new(&test_state.snapshot);
    let groups = paths(&mut resolver, &kind, &target, via.as_ref())?;
    let mut notes = BTreeSet::new();
    let mut differences = Differences::default();
    says_something(&test.effective)?;
    has_fields(test_state, &kind, &test.effective)?;
    let expected = expected(&test.effective);
    for group in &groups {
        let shown = EffectiveOnPaths::from((&kind, group));
        let place = place(&shown);
        notes.extend(caveats(test_state, group));
        if shown.incomplete {
            notes.insert(format!(
                "{place}: the backend does not exist or may not be used"
            ));
        }
        let Some(spec) = &shown.effective.spec else {
            let merged = shown.effective.merged_of.iter();
            let merged: Vec<String> = merged.map(|policy| policy.0.object.path()).collect();
            let merged: Vec<&str> = merged.iter().map(String::as_str).collect();
            return Err(TestFailure::because(format!(
                "{place}: only the controller of {kind} knows what the merge of {} results in, so nothing can be expected of it",
                quoted(&merged)
            )));
        };
        let result = result(&test.effective, group, &shown, spec);
        if result != expected {
            differences.note(place, result);
        }
    }
    if differences.is_empty() {
        return Ok(notes.into_iter().collect());
    }
    let message = format!(
        "{} on {} is not as expected",
        escape(&kind.to_string()),
        escape(&target.to_string())
    );
    Err(TestFailure {
        message,
        differences: differences.from(&expected, "in force")?,
    })
}

/// Refuses a test that holds whatever is in force.
fn says_something(test: &ExpectedEffective) -> Result<(), TestFailure> {
    let is_empty = test
        .spec
        .as_ref()
        .is_some_and(|Literal(spec)| *spec == json!({}));
    if is_empty && test.from.is_empty() {
        return Err(TestFailure::because(
            "effective.spec: it names no setting, so it holds whatever is in force; name one, or write null if no policy is in force".to_owned(),
        ));
    }
    Ok(())
}

/// Refuses settings that must be absent and cannot be there: the CRD does not have them.
fn has_fields(
    test_state: &TestState,
    kind: &GroupKind,
    test: &ExpectedEffective,
) -> Result<(), TestFailure> {
    let profile = test_state.snapshot.profile(kind);
    let schema = profile.and_then(|profile| profile.schemas.last());
    let (Some(schema), Some(Literal(spec))) = (schema, &test.spec) else {
        return Ok(());
    };
    let mut absent = Vec::new();
    add_nulls(spec, &mut Vec::new(), &mut absent);
    // Settings in force have the paths that they have within a stanza.
    let stanzas = profile.and_then(|profile| profile.strategies.value.stanzas);
    let stanzas = stanzas.into_iter();
    let stanzas = stanzas.flat_map(|names| [names.overrides, names.defaults]);
    let stanzas: Vec<String> = stanzas.map(str::to_owned).collect();
    let unknown = absent.iter().find_map(|path| {
        let directly = schema.spec.unknown_on(path)?;
        let within = stanzas.iter().map(|stanza| {
            let path: Vec<String> = std::iter::once(stanza).chain(path).cloned().collect();
            schema.spec.unknown_on(&path)
        });
        let within: Option<Vec<_>> = within.collect();
        within.map(|mut within| within.pop().unwrap_or(directly))
    });
    let Some(unknown) = unknown else {
        return Ok(());
    };
    let name = unknown.path.rsplit('.').next().unwrap_or_default();
    let known: Vec<String> = unknown.known.iter().map(ToString::to_string).collect();
    Err(TestFailure::because(format!(
        "effective: {} has no field {}; {}",
        kind.kind,
        unknown.path,
        subject::suggestion(name, &known)
    )))
}

/// The paths of the fields that are null.
fn add_nulls(value: &Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    match value {
        Value::Null if !path.is_empty() => found.push(path.clone()),
        Value::Object(fields) => {
            for (name, value) in fields {
                path.push(name.clone());
                add_nulls(value, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The paths that requests take to a target.
fn paths(
    resolver: &mut Resolver<'_>,
    kind: &GroupKind,
    target: &Place,
    via: Option<&Place>,
) -> Result<Vec<PathGroup>, TestFailure> {
    let profile = resolver.snapshot().profile(kind).cloned();
    let is_direct = profile
        .as_ref()
        .is_some_and(|profile| !profile.is_inherited());
    let shown = escape(&target.to_string());
    if is_direct && via.is_some() {
        return Err(TestFailure::because(format!(
            "via: policies of {kind} are direct: they apply to their target, whichever way a request takes; remove via"
        )));
    }
    let groups = for_requests(profile.as_deref(), paths_at(resolver, target, kind));
    let is_nothing = |group: &PathGroup| group.effective.policies().is_empty();
    if groups.iter().all(is_nothing)
        && let Some(why) =
            profile.and_then(|profile| out_of_place::why(&profile, &target.object.gk))
    {
        return Err(TestFailure::because(escape(&format!("target: {why}"))));
    }
    if groups.is_empty() {
        return Err(TestFailure::because(format!(
            "no request reaches {shown}, so no policy is in force on it; attache describe shows why"
        )));
    }
    if let Some(by) = resolver.taken_by(target) {
        return Err(TestFailure::because(format!(
            "no request reaches {shown}, so no policy is in force on it: {}",
            escape(&by.why())
        )));
    }
    let Some(via) = via else {
        return Ok(groups);
    };
    let leading: Vec<PathGroup> = groups
        .iter()
        .filter_map(|group| through(group, via))
        .collect();
    if leading.is_empty() {
        let listeners = resolver.listeners_of(&target.object);
        let listeners: Vec<String> = listeners.iter().map(|at| escape(&at.to_string())).collect();
        return Err(TestFailure::because(format!(
            "no request reaches {shown} through {}; requests come through {}",
            escape(&via.to_string()),
            listeners.join(", ")
        )));
    }
    Ok(leading)
}

/// The paths of a group, in words.
fn place(shown: &EffectiveOnPaths) -> String {
    let targets: Vec<String> = shown.targets.iter().map(|at| at.0.to_string()).collect();
    let listeners: Vec<String> = shown.listeners.iter().map(|at| at.0.to_string()).collect();
    let mut text = format!("on {}", targets.join(", "));
    if !listeners.is_empty() {
        text.push_str(" through ");
        text.push_str(&listeners.join(", "));
    }
    if !shown.requests_from.is_empty() {
        text.push_str(" for requests from ");
        text.push_str(&shown.requests_from.join(", "));
    }
    escape(&text)
}

/// The caveats of the policies in force: behaviour of their controllers that attache does not
/// model.
fn caveats(test_state: &TestState, group: &PathGroup) -> BTreeSet<String> {
    let policies = group.effective.policies();
    let policies = policies
        .iter()
        .filter_map(|key| test_state.snapshot.policy(key));
    policies
        .flat_map(|policy| {
            let name = policy.key().to_string();
            policy
                .caveats(&test_state.snapshot)
                .map(move |caveat| escape(&format!("{name}: {caveat}")))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The expectation as a value.
fn expected(test: &ExpectedEffective) -> Value {
    let mut fields = Map::new();
    if let Some(Literal(spec)) = &test.spec {
        fields.insert("spec".to_owned(), spec.clone());
    }
    if !test.from.is_empty() {
        fields.insert("from".to_owned(), json!(test.from));
    }
    Value::Object(fields)
}

/// The settings in force, as far as the test expects some; in the same form.
fn result(
    test: &ExpectedEffective,
    group: &PathGroup,
    shown: &EffectiveOnPaths,
    spec: &Value,
) -> Value {
    let mut fields = Map::new();
    if let Some(Literal(expected)) = &test.spec {
        let is_nothing = group.effective.policies().is_empty();
        let value = match expected {
            // Not even a policy without settings.
            Value::Null if is_nothing => Value::Null,
            Value::Null => spec.clone(),
            expected if agrees(expected, Some(spec)) => expected.clone(),
            expected => concerned(expected, spec),
        };
        fields.insert("spec".to_owned(), value);
    }
    if !test.from.is_empty() {
        let sources: BTreeMap<&str, String> = test
            .from
            .iter()
            .map(|(pointer, policy)| (pointer.as_str(), source(shown, pointer, policy)))
            .collect();
        fields.insert("from".to_owned(), json!(sources));
    }
    Value::Object(fields)
}

/// The policies that a setting comes from: that of the setting itself, else those of the settings in it, else that of the
/// setting that contains it.
fn source(shown: &EffectiveOnPaths, pointer: &str, expected: &str) -> String {
    let sources = &shown.effective.sources;
    let below = format!("{pointer}/");
    let is_in = |outer: &str, inner: &str| {
        inner == outer
            || inner
                .strip_prefix(outer)
                .is_some_and(|suffix| suffix.starts_with('/'))
    };
    let mut sources_under: BTreeSet<String> = sources
        .iter()
        .filter(|(at, _)| *at == pointer || at.starts_with(&below))
        .map(|(_, named)| named.0.object.path())
        .collect();
    if sources_under.is_empty() {
        let outer = sources.iter().filter(|(at, _)| is_in(at, pointer));
        let outer = outer.max_by_key(|(at, _)| at.len());
        // A field in a list has the source of the list. A field that does not exist has no source.
        let there = shown.effective.spec.as_ref();
        let there = there.is_some_and(|spec| spec.pointer(pointer).is_some());
        sources_under.extend(
            outer
                .filter(|_| there)
                .map(|(_, named)| named.0.object.path()),
        );
    }
    match sources_under.len() {
        0 => "nothing: it is not in force".to_owned(),
        1 if sources_under.contains(expected) => expected.to_owned(),
        _ => sources_under.into_iter().collect::<Vec<_>>().join(", "),
    }
}
