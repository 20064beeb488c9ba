//! Formats objects, places and settings as text.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::model::flow::flow;
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::json_text::JsonText;
use crate::model::object::section_noun;
use crate::model::setting_path::SettingPath;

/// A longer key is not a field name that a person chose: annotation keys have up to 317 characters.
const MAX_KEY_LENGTH: usize = 317;
/// The number of characters shown of a value.
const MAX_VALUE_CHARACTERS: usize = 40;
/// The number of names shown before "and N more".
const MAX_NAMES: usize = 3;

/// The type of a value, in words.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// `field=value` for each setting; a removed setting is shown as removed.
pub fn settings(leaves: &BTreeMap<SettingPath, JsonText>) -> Vec<String> {
    let leaves = leaves.iter();
    leaves.map(|(path, value)| setting(path, value)).collect()
}

fn setting(path: &[Arc<str>], leaf: &JsonText) -> String {
    if path.is_empty() && leaf.is_empty_object() {
        return "nothing".to_owned();
    }
    let mut text = field(path);
    text.push('=');
    text.push_str(&short(leaf));
    text
}

/// `retry.codes`; `listeners[name=http].port` in a list whose entries have keys; `rules[0 of shop/limits]` in one that has the
/// entries of several policies; `spec` for a policy that counts without settings.
pub fn field(path: &[impl AsRef<str>]) -> String {
    if path.is_empty() {
        return "spec".to_owned();
    }
    let mut text = String::new();
    for key in path {
        let key = &*shortened(key.as_ref(), MAX_KEY_LENGTH);
        let of_policy = key
            .split_once('=')
            .filter(|(policy, index)| policy.contains('/') && index.parse::<usize>().is_ok());
        if let Some((policy, index)) = of_policy {
            text.extend(["[", index, " of ", policy, "]"]);
        } else if key.contains('=') {
            text.extend(["[", key, "]"]);
        } else {
            text.push_str(if text.is_empty() { "" } else { "." });
            text.push_str(key);
        }
    }
    text
}

