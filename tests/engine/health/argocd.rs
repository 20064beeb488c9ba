//! Runs scripts as Argo CD does: Lua 5.1 with the base, table, package and os libraries and nothing else, the object in
//! the global `obj`, and a table as the result (github.com/argoproj/argo-cd 37ee0097, util/lua).

use std::collections::BTreeMap;

use mlua::{Lua, LuaOptions, StdLib, Table, Value as LuaValue};
use serde_json::Value;

use super::Health;

/// The script of one kind.
pub(crate) struct Script(pub(crate) String);

const KEY: &str = "resource.customizations.health.";

/// The scripts of a `ConfigMap`, by `Kind.group`.
pub(crate) fn scripts(config_map: &Value) -> BTreeMap<String, Script> {
    let data = config_map["data"].as_object().unwrap();
    let scripts = data.iter().map(|(key, script)| {
        let (group, kind) = key.strip_prefix(KEY).unwrap().rsplit_once('_').unwrap();
        (
            format!("{kind}.{group}"),
            Script(script.as_str().unwrap().to_owned()),
        )
    });
    scripts.collect()
}

// === impl Script ===

impl Script {
    /// The health and the message of an object.
    pub(crate) fn run(&self, object: &Value) -> Result<(Health, String), String> {
        let libraries = StdLib::TABLE | StdLib::PACKAGE | StdLib::OS;
        let lua = Lua::new_with(libraries, LuaOptions::default()).unwrap();
        lua.globals().set("obj", value(&lua, object)).unwrap();
        let result: Table = lua
            .load(&self.0)
            .eval()
            .map_err(|error| error.to_string())?;
        let text = |name: &str| {
            result
                .get::<Option<String>>(name)
                .unwrap()
                .unwrap_or_default()
        };
        let health = match &*text("status") {
            "Healthy" => Health::Healthy,
            "Progressing" => Health::Progressing,
            "Degraded" => Health::Degraded,
            other => return Err(format!("Argo CD does not know {other:?}")),
        };
        Ok((health, text("message")))
    }
}

fn value(lua: &Lua, json: &Value) -> LuaValue {
    match json {
        Value::Null => LuaValue::Nil,
        Value::Bool(yes) => LuaValue::Boolean(*yes),
        Value::Number(number) => LuaValue::Number(number.as_f64().unwrap()),
        Value::String(text) => LuaValue::String(lua.create_string(text).unwrap()),
        Value::Array(items) => {
            let items = items.iter().map(|item| value(lua, item));
            LuaValue::Table(lua.create_sequence_from(items).unwrap())
        }
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, member)| (name.as_str(), value(lua, member)));
            LuaValue::Table(lua.create_table_from(members).unwrap())
        }
    }
}
