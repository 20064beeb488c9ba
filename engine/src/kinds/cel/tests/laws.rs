//! Properties that hold for every text and every value.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::known;
use crate::kinds::cel::{CelBudget, CelRule, PartialValue};

/// Fragments of rules, so that many of the random texts can be parsed.
const WORDS: &[&str] = &[
    "self",
    "self.a",
    ".b",
    "x",
    "has(self.a)",
    "has(",
    "size(",
    ".size()",
    ".all(x, ",
    ".exists(x,",
    ".exists_one(x, ",
    ".filter(x, ",
    ".map(x, ",
    ".contains(",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "?",
    "!",
    "-",
    "&&",
    "||",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "*",
    "/",
    "%",
    " in ",
    "'a'",
    "\"b\"",
    "r'\\'",
    "'''",
    "0",
    "1",
    "9223372036854775807",
    "1u",
    "1.5",
    "true",
    "false",
    "null",
    "oldSelf",
    ".",
    "//",
    "\n",
    "\\",
    "é",
];

/// Rules of every kind, for values from [`values`].
const RULES: &[&str] = &[
    "self.a == 'x' || self.b in ['x', 'y']",
    "has(self.a) ? self.a == self.b : !has(self.b)",
    "(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) <= 1",
    "self.all(p, self.exists_one(q, p.a == q.a && p.b == q.b))",
    "self.exists(p, p.a == 'x') || self.exists(p, p.a == 'y')",
    "self.filter(p, has(p.a)).size() == 1",
    "self.map(p, p.a) == ['x', 'y']",
    "self.a.size() > 0 && self.b.size() > 0",
    "self.a.startsWith('x') || self.b < 'y'",
    "!(has(self.a) && has(self.b)) || self.a.all(k, k == self.b)",
    "self.a + self.b * 2 > 1 && self.a / self.b == 1",
    "self[0].a == self[1].a || self == self[0].b",
    "'a' in self && self.a != null",
    "self == oldSelf || self.a == 'x'",
    "self.a == self.b",
    "self.all(k, k == 'a' || k == 'b')",
    "self.size() <= 1 || 'x' in self",
    "self[0] == 'x' || self == ['x', 'y']",
    "self.exists(p, has(p.a)) && !self.exists_one(p, has(p.b))",
    "self.a.size() == 0 || self == self.b",
];

/// Values with the fields and strings that [`RULES`] refer to, including unknown parts.
fn values() -> impl Strategy<Value = Value> {
    let setting = prop_oneof![
        3 => Just(json!("?")),
        1 => Just(json!("*")),
        1 => Just(json!("-")),
        3 => prop::sample::select(vec![json!("x"), json!("y"), json!("z")]),
        1 => prop::sample::select(vec![json!(0), json!(1), json!(true), Value::Null]),
    ];
    setting.prop_recursive(3, 12, 3, |inner| {
        let fields = prop::collection::btree_map("[abc]", inner.clone(), 0..3);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::vec(inner, 0..3).prop_map(|mut items| {
                items.insert(0, json!("..."));
                Value::Array(items)
            }),
            (fields, any::<bool>()).prop_map(|(fields, complete)| {
                let mut map: serde_json::Map<_, _> = fields.into_iter().collect();
                if complete {
                    map.insert("=".into(), json!(1));
                }
                Value::Object(map)
            }),
        ]
    })
}

/// A value that `value` may stand for, chosen by `choices`: unknown parts may become known.
fn learn(value: &Value, choices: &mut impl Iterator<Item = (u8, Value)>) -> Value {
    let (choice, chosen) = choices.next().unwrap();
    match value {
        // It exists, so it cannot turn out to be absent.
        Value::String(text) if text == "?" && choice > 0 && chosen != json!("-") => chosen,
        // Strings of no rule. Two other strings may be equal.
        Value::String(text) if text == "*" && choice > 0 => {
            json!(format!("stranger{}", choice % 2))
        }
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(|item| learn(item, choices)).collect();
            if items.first() == Some(&json!("...")) && choice > 0 {
                items.remove(0);
                if choice > 1 {
                    items.insert(usize::from(choice) % (items.len() + 1), chosen);
                }
            }
            Value::Array(items)
        }
        Value::Object(fields) => {
            let mut fields: serde_json::Map<_, _> = fields
                .iter()
                .map(|(name, value)| (name.clone(), learn(value, choices)))
                .collect();
            if !fields.contains_key("=") && choice > 0 {
                if choice > 1 {
                    fields
                        .entry(["a", "b", "c"][usize::from(choice % 3)])
                        .or_insert(chosen);
                }
                fields.insert("=".into(), json!(1));
            }
            Value::Object(fields)
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_text_is_a_rule_or_none(text in ".{0,60}") {
        let mut budget = CelBudget::new();
        if let Some(rule) = CelRule::parse(&text, &mut budget) {
            rule.holds(&PartialValue::Unknown, &mut budget);
            rule.texts();
        }
    }

    #[test]
    fn any_words_are_a_rule_or_none(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..14),
        this in values(),
    ) {
        let mut budget = CelBudget::new();
        if let Some(rule) = CelRule::parse(&words.concat(), &mut budget) {
            rule.holds(&known(&this), &mut budget);
            rule.texts();
        }
    }

    #[test]
    fn more_knowledge_never_changes_a_decided_answer(
        rule in prop::sample::select(RULES),
        this in values(),
        choices in prop::collection::vec((0..5u8, values()), 1..8),
    ) {
        let mut budget = CelBudget::new();
        let parsed = CelRule::parse(rule, &mut budget).unwrap();
        let more = learn(&this, &mut choices.into_iter().cycle());
        if let Some(answer) = parsed.holds(&known(&this), &mut budget) {
            prop_assert_eq!(parsed.holds(&known(&more), &mut budget), Some(answer), "{} of {} and {}", rule, this, more);
        }
    }
}
