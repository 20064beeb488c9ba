//! Label selectors: `matchLabels` and `matchExpressions`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

/// Labels of an object.
pub type Labels = BTreeMap<Arc<str>, Arc<str>>;

/// Which objects, by their labels. All parts must hold; an empty selector selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Selector {
    match_labels: Option<Labels>,
    match_expressions: Option<Vec<Expression>>,
}

/// One part of `matchExpressions`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Expression {
    key: Arc<str>,
    operator: Operator,
    #[serde(default)]
    values: Option<Vec<Arc<str>>>,
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
    pub fn by_labels(labels: Labels) -> Self {
        Self {
            match_labels: Some(labels),
            match_expressions: None,
        }
    }

    /// Those for which all of these hold.
    pub fn by_expressions(expressions: Vec<Expression>) -> Self {
        Self {
            match_labels: None,
            match_expressions: Some(expressions),
        }
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.match_labels.iter().flatten().next().is_none()
            && self.match_expressions.iter().flatten().next().is_none()
    }

    /// Whether an object with these labels is selected.
    pub fn selects(&self, labels: &Labels) -> bool {
        let mut equal = self.match_labels.iter().flatten();
        let mut expressions = self.match_expressions.iter().flatten();
        equal.all(|(key, value)| labels.get(key) == Some(value))
            && expressions.all(|expression| expression.holds(labels.get(&expression.key)))
    }
}

impl Expression {
    /// A label compared with values; those that ask whether it is there take none.
    pub fn new(key: &str, operator: Operator, values: Vec<Arc<str>>) -> Self {
        Self {
            key: key.into(),
            operator,
            values: Some(values),
        }
    }

    fn holds(&self, value: Option<&Arc<str>>) -> bool {
        let listed = || {
            let mut values = self.values.iter().flatten();
            value.is_some_and(|value| values.any(|v| v == value))
        };
        match self.operator {
            Operator::In => listed(),
            // As in the API server: an object without the label is "not in".
            Operator::NotIn => !listed(),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
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
