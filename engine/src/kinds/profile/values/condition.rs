//! Conditions on the values in a policy, for facts that depend on what a policy sets.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::annotation_value::AnnotationsFile;
use super::at_path::collect;
use super::open_rules::{OpenRules, Passing};
use super::paths::SpecPath;
use super::wanted::ValuePattern;
use crate::model::object::Meta;

/// Values by field: a field is a path from the root of the object.
///
/// `*` in a path stands for any item of a list, or for any field of a map, and a number for one item of a list: 0 for
/// the first. Among the values, `null` means that the field is absent, `<any>` that it is not, `<matches ^https://>` and
/// `<does not match ^https://>` that it is a text which the regular expression matches or does not match, `<has host bits>`
/// that it is a range of addresses such as `10.0.0.1/8`, which does not begin with the first address of its network,
/// `<not a regular expression>` that it is a text which is none. `{}` and `[]` are the empty ones; any other object stands for
/// all objects with such fields. Other texts in angle brackets are errors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, description = "")]
#[schemars(rename = "Values")]
pub struct FieldConditions(BTreeMap<SpecPath, Vec<ValuePattern>>);

/// Conditions on a policy: all of them must hold. Without any it always holds.
#[derive(Clone, Copy, Debug)]
pub struct PolicyCondition<'a> {
    pub(in crate::kinds::profile) when: &'a FieldConditions,
    pub(in crate::kinds::profile) unless: &'a FieldConditions,
    pub(in crate::kinds::profile) annotated: &'a AnnotationsFile,
    /// Rules, and which requests they must let pass.
    pub(in crate::kinds::profile) open: Option<(&'a OpenRules, Passing)>,
    /// Rules that must not let every request pass.
    pub(in crate::kinds::profile) not_open: Option<&'a OpenRules>,
    /// Pairs of fields that must have a text in common, whatever its case.
    pub(in crate::kinds::profile) alike: Option<&'a BTreeMap<SpecPath, SpecPath>>,
    /// Fields of which one must have the same text twice.
    pub(in crate::kinds::profile) repeated: &'a [SpecPath],
}

// === impl PolicyCondition ===

impl<'a> PolicyCondition<'a> {
    pub(in crate::kinds::profile) fn new(
        when: &'a FieldConditions,
        unless: &'a FieldConditions,
        annotated: &'a AnnotationsFile,
    ) -> Self {
        Self {
            when,
            unless,
            annotated,
            open: None,
            not_open: None,
            alike: None,
            repeated: &[],
        }
    }

    /// Whether it depends on the values of fields.
    pub fn reads_fields(&self) -> bool {
        let reads_values = !(self.when.is_empty() && self.unless.is_empty());
        let reads_rules = self.open.is_some() || self.not_open.is_some();
        let compares = self.pairs().next().is_some() || !self.repeated.is_empty();
        reads_values || reads_rules || compares
    }

    fn pairs(&self) -> impl Iterator<Item = (&SpecPath, &SpecPath)> {
        self.alike.into_iter().flatten()
    }

    /// Whether it depends on annotations.
    pub fn reads_annotations(&self) -> bool {
        !self.annotated.is_empty()
    }

    /// Whether the part about annotations holds for an object.
    pub fn holds_for(&self, meta: Option<&Meta>) -> bool {
        self.annotated.iter().all(|(key, values)| {
            let value = meta.and_then(|meta| meta.annotations.get(key));
            value.is_some_and(|value| values.iter().any(|wanted| wanted.matches(value)))
        })
    }

    /// Whether the part about fields holds for settings; computes the settings only if the condition reads fields.
    pub fn holds_in_lazy<V: Borrow<Value>>(&self, settings: impl FnOnce() -> V) -> bool {
        !self.reads_fields() || self.holds_in(settings().borrow())
    }

    /// Whether the part about fields holds for these settings.
    pub fn holds_in(&self, settings: &Value) -> bool {
        let is_open =
            |(rules, passing): (&OpenRules, Passing)| rules.passing(settings) == Some(passing);
        let lets_all_pass = |rules: &OpenRules| rules.passing(settings) == Some(Passing::All);
        self.when.all_in(settings)
            && !self.unless.any_in(settings)
            && self.open.is_none_or(is_open)
            && !self.not_open.is_some_and(lets_all_pass)
            && self.pairs().all(|pair| have_equal_values(settings, pair))
            && (self.repeated.is_empty()
                || self.repeated.iter().any(|path| is_repeated(settings, path)))
    }
}

