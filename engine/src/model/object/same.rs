//! Compares two JSON texts with only one of them parsed into values.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::model::literal;

/// Whether both texts have equal values, regardless of key order and whitespace. A text that cannot be parsed equals
/// no other text.
pub(super) fn same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let Ok(one) = literal::from_str(one) else {
        return false;
    };
    let mut other = serde_json::Deserializer::from_str(other);
    EqualTo(&one).deserialize(&mut other).is_ok() && other.end().is_ok()
}

/// Deserializes successfully only from an equal value. An object with a duplicate key is not equal.
struct EqualTo<'a>(&'a Value);

impl EqualTo<'_> {
    fn is_number<E: Error>(&self, number: Option<Number>) -> Result<(), E> {
        is(number.is_some_and(|number| *self.0 == Value::Number(number)))
    }
}

fn is<E: Error>(same: bool) -> Result<(), E> {
    if same {
        Ok(())
    } else {
        Err(E::custom("another value"))
    }
}

impl<'de> DeserializeSeed<'de> for EqualTo<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for EqualTo<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the same value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        is(self.0.is_null())
    }

    fn visit_bool<E: Error>(self, read: bool) -> Result<(), E> {
        is(*self.0 == Value::Bool(read))
    }

    fn visit_i64<E: Error>(self, read: i64) -> Result<(), E> {
        self.is_number(Some(read.into()))
    }

    fn visit_u64<E: Error>(self, read: u64) -> Result<(), E> {
        self.is_number(Some(read.into()))
    }

    fn visit_f64<E: Error>(self, read: f64) -> Result<(), E> {
        self.is_number(Number::from_f64(read))
    }

    fn visit_str<E: Error>(self, read: &str) -> Result<(), E> {
        is(self.0.as_str() == Some(read))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut read: A) -> Result<(), A::Error> {
        let items = self.0.as_array().map(Vec::as_slice);
        for item in items.ok_or_else(|| A::Error::custom("a list"))? {
            let there = read.next_element_seed(EqualTo(item))?;
            is(there.is_some())?;
        }
        let more = read.next_element::<serde::de::IgnoredAny>()?;
        is(more.is_none())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut read: A) -> Result<(), A::Error> {
        let fields = self.0.as_object();
        let fields: &Map<_, _> = fields.ok_or_else(|| A::Error::custom("an object"))?;
        let mut keys = BTreeSet::new();
        while let Some(key) = read.next_key::<String>()? {
            let field = fields.get_key_value(&key);
            let (key, value) = field.ok_or_else(|| A::Error::custom("another key"))?;
            is(keys.insert(key))?;
            read.next_value_seed(EqualTo(value))?;
        }
        is(keys.len() == fields.len())
    }
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn values_count_and_how_they_are_written_does_not() {
        let one = r#"{"a": [1, -2, 0.5, "x", null, true, {"b": {}}], "c": ""}"#;
        let again = r#" {"c":"","a":[1,-2,5e-1,"\u0078",null,true,{"b":{}}]} "#;
        assert!(same(one, again) && same(again, one) && same("7", "7"));
        let others = [
            r#"{"a": [1, -2, 0.5, "x", null, true, {"b": {}}]}"#,
            r#"{"a": [1, -2, 0.5, "x", null, true, {"b": {}}], "c": "", "d": 1}"#,
            r#"{"a": [1, -2, 0.5, "x", null, true, {"b": {}}, 1], "c": ""}"#,
            r#"{"a": [1, -2, 0.5, "x", null, true], "c": ""}"#,
            r#"{"a": [1, -2, 0.5, "x", null, false, {"b": {}}], "c": ""}"#,
            r#"{"a": [2, -2, 0.5, "x", null, true, {"b": {}}], "c": ""}"#,
            r#"{"a": [1, -2, 0.5, "x", {}, true, {"b": {}}], "c": ""}"#,
            r#"{"a": [1, -2, 0.5, "x", null, true, {"b": []}], "c": ""}"#,
            r#"{"a": [1, -2, 0.5, 7, null, true, {"b": {}}], "c": ""}"#,
            "[1]",
            "",
        ];
        for other in others {
            assert!(!same(one, other) && !same(other, one), "{other}");
        }
        assert!(!same(r#"{"a": 1, "b": 1}"#, r#"{"a": 1, "a": 1}"#));
        assert!(!same("1", "1.0") && !same(r#"{"a":1}"#, r#"{"a":1}}"#));
    }
}