/// At most `limit` characters of a string, followed by an ellipsis if it is longer.
pub fn shortened(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        Some((at, _)) => Cow::Owned(format!("{}…", text.get(..at).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// The value of a setting, formatted as by [`value`].
pub fn short(setting: &JsonText) -> String {
    let text = setting.text();
    let plain = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    match plain {
        // Only the beginning of a long string is needed.
        Some(plain) if !plain.contains('\\') => {
            let end = plain.char_indices().nth(2 * MAX_VALUE_CHARACTERS);
            let start = end.and_then(|(at, _)| plain.get(..at)).unwrap_or(plain);
            value(&Value::from(start))
        }
        None if !text.starts_with(['[', '{']) => text.to_owned(),
        _ => value(&setting.value()),
    }
}

/// A value on one line, truncated to fit into a message.
pub fn value(value: &Value) -> String {
    flow(value, MAX_VALUE_CHARACTERS)
}

/// The places at which a policy is attached, relative to the object that is being applied.
pub fn origin(object: &ObjectKey, places: &BTreeSet<Place>) -> String {
    let mut places = places.iter().map(|place| one_origin(object, place));
    match (places.next(), places.count()) {
        (None, _) => String::new(),
        (Some(one), 0) => one,
        (Some(first), more) => format!("{first} and {more} more"),
    }
}

fn one_origin(object: &ObjectKey, place: &Place) -> String {
    let owner = if place.object == *object {
        format!("this {}", place.object.gk.kind)
    } else {
        place.object.text()
    };
    match (&place.section, section_noun(&place.object.gk)) {
        (Some(section), Some(noun)) => format!("{owner} {noun} {section}"),
        (Some(section), None) => format!("{owner} {section}"),
        (None, _) => owner,
    }
}

/// A single object by kind and name, several as in [`counted`].
pub fn named(objects: &BTreeSet<ObjectKey>) -> String {
    match (objects.len(), objects.first()) {
        (1, Some(object)) => object.to_string(),
        _ => counted(objects),
    }
}

/// `12 HTTPRoutes in 3 namespaces: blog/a, shop/b, shop/c and 9 more`.
pub fn counted(objects: &BTreeSet<ObjectKey>) -> String {
    let mut names: Vec<String> = objects
        .iter()
        .take(MAX_NAMES)
        .map(ObjectKey::path)
        .collect();
    if objects.len() > MAX_NAMES {
        let last = names.pop().unwrap_or_default();
        names.push(format!("{last} and {} more", objects.len() - MAX_NAMES));
    }
    format!("{}: {}", count(objects), names.join(", "))
}

/// `a, b, c and 9 more`.
pub fn first(texts: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = texts.iter().take(MAX_NAMES).map(String::as_str).collect();
    let shown = shown.join(", ");
    match texts.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// `12 HTTPRoutes in 3 namespaces`.
pub fn count(objects: &BTreeSet<ObjectKey>) -> String {
    // They are sorted, so equal kinds and namespaces are consecutive.
    let mut kinds: Vec<(&GroupKind, usize)> = Vec::new();
    let mut namespaces: BTreeSet<&str> = BTreeSet::new();
    let mut last = None;
    for object in objects {
        match kinds.last_mut() {
            Some((kind, count)) if **kind == object.gk => *count += 1,
            _ => kinds.push((&object.gk, 1)),
        }
        if last != Some(&*object.namespace) {
            last = Some(&*object.namespace);
            namespaces.extend(last);
        }
    }
    let counts = kinds
        .into_iter()
        .map(|(kind, count)| (kind.to_string(), count));
    let mut kinds: Vec<(String, usize)> = counts.collect();
    kinds.sort();
    let kinds: Vec<String> = kinds
        .into_iter()
        .map(|(kind, count)| match count {
            1 => format!("1 {kind}"),
            _ => format!("{count} {}", plural(&kind)),
        })
        .collect();
    let whereabouts = match namespaces.len() {
        0 | 1 => String::new(),
        many => format!(" in {many} namespaces"),
    };
    format!("{}{whereabouts}", kinds.join(", "))
}

/// `Gateways`, `TLSPolicies.example.com`.
pub fn plural(kind: &str) -> String {
    let (name, group) = match kind.split_once('.') {
        Some((name, group)) => (name, format!(".{group}")),
        None => (kind, String::new()),
    };
    let vowel = |stem: &str| stem.ends_with(['a', 'e', 'i', 'o', 'u']);
    let name = if let Some(stem) = name.strip_suffix('y').filter(|stem| !vowel(stem)) {
        format!("{stem}ies")
    } else if name.ends_with('s') {
        format!("{name}es")
    } else {
        format!("{name}s")
    };
    name + &group
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{counted, short};
    use crate::model::ids::{GroupKind, ObjectKey};
    use crate::model::json_text::JsonText;

    #[test]
    fn the_value_of_a_setting_is_shown_as_far_as_it_fits() {
        for (value, shown) in [
            (json!([500, "a\n"]), r#"[500, "a\n"]"#),
            (json!("1.3"), "\"1.3\""),
            (json!("30s"), "30s"),
            (json!(true), "true"),
            (json!({}), "{}"),
            (
                json!([{"name": "corp", "issuer": "https://login.example.com"}]),
                "[{issuer: https://login.example.com, nam…",
            ),
        ] {
            assert_eq!(short(&JsonText::from(&value)), shown);
            assert_eq!(super::value(&value), shown);
        }
        let long = short(&JsonText::from(&json!("x".repeat(100))));
        assert_eq!(long, format!("{}…", "x".repeat(40)));
    }

    #[test]
    fn counts_name_the_first_and_say_how_many_more() {
        let route =
            |ns: &str, name: &str| ObjectKey::new(GroupKind::gateway_api("HTTPRoute"), ns, name);
        assert_eq!(counted(&[route("a", "x")].into()), "1 HTTPRoute: a/x");
        let many = (0..5).map(|i| route(["a", "b"][i % 2], &format!("r{i}")));
        assert_eq!(
            counted(&many.collect()),
            "5 HTTPRoutes in 2 namespaces: a/r0, a/r2, a/r4 and 2 more"
        );
        let gateway = ObjectKey::new(GroupKind::gateway_api("Gateway"), "a", "g");
        let policy = |name: &str| ObjectKey::new(GroupKind::new("x.io", "Policy"), "a", name);
        assert_eq!(
            counted(&[gateway, policy("p"), policy("q")].into()),
            "1 Gateway, 2 Policies.x.io: a/g, a/p, a/q"
        );
    }
}
