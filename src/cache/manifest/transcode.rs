//! Converts YAML or JSON to JSON text while reading it: values in memory would take up to a hundred times the text.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The JSON text so far.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The text.
    pub(super) text: String,
    /// Whether an object in it has a duplicate key.
    pub(super) has_double: bool,
}

/// Writes a deserializer's input as JSON.
pub(super) struct Transcode<'a> {
    to: &'a mut Written,
    /// The most bytes to write.
    limit: usize,
    hasher: RandomState,
}

/// The error when the output would exceed the limit.
pub(super) const TOO_LONG: &str = "with its aliases resolved it is too large";

// === impl Transcode ===

impl<'a> Transcode<'a> {
    pub(super) fn new(to: &'a mut Written, limit: usize) -> Self {
        Self {
            to,
            limit,
            hasher: RandomState::new(),
        }
    }

    fn put<E: Error>(&mut self, text: &str) -> Result<(), E> {
        if self.to.text.len() + text.len() > self.limit {
            return Err(E::custom(TOO_LONG));
        }
        self.to.text.push_str(text);
        Ok(())
    }

    fn value<E: Error>(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), E> {
        let text = serde_json::to_string(value).map_err(E::custom)?;
        self.put(&text)
    }
}

/// The visitor for one value.
struct One<'w, 'a>(&'w mut Transcode<'a>);

impl<'de> DeserializeSeed<'de> for &mut Transcode<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(One(self))
    }
}

impl<'de> Visitor<'de> for One<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.put("null")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.0.put("null")
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        self.0.deserialize(from)
    }

    fn visit_bool<E: Error>(self, read: bool) -> Result<(), E> {
        self.0.value(&read)
    }

    fn visit_i64<E: Error>(self, read: i64) -> Result<(), E> {
        self.0.value(&read)
    }

    fn visit_u64<E: Error>(self, read: u64) -> Result<(), E> {
        self.0.value(&read)
    }

    fn visit_i128<E: Error>(self, read: i128) -> Result<(), E> {
        let number = i64::try_from(read).map_err(|_| E::custom("a number out of range"))?;
        self.0.value(&number)
    }

    fn visit_u128<E: Error>(self, read: u128) -> Result<(), E> {
        let number = u64::try_from(read).map_err(|_| E::custom("a number out of range"))?;
        self.0.value(&number)
    }

    fn visit_f64<E: Error>(self, read: f64) -> Result<(), E> {
        // Infinity and NaN become null.
        self.0.value(&read)
    }

    fn visit_str<E: Error>(self, read: &str) -> Result<(), E> {
        self.0.value(read)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.put("[")?;
        let mut first = true;
        loop {
            let start = self.0.to.text.len();
            if !first {
                self.0.put(",")?;
            }
            if items.next_element_seed(&mut *self.0)?.is_none() {
                self.0.to.text.truncate(start);
                return self.0.put("]");
            }
            first = false;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        self.0.put("{")?;
        let mut known = Known::default();
        while let Some(key) = fields.next_key::<String>()? {
            if !known.is_empty() {
                self.0.put(",")?;
            }
            if !known.insert(self.0.hasher.hash_one(&key)) {
                self.0.to.has_double = true;
            }
            self.0.value(&*key)?;
            self.0.put(":")?;
            fields.next_value_seed(&mut *self.0)?;
        }
        self.0.put("}")
    }
}

/// Hashes of the keys of an object so far; most objects have only a few.
#[derive(Default)]
struct Known {
    few: Vec<u64>,
    many: std::collections::HashSet<u64>,
}

// === impl Known ===

impl Known {
    const MAX_SCANNED: usize = 16;

    fn is_empty(&self) -> bool {
        self.few.is_empty()
    }

    /// Adds a key; false if it was there.
    fn insert(&mut self, key: u64) -> bool {
        if self.few.contains(&key) {
            return false;
        }
        if self.few.len() < Self::MAX_SCANNED {
            self.few.push(key);
            return true;
        }
        self.many.insert(key)
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeSeed as _;

    use super::{TOO_LONG, Transcode, Written};

    fn json(text: &str, limit: usize) -> Result<Written, String> {
        let mut written = Written::default();
        let read = Transcode::new(&mut written, limit)
            .deserialize(&mut serde_json::Deserializer::from_str(text));
        read.map_err(|e| e.to_string()).map(|()| written)
    }

    #[test]
    fn what_is_read_is_written() {
        for text in [
            r#"{"b":[1,-2,0.5,"x\n",null,true,{}],"a":{"$serde_json::private::RawValue":"[1]"}}"#,
            "[]",
            "[[],[[]]]",
            "7",
            "\"\\u0000\"",
        ] {
            assert_eq!(json(text, 1000).unwrap().text, text);
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_noticed() {
        assert!(
            json(r#"{"a":{"b":1,"c":2,"b":3}}"#, 100)
                .unwrap()
                .has_double
        );
        let many: Vec<String> = (0..40).map(|n| format!("\"k{n}\":{n}")).collect();
        assert!(
            !json(&format!("{{{}}}", many.join(",")), 1000)
                .unwrap()
                .has_double
        );
        let again = format!("{{{},\"k30\":0}}", many.join(","));
        assert!(json(&again, 1000).unwrap().has_double);
    }

    #[test]
    fn no_more_is_written_than_may_be() {
        let long = format!("[{}]", vec!["\"aaaa\""; 100].join(","));
        assert!(json(&long, 100).unwrap_err().contains(TOO_LONG));
    }
}
