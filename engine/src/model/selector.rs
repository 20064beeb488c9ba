//! Label selectors: `matchLabels` and `matchExpressions`.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

use crate::model::label_map::LabelMap;

/// Labels of an object.
pub type Labels = LabelMap;

/// Values of a label.
type Values = BTreeSet<Arc<str>>;

/// Selects objects by their labels. All requirements must hold; an empty selector selects everything.
///
/// Requirements are indexed by label, so that matching costs as much as the object has labels, regardless of the size
/// of the selector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "SelectorJson")]
pub struct Selector {
    /// Labels that must exist, with one of these values if any are given.
    required: BTreeMap<Arc<str>, Option<Values>>,
    /// Labels that must not exist, or not with one of these values if any are given.
    refused: BTreeMap<Arc<str>, Option<Values>>,
}

/// The form in manifests.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SelectorJson {
    match_labels: Option<Labels>,
    match_expressions: Option<Vec<Expression>>,
}

/// One entry of `matchExpressions`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Expression {
    key: Arc<str>,
    operator: Operator,
    #[serde(default)]
    values: Option<Values>,
}

/// The operator of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Operator {
    /// The label has one of the values.
    In,
    /// The label has none of the values, or does not exist.
    NotIn,
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
}

impl Selector {
    /// Selects objects with all of these labels.
    pub fn by_labels(labels: &Labels) -> Self {
        let equal = labels.iter();
        Self {
            required: equal
                .map(|(key, value)| (key.clone(), Some(Values::from([value.clone()]))))
                .collect(),
            refused: BTreeMap::new(),
        }
    }

    /// Selects objects for which all of these expressions hold.
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

    /// The labels that must have one particular value.
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
            // As in the API server, `NotIn` holds for an object without the label.
            && (self.refused.is_empty()
                || !there.any(|(key, value)| {
                    let refused = self.refused.get(key);
                    refused.is_some_and(|values| has(values, value))
                }))
    }

    /// Requires one of these values of a label, or any value.
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

    /// Excludes these values of a label, or any value.
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

/// As `kubectl get -l` writes it: `team=shop, env in (dev, test), !legacy`. Long selectors are cut.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let required = self.required.iter().map(|(key, values)| match values {
            None => key.to_string(),
            Some(values) => compared(key, values, "=", "in"),
        });
        let refused = self.refused.iter().map(|(key, values)| match values {
            None => format!("!{key}"),
            Some(values) => compared(key, values, "!=", "notin"),
        });
        f.write_str(&few(required.chain(refused)))
    }
}

/// The comparison of a label with one value or with several.
fn compared(key: &str, values: &Values, with_one: &str, with_several: &str) -> String {
    match values.first() {
        Some(value) if values.len() == 1 => format!("{key}{with_one}{value}"),
        _ => format!(
            "{key} {with_several} ({})",
            few(values.iter().map(ToString::to_string))
        ),
    }
}

/// The first texts of a list, and the number of the others.
fn few(texts: impl Iterator<Item = String>) -> String {
    const MAX_TEXTS: usize = 4;
    let mut texts = texts.fuse();
    let mut shown: Vec<String> = texts.by_ref().take(MAX_TEXTS).collect();
    match texts.count() {
        0 => {}
        more => shown.push(format!("{more} more")),
    }
    shown.join(", ")
}

impl Expression {
    /// Compares a label with values; `Exists` and `DoesNotExist` take none.
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
    fn is_written_as_for_kubectl() {
        let written = |json: &str| serde_json::from_str::<Selector>(json).unwrap().to_string();
        let labels = r#"{"matchLabels":{"team":"shop","a":"1"}}"#;
        assert_eq!(written(labels), "a=1, team=shop");
        let expressions = r#"{"matchExpressions":[
            {"key":"a","operator":"In","values":["x","y"]},{"key":"b","operator":"Exists"},
            {"key":"c","operator":"NotIn","values":["z"]},{"key":"d","operator":"DoesNotExist"},
            {"key":"e","operator":"NotIn","values":["1","2","3","4","5"]}]}"#;
        assert_eq!(written(expressions), "a in (x, y), b, c!=z, !d, 1 more");
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