/// Whether two fields have a text in common, whatever its case.
fn have_equal_values(settings: &Value, (one, other): (&SpecPath, &SpecPath)) -> bool {
    let (ones, others) = (texts_at(settings, one), texts_at(settings, other));
    let is_among_others = |one: &&str| others.iter().any(|other| one.eq_ignore_ascii_case(other));
    ones.iter().any(is_among_others)
}

/// Whether a field has the same text twice.
fn is_repeated(settings: &Value, field: &[String]) -> bool {
    let mut seen = HashSet::new();
    let mut texts = texts_at(settings, field).into_iter();
    texts.any(|text| !seen.insert(text))
}

fn texts_at<'a>(settings: &'a Value, path: &[String]) -> Vec<&'a str> {
    let mut values = Vec::new();
    collect(settings, path, &mut values);
    values.into_iter().filter_map(Value::as_str).collect()
}

// === impl FieldConditions ===

impl FieldConditions {
    /// Whether there is no field among them.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields.
    pub(in crate::kinds::profile) fn fields(&self) -> impl Iterator<Item = &SpecPath> {
        self.0.keys()
    }

    /// Whether each field has one of its values in these settings.
    pub fn all_in(&self, settings: &Value) -> bool {
        self.0.iter().all(|field| has_one(settings, field))
    }

    /// Whether each field has one of its values in these settings; computes the settings only if there are fields.
    pub fn all_in_lazy<V: Borrow<Value>>(&self, settings: impl FnOnce() -> V) -> bool {
        self.is_empty() || self.all_in(settings().borrow())
    }

    /// Whether one of the fields has one of its values in these settings.
    pub fn any_in(&self, settings: &Value) -> bool {
        self.0.iter().any(|field| has_one(settings, field))
    }
}

