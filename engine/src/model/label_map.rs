//! Small maps of strings: labels and annotations.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A sorted map from string to string in one allocation. Objects have a handful of labels, and a cluster has a
/// hundred thousand objects: a tree takes twice as much memory for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LabelMap(Option<Arc<[KeyValue]>>);

/// A key and its value.
pub type KeyValue = (Arc<str>, Arc<str>);

// === impl LabelMap ===

impl LabelMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.pairs().len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Arc<str>> {
        let pairs = self.pairs();
        let at = pairs.binary_search_by(|(known, _)| (**known).cmp(key));
        pairs.get(at.ok()?).map(|(_, value)| value)
    }

    /// Whether it contains a key.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The first of these labels that it has with the same value.
    pub fn first_of<'a>(
        &self,
        labels: &'a BTreeMap<Arc<str>, Arc<str>>,
    ) -> Option<(&'a Arc<str>, &'a Arc<str>)> {
        let mut labels = labels.iter();
        labels.find(|(key, value)| self.get(key) == Some(*value))
    }

    /// Keys and values, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.pairs().iter().map(|(key, value)| (key, value))
    }

    /// Keys, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.pairs().iter().map(|(key, _)| key)
    }

    /// The texts, for an interner; none while the map is shared.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut Arc<str>> {
        let pairs = self.0.as_mut().and_then(Arc::get_mut);
        let pairs = pairs.into_iter().flat_map(|pairs| pairs.iter_mut());
        pairs.flat_map(|(key, value)| [key, value])
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: Arc<str>, value: Arc<str>) {
        let pairs = self.pairs().iter().cloned();
        *self = pairs.chain([(key, value)]).collect();
    }

    /// Keeps only the keys that are wanted.
    pub fn retain(&mut self, wanted: impl Fn(&Arc<str>) -> bool) {
        if self.keys().any(|key| !wanted(key)) {
            let pairs = self.pairs().iter();
            *self = pairs.filter(|(key, _)| wanted(key)).cloned().collect();
        }
    }

    fn pairs(&self) -> &[KeyValue] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl FromIterator<KeyValue> for LabelMap {
    /// The last of several values of a key counts.
    fn from_iter<I: IntoIterator<Item = KeyValue>>(pairs: I) -> Self {
        let mut pairs: Vec<KeyValue> = pairs.into_iter().collect();
        pairs.reverse();
        pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
        pairs.dedup_by(|(one, _), (other, _)| one == other);
        Self((!pairs.is_empty()).then(|| pairs.into()))
    }
}

impl<'de> Deserialize<'de> for LabelMap {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = LabelMap;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LabelMap, A::Error> {
                let mut pairs = Vec::new();
                while let Some((key, value)) = map.next_entry()? {
                    pairs.push((key, value));
                }
                Ok(pairs.into_iter().collect())
            }
        }
        from.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::LabelMap;

    fn texts(json: &str) -> LabelMap {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn they_are_found_by_key_and_sorted_and_the_last_one_counts() {
        let mut some = texts(r#"{"b": "1", "a": "2", "b": "3", "": "4"}"#);
        let pairs = |texts: &LabelMap| {
            let pairs_in_order = texts.iter().map(|(k, v)| format!("{k}={v}"));
            pairs_in_order.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(pairs(&some), "=4 a=2 b=3");
        assert_eq!(some.get("b").map(|value| &**value), Some("3"));
        assert_eq!((some.get("c"), some.len()), (None, 3));
        some.insert("a".into(), "5".into());
        some.insert("c".into(), "6".into());
        some.retain(|key| !key.is_empty());
        assert_eq!(pairs(&some), "a=5 b=3 c=6");
        assert!(some.contains_key("c") && !some.contains_key(""));
        some.retain(|_| false);
        assert_eq!(some, texts("{}"));
        assert!(some.is_empty() && some == LabelMap::new());
        assert!(serde_json::from_str::<LabelMap>(r#"{"a": 1}"#).is_err());
    }
}
