//! Label selectors: `matchLabels` and `matchExpressions`.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;

use super::texts::Texts;

/// Labels of an object.
pub type Labels = Texts;

/// Values of a label.
type Values = BTreeSet<Arc<str>>;

/// Which objects, by their labels. All parts must hold; an empty selector selects everything.
///
/// Parts stand by the label that they ask about, so that to ask costs what the labels of the object
/// cost, and not what the selector does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "SelectorJson")]
pub struct Selector {
    /// Labels that must be there, each with one of these values where they are said.
    required: BTreeMap<Arc<str>, Option<Values>>,
    /// Labels that must not be there, or not with one of these values where they are said.
    refused: BTreeMap<Arc<str>, Option<Values>>,
}

/// As it is written.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SelectorJson {
    match_labels: Option<Labels>,
    match_expressions: Option<Vec<Expression>>,
}

/// One part of `matchExpressions`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Expression {
    key: Arc<str>,
    operator: Operator,
    #[serde(default)]
    values: Option<Values>,
}

/// How an expression compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Operator {
    /// The label has one of the values.
    In,
    /// It has none of them, or is not there.
    NotIn,
    /// It is there.
    Exists,
    /// It is not.
    DoesNotExist,
}

impl Selector {
    /// Those with all of these labels.
    pub fn by_labels(labels: &Labels) -> Self {
        let equal = labels.iter();
        Self {
            required: equal
                .map(|(key, value)| (key.clone(), Some(Values::from([value.clone()]))))
                .collect(),
            refused: BTreeMap::new(),
        }
    }

    /// Those for which all of these hold.
    pub fn by_expressions(expressions: Vec<Expression>) -> Self {
        Self::from(SelectorJson {
            match_labels: None,
            match_expressions: Some(expressions),
        })
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.required.is_empty() && self.refused.is_empty()
    }

    /// The labels of which it takes one value alone.
    pub fn equal(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.required.iter().filter_map(|(key, values)| {
            let values = values.as_ref().filter(|values| values.len() == 1)?;
            Some((key, values.first()?))
        })
    }

    /// Whether an object with these labels is selected.
    pub fn selects(&self, labels: &Labels) -> bool {
        let has = |values: &Option<Values>, value: &Arc<str>| {
            values.as_ref().is_none_or(|values| values.contains(value))
        };
        let mut required = self.required.iter();
        let mut there = labels.iter();
        self.required.len() <= labels.len()
            && required.all(|(key, values)| labels.get(key).is_some_and(|value| has(values, value)))
            // An object without the label is "not in", as in the API server.
            && (self.refused.is_empty()
                || !there.any(|(key, value)| {
                    let refused = self.refused.get(key);
                    refused.is_some_and(|values| has(values, value))
                }))
    }

    /// These values of a label, or any.
    fn require(&mut self, key: Arc<str>, values: Option<Values>) {
        match (self.required.entry(key), values) {
            (Entry::Vacant(entry), values) => drop(entry.insert(values)),
            (Entry::Occupied(_), None) => {}
            (Entry::Occupied(mut entry), Some(values)) => match entry.get_mut() {
                Some(known) => known.retain(|value| values.contains(value)),
                known @ None => *known = Some(values),
            },
        }
    }

    /// None of these values of a label, or not any.
    fn refuse(&mut self, key: Arc<str>, values: Option<Values>) {
        match (self.refused.entry(key), values) {
            (Entry::Vacant(entry), values) => drop(entry.insert(values)),
            (Entry::Occupied(mut entry), None) => *entry.get_mut() = None,
            (Entry::Occupied(mut entry), Some(values)) => {
                if let Some(known) = entry.get_mut() {
                    known.extend(values);
                }
            }
        }
    }
}

impl Expression {
    /// A label compared with values; those that ask whether it is there take none.
    pub fn new(key: &str, operator: Operator, values: Vec<Arc<str>>) -> Self {
        Self {
            key: key.into(),
            operator,
            values: Some(values.into_iter().collect()),
        }
    }
}

impl From<SelectorJson> for Selector {
    fn from(json: SelectorJson) -> Self {
        let mut selector = Self::by_labels(&json.match_labels.unwrap_or_default());
        for Expression {
            key,
            operator,
            values,
        } in json.match_expressions.into_iter().flatten()
        {
            let values = Some(values.unwrap_or_default());
            match operator {
                Operator::In => selector.require(key, values),
                Operator::Exists => selector.require(key, None),
                Operator::NotIn => selector.refuse(key, values),
                Operator::DoesNotExist => selector.refuse(key, None),
            }
        }
        selector
    }
}

#[cfg(test)]
mod tests {
    use super::{Labels, Selector};

    fn selects(selector: &str, labels: &[(&str, &str)]) -> bool {
        let labels: Labels = labels
            .iter()
            .map(|(k, v)| ((*k).into(), (*v).into()))
            .collect();
        let selector: Selector = serde_json::from_str(selector).unwrap();
        selector.selects(&labels)
    }

    #[test]
    fn every_part_must_hold() {
        let both = r#"{"matchLabels":{"a":"1"},"matchExpressions":[{"key":"b","operator":"In","values":["x","y"]}]}"#;
        assert!(selects(both, &[("a", "1"), ("b", "y")]));
        assert!(!selects(both, &[("a", "1"), ("b", "z")]));
        assert!(!selects(both, &[("b", "y")]));
        assert!(selects("{}", &[]));
    }

    #[test]
    fn absent_labels_are_not_in_and_do_not_exist() {
        let not_in = r#"{"matchExpressions":[{"key":"b","operator":"NotIn","values":["x"]}]}"#;
        assert!(selects(not_in, &[]));
        assert!(!selects(not_in, &[("b", "x")]));
        let absent = r#"{"matchExpressions":[{"key":"b","operator":"DoesNotExist"}]}"#;
        assert!(selects(absent, &[]));
        assert!(!selects(absent, &[("b", "")]));
        let exists = r#"{"matchExpressions":[{"key":"b","operator":"Exists"}]}"#;
        assert!(selects(exists, &[("b", "")]));
    }
}
