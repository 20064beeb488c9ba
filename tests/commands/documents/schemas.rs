//! The JSON schemas say of each property what it is.

use attache::cli::Cli;
use clap::CommandFactory as _;
use serde_json::Value;

use crate::run::run;

/// Adds the properties without a description.
fn undescribed(node: &Value, path: &str, found: &mut Vec<String>) {
    match node {
        Value::Object(members) => {
            let properties = members.get("properties").and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                // A constant says what it is.
                let is_said = property.get("description").or(property.get("const"));
                if property.is_object() && is_said.is_none() {
                    found.push(format!("{path}.{name}"));
                }
            }
            for (name, member) in members {
                undescribed(member, &format!("{path}.{name}"), found);
            }
        }
        Value::Array(members) => members
            .iter()
            .for_each(|member| undescribed(member, path, found)),
        _ => {}
    }
}

#[test]
fn each_property_has_a_description() {
    let all = Cli::command();
    let schema = all.find_subcommand("schema").unwrap();
    let schema_name = schema.get_positionals().next().unwrap();
    let mut found = Vec::new();
    let mut count = 0;
    for name in schema_name.get_possible_values() {
        let name = name.get_name();
        if name == "guardrail-crd" {
            continue;
        }
        count += 1;
        undescribed(&run(&["schema", name]).json(), name, &mut found);
    }
    assert!(count > 10, "the schemas are gone");
    assert!(found.is_empty(), "{}", found.join("\n"));
}
