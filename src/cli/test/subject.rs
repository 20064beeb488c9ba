//! Finds the objects and sections that tests name.

use attache_guardrails::guardrail_kind;

use super::test_state::{self, TestState};
use crate::cli::find;
use crate::engine::admission::verdict::escape;
use crate::engine::model::hint::nearest;
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};

/// The number of names that a message lists.
const MAX_NAMES: usize = 5;

/// The object or section of `KIND/NAMESPACE/NAME[#SECTION]`, which must exist.
///
/// # Errors
/// If the text is not of this form, or the object or section does not exist.
pub(super) fn existing(test_state: &TestState, text: &str) -> Result<Place, String> {
    let place = named(test_state, text)?;
    exists(test_state, &place.object)?;
    find::place(&test_state.snapshot, &place)
}

/// The object or section of `KIND/NAMESPACE/NAME[#SECTION]`.
///
/// # Errors
/// If the text is not of this form.
pub(super) fn named(test_state: &TestState, text: &str) -> Result<Place, String> {
    let wrong = |form: &str| Err(format!("{text:?} is not an object: write {form}"));
    let Some((kind, path_and_section)) = text.split_once('/') else {
        return wrong("KIND/NAMESPACE/NAME");
    };
    let gk = if kind.eq_ignore_ascii_case("guardrail") {
        guardrail_kind()
    } else {
        test_state.names.kind(kind)?
    };
    let (path, section) = match path_and_section.split_once('#') {
        Some((path, section)) => (path, Some(section)),
        None => (path_and_section, None),
    };
    let namespaced = test_state::is_namespaced(&test_state.names, &gk);
    let (namespace, name) = match (path.split_once('/'), namespaced) {
        (Some((namespace, name)), true) => (namespace, name),
        (None, false) => ("", path),
        (None, true) => return wrong(&format!("{kind}/NAMESPACE/{path}")),
        (Some((_, name)), false) => return wrong(&format!("{kind}/{name}, without a namespace")),
    };
    if name.is_empty() || name.contains('/') || (namespaced && namespace.is_empty()) {
        return wrong("KIND/NAMESPACE/NAME");
    }
    let object = ObjectKey::new(gk, namespace, name);
    match section {
        Some("") => wrong("KIND/NAMESPACE/NAME#SECTION, or no #"),
        Some(section) => Ok(object.section(section)),
        None => Ok(object.whole()),
    }
}

/// Checks that an object exists.
///
/// # Errors
/// If it does not; names the nearest.
pub(super) fn exists(test_state: &TestState, key: &ObjectKey) -> Result<(), String> {
    if test_state.snapshot.get(key).is_some() {
        return Ok(());
    }
    let all = test_state.snapshot.objects(&key.gk);
    let all: Vec<String> = all.map(|object| object.key.path()).collect();
    let object = escape(&key.to_string());
    Err(format!(
        "{object} does not exist; {}",
        suggestion(&key.path(), &all)
    ))
}

/// The policy kind with this name.
///
/// # Errors
/// If there is none.
pub(super) fn policy_kind(test_state: &TestState, text: &str) -> Result<GroupKind, String> {
    let kind = test_state.names.kind(text)?;
    if test_state.snapshot.profile(&kind).is_some() {
        return Ok(kind);
    }
    let known: Vec<String> = test_state
        .snapshot
        .policy_kinds()
        .map(ToString::to_string)
        .collect();
    Err(format!(
        "{} is not a policy kind; {}",
        escape(&kind.to_string()),
        suggestion(&kind.to_string(), &known)
    ))
}

/// The name that was most likely meant, or else those that there are.
pub(super) fn suggestion(wrong: &str, known: &[String]) -> String {
    let mut names: Vec<&str> = known.iter().map(String::as_str).collect();
    names.sort_unstable();
    if let Some(near) = nearest(wrong, &names) {
        return format!("did you mean {near:?}?");
    }
    let shown: Vec<String> = names
        .iter()
        .take(MAX_NAMES)
        .map(|name| escape(name))
        .collect();
    match names.len() {
        0 => "there are none here".to_owned(),
        many if many > MAX_NAMES => format!(
            "there are {} and {} more",
            shown.join(", "),
            many - MAX_NAMES
        ),
        _ => format!("there are {}", shown.join(", ")),
    }
}

/// An object or section as tests name it.
pub(super) fn text(place: &Place) -> String {
    let object = &place.object;
    let section = place.section.as_ref().map(|section| format!("#{section}"));
    let section = section.unwrap_or_default();
    format!("{}/{}{section}", object.gk, object.path())
}
