//! Compares label selectors with a second implementation, after the Kubernetes documentation.

use attache::engine::model::selector::{Labels, Selector};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::budget;

/// An input is `{"selector": …, "labels": …}`.
pub fn run(input: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(input) else {
        return;
    };
    let (selector, labels) = (&value["selector"], &value["labels"]);
    let Ok(labels) = Labels::deserialize(labels) else {
        return;
    };
    let read = Selector::deserialize(selector);
    let text = serde_json::from_str::<Selector>(&selector.to_string());
    assert_eq!(
        read.as_ref().ok(),
        text.as_ref().ok(),
        "by value and by text"
    );
    let Ok(read) = read else {
        return;
    };
    let selected = budget::within(input.len(), "a selection", || read.selects(&labels));
    if let Some(expected) = expected(selector, &labels) {
        assert_eq!(selected, expected, "{selector} of {labels:?}");
    }
    if read.is_empty() {
        assert!(
            selected && read.selects(&Labels::new()),
            "an empty selector selects everything"
        );
    }
}

/// Whether a selector should match labels; `None` if it is invalid.
fn expected(selector: &Value, labels: &Labels) -> Option<bool> {
    let map = selector.as_object()?;
    let label = |key: &str| labels.get(key).map(|value| &**value);
    let mut all = true;
    if let Some(Value::Object(equal)) = map.get("matchLabels") {
        for (key, value) in equal {
            all &= label(key) == value.as_str();
        }
    }
    if let Some(Value::Array(expressions)) = map.get("matchExpressions") {
        for expression in expressions {
            let value = label(expression["key"].as_str()?);
            let values = expression["values"].as_array();
            let listed = values.is_some_and(|values| {
                values
                    .iter()
                    .any(|v| v.as_str() == value && value.is_some())
            });
            all &= match expression["operator"].as_str()? {
                "In" => listed,
                "NotIn" => !listed,
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => return None,
            };
        }
    }
    Some(all)
}

/// Selectors with each operator.
pub fn seeds() -> Vec<Vec<u8>> {
    let expression = |operator: &str, values: Value| json!({"matchLabels": {"team": "x"}, "matchExpressions": [{"key": "tier", "operator": operator, "values": values}]});
    let selectors = [
        json!({}),
        json!({"matchLabels": {"team": "x"}}),
        json!({"matchLabels": null, "matchExpressions": null}),
        expression("In", json!(["1", "2"])),
        expression("NotIn", json!(["1"])),
        expression("Exists", json!([])),
        expression("DoesNotExist", json!(null)),
    ];
    let labels = [
        json!({}),
        json!({"team": "x"}),
        json!({"team": "x", "tier": "1"}),
    ];
    let pairs = selectors
        .iter()
        .flat_map(|selector| labels.iter().map(move |labels| (selector, labels)));
    pairs
        .map(|(selector, labels)| {
            json!({"selector": selector, "labels": labels})
                .to_string()
                .into_bytes()
        })
        .collect()
}
