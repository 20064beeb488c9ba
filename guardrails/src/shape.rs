//! Mistakes in the form of a guardrail: the first field that is misspelt, missing or of another
//! type, by the schema that the API server has. The types that read guardrails would not say where
//! it is, and take lists in the place of maps.

use attache_engine::model::hint::{nearest, quoted};
use serde_json::Value;

/// The field, and its mistake.
pub(crate) type Fault = (String, String);

/// Checks a value against a structural schema. `field` is the path to it.
pub(crate) fn check(value: &Value, schema: &Value, field: &str) -> Result<(), Fault> {
    let fault = |why: String| Err((field.to_owned(), why));
    if value.is_null() && schema["nullable"] == true {
        return Ok(());
    }
    let wanted = schema["type"].as_str().unwrap_or_default();
    let fits = match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        _ => true,
    };
    if !fits {
        return fault(format!("it is {}; write {}", kind(value), remedy(wanted)));
    }
    match value {
        Value::String(text) => one_of(text, schema).or_else(fault),
        Value::Array(elements) => {
            for (i, element) in elements.iter().enumerate() {
                check(element, &schema["items"], &format!("{field}[{i}]"))?;
            }
            Ok(())
        }
        Value::Object(fields) => {
            let below = |name: &str| {
                if field.is_empty() {
                    name.to_owned()
                } else {
                    format!("{field}.{name}")
                }
            };
            let properties = schema["properties"].as_object();
            for (name, value) in fields {
                let Some(known) = properties else {
                    check(value, &schema["additionalProperties"], &below(name))?;
                    continue;
                };
                let Some(schema) = known.get(name) else {
                    let known: Vec<&str> = known.keys().map(String::as_str).collect();
                    return fault(format!(
                        "there is no field {name:?}; {}",
                        hint(name, &known)
                    ));
                };
                check(value, schema, &below(name))?;
            }
            let required = schema["required"].as_array().into_iter().flatten();
            let mut required = required.filter_map(Value::as_str);
            match required.find(|name| !fields.contains_key(*name)) {
                Some(missing) => Err((below(missing), "it is missing".to_owned())),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Checks that a text is one of those that the schema lists, if it does.
fn one_of(text: &str, schema: &Value) -> Result<(), String> {
    let Some(values) = schema["enum"].as_array() else {
        return Ok(());
    };
    let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    if values.contains(&text) {
        return Ok(());
    }
    Err(format!("{text:?} is not known; {}", hint(text, &values)))
}

/// The remedy for a name that does not exist.
pub(crate) fn hint(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("there are {}", quoted(known)),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

fn remedy(wanted: &str) -> &'static str {
    match wanted {
        "object" => "a map",
        "array" => "a list",
        _ => "a string",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::guardrail::Guardrail;

    /// The mistake in a spec that differs from a correct one in these fields.
    fn wrong(fields: &serde_json::Value) -> String {
        let mut spec = json!({"rules": [{"require": "true"}], "action": "deny"});
        for (name, value) in fields.as_object().unwrap() {
            spec[name] = value.clone();
        }
        let result = Guardrail::read("x", &spec.to_string()).unwrap_err();
        format!("{}: {}", result.field, result.why)
    }

    #[test]
    fn faults_name_the_field_and_what_was_meant() {
        let target = json!({"namespace": "shop", "name": "cart"});
        for (fields, why) in [
            (
                json!({"except": [{"target": target, "until": "2099-01-01"}]}),
                "spec.except[0].reason: it is missing",
            ),
            (
                json!({"action": "Deny"}),
                "spec.action: \"Deny\" is not known; did you mean \"deny\"?",
            ),
            (
                json!({"match": {"kinds": "HTTPRoute"}}),
                "spec.match.kinds: it is a string; write a list",
            ),
            (
                json!({"rules": [["false"]]}),
                "spec.rules[0]: it is a list; write a map",
            ),
            (
                json!({"rules": [{"require": true}]}),
                "spec.rules[0].require: it is true or false; write a string",
            ),
            (
                json!({"policyKind": {"kind": "SecurityPolicy"}}),
                "spec.policyKind.group: it is missing",
            ),
            (
                json!({"policyKind": ["g", "SecurityPolicy"]}),
                "spec.policyKind: it is a list; write a map",
            ),
            (
                json!({"match": [["HTTPRoute"], null, null]}),
                "spec.match: it is a list; write a map",
            ),
            (
                json!({"matc": {}}),
                "spec: there is no field \"matc\"; did you mean \"match\"?",
            ),
            (
                json!({"match": {"kindz": []}}),
                "spec.match: there is no field \"kindz\"; did you mean \"kinds\"?",
            ),
            (
                json!({"match": {"kinds": []}}),
                "spec.match.kinds: it is empty, so nothing matches; leave it out for all routes",
            ),
            (
                json!({"match": {"gateways": []}}),
                "spec.match.gateways: it is empty, so nothing matches; leave it out for all Gateways",
            ),
            (
                json!({"match": {"namespaceSelector": {"matchlabels": {"a": "b"}}}}),
                "spec.match.namespaceSelector: there is no field \"matchlabels\"; did you mean \"matchLabels\"?",
            ),
            (
                json!({"match": {"gateways": [{"selector": {"matchLabels": {"a": 1}}}]}}),
                "spec.match.gateways[0].selector.matchLabels.a: it is a number; write a string",
            ),
            (
                json!({"match": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}}}),
                "spec.match.namespaceSelector.matchExpressions[0].values: In needs at least one value",
            ),
            (
                json!({"match": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "in"}]}}}),
                "spec.match.namespaceSelector.matchExpressions[0].operator: \"in\" is not known; did you mean \"In\"?",
            ),
            (
                json!({"match": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}}}),
                "spec.match.namespaceSelector.matchExpressions[0].values: Exists takes no values",
            ),
        ] {
            assert_eq!(wrong(&fields), why);
        }
        let result = Guardrail::read("x", "\"text\"").unwrap_err().to_string();
        assert_eq!(result, "guardrail \"x\": spec: it is a string; write a map");
        assert!(Guardrail::read("x", r#"{"rules": [{"require": "true"}], "action": "deny", "policyKind": null, "match": {"gateways": null, "namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}}"#).is_ok());
    }

    #[test]
    fn names_are_those_of_objects() {
        for name in [
            "",
            "two words",
            "Upper",
            "-a",
            "a-",
            "a..b",
            "a_b",
            "a\u{1b}b",
            &"a".repeat(254),
        ] {
            let result = Guardrail::read(
                name,
                r#"{"rules": [{"require": "true"}], "action": "deny"}"#,
            );
            assert_eq!(result.unwrap_err().field, "metadata.name", "{name}");
        }
    }
}
