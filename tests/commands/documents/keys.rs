//! The tables of configuration keys are made from the schema, so that they have every key. `ATTACHE_BLESS=1` writes
//! them, and the schema beside them.

use std::fmt::Write as _;

use serde_json::Value;

use super::{hold, text};
use crate::run::run;

const BEGIN: &str = "<!-- keys: begin -->\n";
const END: &str = "<!-- keys: end -->";
const PROFILE: &str = "profiles[].";

/// A key of the configuration.
struct Key {
    path: String,
    values: String,
    meaning: String,
}

/// The JSON schema of the configuration.
struct Schema {
    root: Value,
}

// === impl Schema ===

impl Schema {
    fn read() -> (Self, String) {
        let printed = run(&["schema", "config"]).clean();
        let root = serde_json::from_str(&printed).unwrap();
        (Self { root }, printed)
    }

    /// A part of the schema without references, and without the alternative `null`.
    fn resolve<'a>(&'a self, node: &'a Value) -> &'a Value {
        if let Some(reference) = node["$ref"].as_str() {
            let name = reference.strip_prefix("#/$defs/").unwrap();
            return self.resolve(&self.root["$defs"][name]);
        }
        let alternatives = node["anyOf"].as_array();
        let present: Vec<&Value> = alternatives
            .into_iter()
            .flatten()
            .filter(|alternative| alternative["type"] != "null")
            .collect();
        match present[..] {
            [only] => self.resolve(only),
            _ => node,
        }
    }

    /// Adds the keys of an object, and of the objects in them.
    fn keys(&self, node: &Value, prefix: &str, found: &mut Vec<Key>) {
        let node = self.resolve(node);
        for (name, property) in node["properties"].as_object().into_iter().flatten() {
            let path = format!("{prefix}{name}");
            let resolved = self.resolve(property);
            let meaning = property["description"].as_str();
            let meaning = meaning.or(resolved["description"].as_str()).unwrap();
            found.push(Key {
                path: path.clone(),
                values: self.values(property),
                meaning: cell(meaning),
            });
            self.keys(property, &format!("{path}."), found);
            self.keys(&resolved["items"], &format!("{path}[]."), found);
            let entries = &resolved["additionalProperties"];
            if entries.is_object() {
                self.keys(entries, &format!("{path}.*."), found);
            }
        }
    }

    /// The values that a key can have.
    fn values(&self, node: &Value) -> String {
        let node = self.resolve(node);
        let alternatives = node["anyOf"].as_array().or(node["oneOf"].as_array());
        if let Some(alternatives) = alternatives {
            let one = |alternative: &Value| match alternative["const"].as_str() {
                Some(value) => match alternative["description"].as_str() {
                    Some(meaning) => format!("`{value}`: {}", cell(meaning)),
                    None => format!("`{value}`"),
                },
                None => match the_one_key(alternative) {
                    Some((key, meaning)) => format!("`{key}: …`: {}", cell(meaning)),
                    None => self.values(alternative),
                },
            };
            return alternatives
                .iter()
                .map(one)
                .collect::<Vec<_>>()
                .join("<br>");
        }
        let kind = match &node["type"] {
            Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null"),
            kind => Some(kind),
        };
        match kind.and_then(Value::as_str) {
            Some("boolean") => "`true`, `false`".to_owned(),
            Some("integer") => "number".to_owned(),
            Some("string") => "string".to_owned(),
            Some("array") => match self.values(&node["items"]).as_str() {
                "" => "list".to_owned(),
                "object" => "list of objects".to_owned(),
                "string" => "list of strings".to_owned(),
                values => format!("list of:<br>{values}"),
            },
            Some("object") => match &node["additionalProperties"] {
                Value::Object(_) => "map".to_owned(),
                _ => "object".to_owned(),
            },
            _ => String::new(),
        }
    }
}

/// The key of an object that has one, and what it means.
fn the_one_key(node: &Value) -> Option<(&String, &str)> {
    let mut properties = node["properties"].as_object()?.iter();
    let (key, value) = properties.next()?;
    let meaning = value["description"]
        .as_str()
        .filter(|_| properties.next().is_none())?;
    Some((key, meaning))
}

/// A text in a cell of a table.
pub(super) fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

fn table(keys: &[&Key]) -> String {
    let mut table = "| key | values | meaning |\n|---|---|---|\n".to_owned();
    for key in keys {
        table += &row([&format!("`{}`", key.path), &key.values, &key.meaning]);
    }
    table
}

/// A row of a table.
pub(super) fn row(cells: [&str; 3]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// A page with another table between its marks.
fn with_table(page: &str, table: &str) -> String {
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    format!("{before}{BEGIN}{table}{END}{after}")
}

/// Keys of profiles under a heading for each object: first those of the profile itself.
fn profiles(keys: &[Key]) -> String {
    let mut page = String::new();
    for part in ["", "targets", "merge", "conflict", "status"] {
        let is_here = |key: &Key| {
            let first = key.path.split(['.', '[']).next().unwrap();
            let has_own = ["targets", "merge", "conflict", "status"].contains(&first);
            if part.is_empty() {
                !has_own
            } else {
                first == part
            }
        };
        let keys: Vec<&Key> = keys.iter().filter(|key| is_here(key)).collect();
        let title = if part.is_empty() { "General" } else { part };
        write!(page, "\n## {title}\n\n{}", table(&keys)).unwrap();
    }
    page.push('\n');
    page
}

#[test]
fn the_tables_have_every_key_of_the_configuration() {
    let (schema, printed) = Schema::read();
    hold("docs/reference/configuration.schema.json", &printed);
    let tests = run(&["schema", "test"]).clean();
    hold("docs/reference/test.schema.json", &tests);
    let mut keys = Vec::new();
    schema.keys(&schema.root, "", &mut keys);
    assert!(keys.len() > 100, "the keys are gone");
    let (mut of_profiles, others): (Vec<Key>, Vec<Key>) = keys
        .into_iter()
        .partition(|key| key.path.starts_with(PROFILE));
    for key in &mut of_profiles {
        key.path = key.path[PROFILE.len()..].to_owned();
    }
    let page = "docs/reference/configuration.md";
    let others: Vec<&Key> = others.iter().collect();
    hold(page, &with_table(&text(page), &table(&others)));
    let page = "docs/reference/profiles.md";
    hold(page, &with_table(&text(page), &profiles(&of_profiles)));
}
