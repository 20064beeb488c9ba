//! The number of values in an object, counted before it is parsed.
//!
//! Parsed into memory, `{"a":0}` takes eighty times its size as text. Ordinary objects have some hundred values; an
//! object with a hundred thousand is made to use up memory.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::is_gateway_kind;
use super::unreadable::{Unreadable, plain};
use crate::model::ids::GroupKind;

/// The maximum number of values and keys of an object.
const MAX_VALUES: usize = 10_000;
/// The maximum for a CRD; the largest known CRD of any project has about twenty thousand.
const MOST_OF_DEFINITION: usize = 60_000;
/// The maximum for a Service: media servers have thousands of ports, with several values each.
const MOST_OF_SERVICE: usize = 100_000;
/// Texts up to this length cannot take much memory, whatever they contain.
const SMALL: usize = 32 * 1024;

/// Rejects a `spec` that contains too much or cannot be parsed: nested too deeply, numbers out of range, half of a
/// surrogate pair.
pub(crate) fn weigh(gk: &GroupKind, spec: &str) -> Result<(), Unreadable> {
    let limit = if *gk == GroupKind::CRD {
        MOST_OF_DEFINITION
    } else if gk.is_core("Service") {
        MOST_OF_SERVICE
    } else {
        MAX_VALUES
    };
    // Fields that are never parsed take no memory: a valid route may have tens of thousands of values in its matches.
    let skips: fn(&str) -> bool = if is_gateway_kind(gk) {
        |key| ["matches", "filters", "tls"].contains(&key)
    } else {
        |_| false
    };
    count("spec", spec, limit, skips)
}

/// Like [`weigh`], for a whole text of another name.
pub(crate) fn weigh_all(what: &str, text: &str) -> Result<(), Unreadable> {
    count(what, text, MAX_VALUES, |_| false)
}

/// Whether a text can be parsed and stays within the limit.
pub fn is_within_limits(text: &str) -> bool {
    weigh_all("it", text).is_ok()
}

/// Like [`weigh`], for the `spec` of a CRD without its schemas.
pub(super) fn weigh_names(spec: &str) -> Result<(), Unreadable> {
    count("spec", spec, MAX_VALUES, |key| key == "schema")
}

/// Like [`weigh`], for `metadata` without the fields that are never read.
///
/// # Errors
/// If the text is no JSON, or exceeds the limit.
pub fn weigh_metadata(text: &str) -> Result<(), Unreadable> {
    count("metadata", text, MAX_VALUES, |key| {
        ["managedFields", "ownerReferences", "finalizers"].contains(&key)
    })
}

/// Whether a text is long enough to exceed the limit.
pub fn is_large(text: &str) -> bool {
    text.len() > SMALL
}

fn count(what: &str, text: &str, limit: usize, skips: fn(&str) -> bool) -> Result<(), Unreadable> {
    let left = Cell::new(limit);
    let counting = Count { left: &left, skips };
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = counting.deserialize(&mut reader);
    read.map_err(|error| {
        if left.get() == 0 {
            Unreadable::too_much(format!("{what} has more than {limit} values"))
        } else {
            Unreadable::because(format!("{what} cannot be read"), plain(&error))
        }
    })
}

/// Counts down by one for each value and key.
#[derive(Clone, Copy)]
struct Count<'a> {
    left: &'a Cell<usize>,
    /// Whether the value of a key is skipped.
    skips: fn(&str) -> bool,
}

impl Count<'_> {
    fn one<E: Error>(self) -> Result<(), E> {
        let left = self.left.get().saturating_sub(1);
        self.left.set(left);
        if left == 0 {
            Err(E::custom("too many values"))
        } else {
            Ok(())
        }
    }
}

impl<'de> DeserializeSeed<'de> for Count<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Count<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.one()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.one()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.one()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.one()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.one()
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.one()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.one()?;
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        self.one()?;
        while let Some(skipped) = fields.next_key_seed(Key(self))? {
            if skipped {
                fields.next_value::<IgnoredAny>()?;
            } else {
                fields.next_value_seed(self)?;
            }
        }
        Ok(())
    }
}

/// A key; evaluates to whether its value is skipped.
struct Key<'a>(Count<'a>);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        self.0.one()?;
        Ok((self.0.skips)(key))
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_VALUES, weigh, weigh_metadata};
    use crate::model::ids::GroupKind;

    fn read_weight(spec: &str) -> Result<(), String> {
        weigh(&GroupKind::core("ConfigMap"), spec).map_err(|why| why.to_string())
    }

    #[test]
    fn many_values_are_too_many() {
        let list = |n: usize| format!("[{}]", vec!["0"; n].join(","));
        assert_eq!(read_weight(&list(MAX_VALUES - 2)), Ok(()));
        let why = format!("spec has more than {MAX_VALUES} values");
        assert_eq!(read_weight(&list(MAX_VALUES)), Err(why));
        assert!(weigh(&GroupKind::CRD, &list(MAX_VALUES)).is_ok());
    }

    #[test]
    fn a_long_text_is_one_value() {
        assert_eq!(read_weight(&format!("{:?}", "a".repeat(1 << 20))), Ok(()));
    }

    #[test]
    fn unreadable_input_is_an_error() {
        for odd in [
            "1e400",
            "\"\\ud800\"",
            "{\"\\ud800\":1}",
            &"[".repeat(200),
            "{",
            "[0",
        ] {
            let why = read_weight(odd).unwrap_err();
            assert!(why.starts_with("spec cannot be read: "), "{odd}: {why}");
        }
        // No key has a special meaning.
        let marker = r#"{"$serde_json::private::RawValue":"[[[]]]"}"#;
        assert_eq!(read_weight(marker), Ok(()));
    }

    #[test]
    fn only_the_used_metadata_is_weighed() {
        let many = vec![r#""f":{}"#; 3 * MAX_VALUES].join(",");
        let managed = format!(r#"{{"managedFields":[{{{many}}}],"labels":{{"a":"b"}}}}"#);
        assert!(weigh_metadata(&managed).is_ok());
        let labels = format!(r#"{{"labels":{{{}}}}}"#, many.replace("{}", "\"\""));
        let why = weigh_metadata(&labels).unwrap_err();
        assert_eq!(
            why.to_string(),
            format!("metadata has more than {MAX_VALUES} values")
        );
    }
}