/// Whether a field has one of these values in these settings.
fn has_one(settings: &Value, (path, wanted): (&SpecPath, &Vec<ValuePattern>)) -> bool {
    let mut values = Vec::new();
    collect(settings, path, &mut values);
    let is_one = |value: &Value| wanted.iter().any(|wanted| wanted.matches(value));
    if values.is_empty() {
        return is_one(&Value::Null);
    }
    values.into_iter().any(is_one)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::{FieldConditions, PolicyCondition};

    fn holds(condition: &Value, settings: &Value) -> bool {
        let values = |name: &str| -> FieldConditions {
            let values = condition.get(name).cloned().unwrap_or(json!({}));
            serde_json::from_value(values).unwrap()
        };
        let (when, unless) = (values("when"), values("unless"));
        PolicyCondition::new(&when, &unless, &BTreeMap::new()).holds_in(settings)
    }

    #[test]
    fn a_field_has_one_of_the_values_or_is_absent() {
        let audit = json!({"when": {"spec.action": ["AUDIT"]}});
        assert!(holds(&audit, &json!({"action": "AUDIT"})));
        assert!(!holds(&audit, &json!({"action": "DENY"})));
        assert!(!holds(&audit, &json!({})));
        let allow = json!({"when": {"spec.action": ["ALLOW", null]}});
        assert!(holds(&allow, &json!({})));
        assert!(holds(&allow, &json!({"action": null})));
    }

    #[test]
    fn a_text_may_match_an_expression_or_not() {
        let secure = json!({"when": {"spec.issuer": ["<matches ^https://>"]}});
        assert!(holds(&secure, &json!({"issuer": "https://id.example.com"})));
        assert!(!holds(&secure, &json!({"issuer": "http://id.example.com"})));
        let plain = json!({"when": {"spec.issuer": ["<does not match ^https://>"]}});
        assert!(holds(&plain, &json!({"issuer": "http://id.example.com"})));
        assert!(!holds(&plain, &json!({"issuer": "https://id.example.com"})));
        assert!(!holds(&plain, &json!({})));
        assert!(!holds(&plain, &json!({"issuer": 1})));
    }

    #[test]
    fn any_item_of_a_list_and_any_field_of_a_map_may_have_it() {
        let deny = json!({"when": {"spec.rules.*.action": ["Deny"]}});
        let rules = json!({"rules": [{"action": "Allow"}, {"action": "Deny"}]});
        assert!(holds(&deny, &rules));
        assert!(!holds(&deny, &json!({"rules": []})));
        let anonymous = json!({"when": {"spec.authentication.*.anonymous": ["<any>"]}});
        let by_name = json!({"authentication": {"public": {"anonymous": {}}}});
        assert!(holds(&anonymous, &by_name));
        let keys = json!({"authentication": {"keys": {"apiKey": {"selector": {}}}}});
        assert!(!holds(&anonymous, &keys));
    }

    #[test]
    fn the_fields_of_one_item_can_be_asked_together() {
        let always = json!({"when": {"spec.rules.*": [{"anonymous": "<any>", "when": null}]}});
        let sometimes = json!({"rules": {"a": {"anonymous": {}, "when": []}, "b": {"apiKey": {}}}});
        assert!(!holds(&always, &sometimes));
        assert!(holds(&always, &json!({"rules": {"a": {"anonymous": {}}}})));
    }

    #[test]
    fn an_empty_object_is_no_other_object() {
        let open = json!({"when": {"spec.rules.*": [{}]}});
        assert!(holds(&open, &json!({"rules": [{"from": []}, {}]})));
        assert!(!holds(&open, &json!({"rules": [{"from": []}]})));
    }

    #[test]
    fn a_number_is_one_item_of_a_list() {
        let open = json!({"when": {"spec.rules.0.action": ["Allow"]}});
        let rules =
            |first: &str, second: &str| json!({"rules": [{"action": first}, {"action": second}]});
        assert!(holds(&open, &rules("Allow", "Deny")));
        assert!(!holds(&open, &rules("Deny", "Allow")));
        assert!(!holds(&open, &json!({"rules": []})));
    }

    #[test]
    fn unless_excludes() {
        let open = json!({
            "when": {"spec.defaultAction": ["Allow"]},
            "unless": {"spec.rules.*.action": ["Deny"]},
        });
        assert!(holds(&open, &json!({"defaultAction": "Allow"})));
        let some = json!({"defaultAction": "Allow", "rules": [{"action": "Deny"}]});
        assert!(!holds(&open, &some));
    }

    #[test]
    fn fields_may_have_a_text_in_common() {
        let alike = json!({"spec.to": "spec.from.*.header"});
        let alike = serde_json::from_value(alike).unwrap();
        let (none, unannotated) = (FieldConditions::default(), BTreeMap::new());
        let condition = PolicyCondition {
            alike: Some(&alike),
            ..PolicyCondition::new(&none, &none, &unannotated)
        };
        let from = json!([{"header": "X-One"}, {"header": "Authorization"}, {"cookie": "c"}]);
        assert!(condition.holds_in(&json!({"to": "authorization", "from": from})));
        assert!(!condition.holds_in(&json!({"to": "c", "from": from})));
        assert!(!condition.holds_in(&json!({"from": from})));
    }

    #[test]
    fn a_field_may_have_one_text_twice() {
        let fields = ["spec.providers.*.name".to_owned().into()];
        let (none, unannotated) = (FieldConditions::default(), BTreeMap::new());
        let condition = PolicyCondition {
            repeated: &fields,
            ..PolicyCondition::new(&none, &none, &unannotated)
        };
        let named =
            |names: [&str; 2]| json!({"providers": names.map(|name| json!({"name": name}))});
        assert!(condition.holds_in(&named(["one", "one"])));
        assert!(!condition.holds_in(&named(["one", "other"])));
        assert!(!condition.holds_in(&json!({})));
    }

    #[test]
    fn settings_beside_each_other_are_looked_at_one_by_one() {
        let disabled = json!({"when": {"spec.extAuth.disable": ["<any>"]}});
        assert!(holds(
            &disabled,
            &json!({"extAuth": [{"extensionRef": {}}, {"disable": {}}]})
        ));
    }
}
