//! The schema of the values holds the schema of the configuration file.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::run::{blesses, chart, printed, read};

const CONFIGURATION: &str = "Configuration";

/// The definitions of `attache schema config`, with the configuration itself as one of them.
fn definitions() -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_attache"))
        .args(["schema", "config"])
        .output();
    let mut schema: Value = serde_json::from_str(&printed(output.unwrap())).unwrap();
    let mut definitions = schema["$defs"].take();
    let object = schema.as_object_mut().unwrap();
    object.remove("$defs");
    object.remove("$schema");
    definitions[CONFIGURATION] = schema;
    definitions
}

#[test]
fn the_configuration_in_the_values_has_the_schema_of_the_file() {
    let file = chart().join("values.schema.json");
    let mut schema: Value = serde_json::from_str(&read(&file)).unwrap();
    let config = &schema["properties"]["config"];
    assert_eq!(config["$ref"], format!("#/$defs/{CONFIGURATION}"));
    schema["$defs"] = definitions();
    let text = format!("{schema:#}\n");
    if blesses() {
        fs::write(&file, text).unwrap();
        return;
    }
    assert!(
        read(&file) == text,
        "values.schema.json is out of date: ATTACHE_BLESS=1 cargo test --test repository chart::"
    );
}

/// Every value of the file has a type and a description in the schema, and the other way round.
#[test]
fn each_value_is_in_the_schema_with_a_description() {
    let values: Value = serde_saphyr::from_str(&read(&chart().join("values.yaml"))).unwrap();
    let schema: Value = serde_json::from_str(&read(&chart().join("values.schema.json"))).unwrap();
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let mut known = keys(&schema["properties"]);
    known.retain(|key| key != "global");
    assert_eq!(sorted(known), sorted(keys(&values)));
    let mut faults = Vec::new();
    for (name, property) in schema["properties"].as_object().unwrap() {
        let Some(inner) = property["properties"].as_object() else {
            let known = property["description"].is_string() || property["$ref"].is_string();
            faults.extend((!known).then(|| name.clone()));
            continue;
        };
        for (inner_name, inner) in inner {
            let known = inner["description"].is_string();
            faults.extend((!known).then(|| format!("{name}.{inner_name}")));
        }
    }
    assert!(faults.is_empty(), "no description: {faults:?}");
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list
}

/// A comment is on the line above. The first value of a group may have it above the group, and a group on the line below.
#[test]
fn each_value_has_a_comment() {
    let text = read(&chart().join("values.yaml"));
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let line = |number: usize| lines.get(number).copied().unwrap_or_default();
    let is_comment = |number: usize| line(number).trim_start().starts_with('#');
    let is_group = |number: usize| line(number).ends_with(':');
    let is_value = |number: usize| {
        let indent = line(number).len() - line(number).trim_start().len();
        indent <= 2 && !is_comment(number) && line(number).contains(':')
    };
    let is_explained = |number: usize| {
        let above = number - 1;
        is_comment(above)
            || is_group(number) && is_comment(number + 1)
            || is_group(above) && is_comment(above - 1)
    };
    let faults: Vec<&str> = (1..lines.len())
        .filter(|number| is_value(*number) && !is_explained(*number))
        .map(line)
        .collect();
    assert!(faults.is_empty(), "no comment: {faults:#?}");
}
