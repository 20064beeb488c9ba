//! JSON values without special keys.
//!
//! `serde_json::Value` reads an object whose first key is `$serde_json::private::RawValue` as JSON text, regardless
//! of who wrote that key. Objects come from users, so everything that is parsed into values goes through this module;
//! `tests/repository/layering` enforces it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Any JSON or YAML value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Literal(pub Value);

/// Parses a JSON text.
///
/// # Errors
/// If it is not JSON.
pub fn from_str(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).map(|Literal(value)| value)
}

/// Deserializes a field with a value.
pub(crate) fn value<'de, D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
    Literal::deserialize(from).map(|Literal(value)| value)
}

/// Deserializes a field with a value that may be absent or null.
pub(crate) fn optional<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    let read = Option::<Literal>::deserialize(from)?;
    Ok(read.map(|Literal(value)| value))
}

/// Deserializes a field with a list that may be absent or null.
pub(crate) fn optional_list<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Vec<Value>>, D::Error> {
    let read = Option::<Vec<Literal>>::deserialize(from)?;
    Ok(read.map(|items| items.into_iter().map(|Literal(value)| value).collect()))
}

/// Deserializes the fields that a struct does not name.
pub(crate) fn object<'de, D: Deserializer<'de>>(from: D) -> Result<Map<String, Value>, D::Error> {
    from.deserialize_map(Fields)
}

// === impl Literal ===

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyValueVisitor).map(Self)
    }
}

struct AnyValueVisitor;

impl<'de> Visitor<'de> for AnyValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        value(from)
    }

    fn visit_bool<E: Error>(self, read: bool) -> Result<Value, E> {
        Ok(Value::Bool(read))
    }

    fn visit_i64<E: Error>(self, read: i64) -> Result<Value, E> {
        Ok(Value::Number(read.into()))
    }

    fn visit_u64<E: Error>(self, read: u64) -> Result<Value, E> {
        Ok(Value::Number(read.into()))
    }

    fn visit_i128<E: Error>(self, read: i128) -> Result<Value, E> {
        let number = Number::from_i128(read);
        number
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_u128<E: Error>(self, read: u128) -> Result<Value, E> {
        let number = Number::from_u128(read);
        number
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_f64<E: Error>(self, read: f64) -> Result<Value, E> {
        // JSON has no infinity.
        Ok(Number::from_f64(read).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, read: &str) -> Result<Value, E> {
        Ok(Value::String(read.to_owned()))
    }

    fn visit_string<E: Error>(self, read: String) -> Result<Value, E> {
        Ok(Value::String(read))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Literal(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Value, A::Error> {
        Fields.visit_map(fields).map(Value::Object)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut map = Map::new();
        // The last of several fields with the same name counts, as for the API server.
        while let Some((key, Literal(value))) = fields.next_entry::<String, _>()? {
            map.insert(key, value);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Map, Value, json};

    use super::{Literal, from_str};

    /// Keys with a special meaning for `serde_json` and other libraries.
    const MARKERS: [&str; 4] = [
        "$serde_json::private::RawValue",
        "$serde_json::private::Number",
        "$__toml_private_datetime",
        "__yaml_tagged",
    ];

    #[derive(Deserialize)]
    struct Parts {
        #[serde(default, deserialize_with = "super::optional")]
        one: Option<Value>,
        #[serde(default, deserialize_with = "super::optional_list")]
        list: Option<Vec<Value>>,
        #[serde(flatten, deserialize_with = "super::object")]
        others: Map<String, Value>,
    }

    #[test]
    fn no_key_is_a_marker() {
        for marker in MARKERS {
            let odd = json!({marker: "[1]"});
            let text = json!({"one": odd, "list": [odd], "more": {"deep": [odd]}}).to_string();
            let parts: Parts = serde_json::from_str(&text).unwrap();
            assert_eq!(parts.one, Some(odd.clone()), "{marker}");
            assert_eq!(parts.list, Some(vec![odd.clone()]));
            assert_eq!(parts.others.get("more"), Some(&json!({"deep": [odd]})));
            assert_eq!(from_str(&text).unwrap().to_string(), text);
            let yaml: Literal = serde_saphyr::from_str(&text).unwrap();
            assert_eq!(yaml.0.to_string(), text);
        }
    }

    #[test]
    fn values_are_what_they_are() {
        let value = json!({
            "a": [null, true, -1, 0, u64::MAX, i64::MIN, 1.5, -0.0, "x\n\u{0}", "", [], {}],
            "": {"b": {"c": [[[]]]}},
        });
        assert_eq!(from_str(&value.to_string()).unwrap(), value);
        let twice = from_str(r#"{"a": 1, "a": 2}"#).unwrap();
        assert_eq!(twice, json!({"a": 2}));
        for odd in ["", "{", "[1,]", "1 2", "1e999", "nul"] {
            assert!(from_str(odd).is_err(), "{odd}");
        }
    }
}
