//! Rules evaluated on partly known values.

mod laws;
mod limits;
mod real;

use serde_json::Value;

use super::{CelBudget, CelRule, PartialValue};

/// A value as JSON: `"?"` is unknown, `"*"` another string, `"-"` absent. All fields of an object with the field `=`
/// are known; a list that begins with `"..."` may have further elements.
fn known(json: &Value) -> PartialValue {
    match json {
        Value::Null => PartialValue::Null,
        Value::Bool(value) => PartialValue::Bool(*value),
        Value::Number(number) => PartialValue::Int(number.as_i64().unwrap()),
        Value::String(text) if text == "?" => PartialValue::Unknown,
        Value::String(text) if text == "*" => PartialValue::OtherString,
        Value::String(text) if text == "-" => PartialValue::Absent,
        Value::String(text) => PartialValue::Text(text.as_str().into()),
        Value::Array(items) => match items.split_first() {
            Some((Value::String(text), items)) if text == "..." => {
                PartialValue::ListContaining(items.iter().map(known).collect())
            }
            _ => PartialValue::List(items.iter().map(known).collect()),
        },
        Value::Object(fields) => PartialValue::Map {
            fields: fields
                .iter()
                .filter(|(name, _)| *name != "=")
                .map(|(name, value)| (name.as_str().into(), known(value)))
                .collect(),
            complete: fields.contains_key("="),
        },
    }
}

fn holds(rule: &str, this: &str) -> Option<bool> {
    let mut budget = CelBudget::new();
    let parsed = CelRule::parse(rule, &mut budget);
    let parsed = parsed.unwrap_or_else(|| panic!("not understood: {rule}"));
    parsed.holds(&known(&serde_json::from_str(this).unwrap()), &mut budget)
}

/// Checks the answer of each rule for one value.
fn say(this: &str, rules: &[(&str, Option<bool>)]) {
    for (rule, answer) in rules {
        assert_eq!(holds(rule, this), *answer, "{rule} of {this}");
    }
}

const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);

#[test]
fn a_field_that_is_not_mentioned_may_be_there_unless_all_are_known() {
    let rules = |absent| {
        [
            ("has(self.a)", YES),
            ("has(self.b)", absent),
            ("has(self.a) || has(self.b)", YES),
            ("!has(self.b)", absent.map(|absent| !absent)),
            // Selecting a missing field fails.
            ("self.b == 'x'", None),
            ("self['b'] == 'x'", None),
            ("'a' in self", YES),
            ("'b' in self", absent),
        ]
    };
    say(r#"{"a":"?"}"#, &rules(None));
    say(r#"{"a":"?","=":1}"#, &rules(NO));
    // An unknown value may not be an object at all.
    say(r#"{"a":"?"}"#, &[("has(self.a.b)", None)]);
    say(r#""?""#, &[("has(self.a)", None), ("true", YES)]);
}

#[test]
fn a_stranger_is_no_text_that_is_known() {
    say(
        r#"{"a":"*","b":"*","c":"x"}"#,
        &[
            ("self.a == 'Gateway'", NO),
            ("self.a != 'Gateway'", YES),
            ("self.a == self.c", NO),
            ("self.a == self.b", None),
            ("self.a in ['Gateway', 'HTTPRoute']", NO),
            ("self.a in ['Gateway', self.b]", None),
            ("self.a in ['Gateway', self.unheard]", None),
            ("self.a == null", NO),
            ("self.a.endsWith('Set')", None),
            ("self.a.size() == 0", NO),
            ("self.a.size() >= 0", YES),
            ("self.a < 'x'", None),
            // A concatenated string is not a literal of the rule.
            ("self.a == 'HTTP' + 'Route'", None),
        ],
    );
}

#[test]
fn one_part_decides_whatever_the_others_are() {
    for unknown in [
        "self.u",
        "self.u == 1",
        "self.missing.x",
        "older.x",
        "isURL('x')",
        "1 / 0 == 1",
        "quantity('1').isLessThan(quantity('2'))",
        "self.?a.orValue(true)",
        "self.t.matches('^x$')",
        "1.5 > 1.0",
        "{'a': 1, 'b': 2,}.a == 1",
        "b'x' == b'x'",
        "self.list.map(i, v, i == v) == []",
        "self[?'a'].hasValue()",
    ] {
        let this = r#"{"u":"?","t":"x","list":[1],"=":1}"#;
        let answer = |rule: &str| holds(rule, this);
        assert_eq!(answer(&format!("{unknown} && false")), NO, "{unknown}");
        assert_eq!(answer(&format!("false && {unknown}")), NO, "{unknown}");
        assert_eq!(answer(&format!("{unknown} || true")), YES, "{unknown}");
        assert_eq!(answer(&format!("true || {unknown}")), YES, "{unknown}");
        assert_eq!(answer(&format!("{unknown} || false")), None, "{unknown}");
        assert_eq!(answer(&format!("true && {unknown}")), None, "{unknown}");
    }
}

#[test]
fn a_ternary_with_equal_branches_needs_no_condition() {
    say(
        r#"{"a":1,"u":"?"}"#,
        &[
            ("has(self.b) ? true : true", YES),
            ("has(self.b) ? self.a == 2 : false", NO),
            ("has(self.b) ? true : false", None),
            ("has(self.b) ? self.a == 2 : true", None),
            ("has(self.a) ? true : self.missing", YES),
            ("(has(self.b) ? 'x' : 'x') == 'x'", YES),
            ("(has(self.b) ? 'x' : 'y') == 'z'", None),
            // `self.b` may be missing, and then evaluation fails.
            ("self.b == 1 ? true : true", None),
            ("self.u == 1 ? true : true", YES),
        ],
    );
}

#[test]
fn numbers_are_known_by_their_bounds() {
    say(
        r#"{"a":1,"b":2}"#,
        &[
            ("self.a + self.b * 2 == 5", YES),
            ("-self.a - -self.b == 1", YES),
            ("7 / 2 == 3 && -7 / 2 == -3 && -7 % 3 == -1", YES),
            ("0x10 == 16 && 1u == 1 && self.a < 2u", YES),
            ("9223372036854775807 + 1 > 0", None),
            ("1u - 2u < 0", None),
            ("(has(self.x) ? 1 : 0) + (has(self.y) ? 1 : 0) <= 2", YES),
            ("(has(self.x) ? 1 : 0) + 2 > 1", YES),
            ("(has(self.x) ? 1 : 0) - 2 >= 0", NO),
            ("(has(self.x) ? 1 : 0) * -3 == 1", NO),
            ("(has(self.x) ? 1 : 0) == 1", None),
            ("(has(self.x) ? 1 : 0) != 2", YES),
        ],
    );
}

#[test]
fn texts_are_compared_exactly() {
    say(
        r#""Gateway""#,
        &[
            (
                "self.startsWith('Gate') && self.endsWith(\"way\") && self.contains('tew')",
                YES,
            ),
            ("self.endsWith('Set')", NO),
            ("self.size() == 7 && size(self) == 7", YES),
            ("size('Ä') == 1", YES),
            ("self < 'Hateway' && 'Hateway' >= self", YES),
            (r"'\x47\u0061\164e\U00000077ay' == self", YES),
            (r"r'\d' == '\\d' && r'\d' != 'd'", YES),
            ("'''Gate''' + 'way' == self", None),
            ("'''it's''' == \"it's\" // as in Python", YES),
            ("self == 1", None),
            ("self == null", NO),
        ],
    );
}

#[test]
fn macros_answer_when_the_elements_they_know_decide() {
    say(
        r#"[{"kind":"A"},{"kind":"B"},"?"]"#,
        &[
            ("self.all(r, r.kind == 'A')", NO),
            ("self.all(r, r.kind in ['A', 'B'])", None),
            ("self.exists(r, r.kind == 'A')", YES),
            ("self.exists(r, r.kind == 'C')", None),
            ("self.exists_one(r, r.kind == 'A')", None),
            ("self.size() == 3", YES),
            ("self[1].kind == 'B' && self[0].kind != 'B'", YES),
            ("self[3].kind == 'B'", None),
        ],
    );
    say(
        "[1, 2, 3]",
        &[
            ("self.exists_one(i, i > 2)", YES),
            ("self.exists_one(i, i > 1)", NO),
            ("self.filter(i, i > 1).map(i, i * 2) == [4, 6]", YES),
            ("self.filter(i, i > 1).size() == 2", YES),
            ("self.filter(i, i > 1).all(i, i in [2, 3])", YES),
            ("self.all(self, self > 0)", YES),
            ("self.all(i, self.exists(j, i == j))", YES),
        ],
    );
    say(
        r#"[1, 1, "?"]"#,
        &[
            // A second match is enough, whatever the third element is.
            ("self.exists_one(i, i == 1)", NO),
            ("self.filter(i, i == 1).size() == 2", None),
            ("self.map(i, i == 1) == [true, true, false]", None),
            ("self.map(i, i == 1) == [false, false, false]", NO),
        ],
    );
    say(r#""?""#, &[("self.all(i, true)", None)]);
}

#[test]
fn macros_of_objects_go_over_their_keys() {
    let open = r#"{"a":1}"#;
    let complete_object = r#"{"a":1,"=":1}"#;
    for (rule, of_open, of_whole) in [
        ("self.all(k, k == 'a')", None, YES),
        ("self.all(k, k == 'b')", NO, NO),
        ("self.exists(k, k == 'a')", YES, YES),
        ("self.exists(k, k == 'b')", None, NO),
        ("self.map(k, k) == ['a']", None, None),
        ("self.size() == 1", None, YES),
        ("self.size() > 0", YES, YES),
    ] {
        assert_eq!(holds(rule, open), of_open, "{rule}");
        assert_eq!(holds(rule, complete_object), of_whole, "{rule}");
    }
    // There may be no key at all.
    say(
        "{}",
        &[("self.exists(k, true)", None), ("self.all(k, false)", None)],
    );
}

#[test]
fn lists_and_objects_are_equal_part_by_part() {
    say(
        r#"{"l":[1,"?"],"m":{"a":1,"=":1},"n":{"a":1},"o":{"a":2}}"#,
        &[
            ("self.l == [1, 2]", None),
            ("self.l == [1]", NO),
            ("[1, 'x', true, null] == [1, 'x', true, null]", YES),
            ("[1, 2] == [3, 4]", NO),
            // They are equal as sets, and the schema may declare them as such.
            ("[1, 2] == [2, 1]", None),
            ("self.m == self.m", YES),
            ("self.m == self.n", None),
            ("self.m == self.o", NO),
            ("self.l in [[1], [2]]", NO),
            ("[1] + [2] == [1, 2]", None),
        ],
    );
}

#[test]
fn fields_have_the_names_that_the_schema_gives_them() {
    say(
        r#"{"namespace":"a","x-y.z":"b","c__d":"c"}"#,
        &[
            ("self.__namespace__ == 'a' && has(self.__namespace__)", YES),
            ("self.x__dash__y__dot__z == 'b'", YES),
            ("self.c__underscores__d == 'c'", YES),
            ("has(self.c__d)", None),
        ],
    );
}

#[test]
fn a_rule_about_a_change_refuses_no_new_object() {
    say(
        r#"{"a":1}"#,
        &[
            ("self.a == oldSelf.a", None),
            ("self.a == 2 && self.a == oldSelf.a", None),
            ("self.a == 1 || self.a == oldSelf.a", YES),
        ],
    );
}

#[test]
fn texts_of_a_rule_are_the_candidates() {
    let rule = "self.kind in ['HTTPRoute', \"Gateway\"] || self.kind == 'Gateway' || foo(r'x')";
    let rule = CelRule::parse(rule, &mut CelBudget::new()).unwrap();
    let texts: Vec<_> = rule.texts().into_iter().collect();
    assert_eq!(texts, ["Gateway", "HTTPRoute", "x"]);
}

#[test]
fn a_list_that_may_have_other_elements() {
    say(
        r#"["...","x","x"]"#,
        &[
            ("self.all(e, e == 'y')", NO),
            ("self.all(e, e == 'x')", None),
            ("self.exists(e, e == 'x')", YES),
            ("self.exists(e, e == 'y')", None),
            ("self.exists_one(e, e == 'x')", None),
            ("self.filter(e, e == 'x').size() == 2", None),
            ("self.size() >= 2", YES),
            ("self.size() < 2", NO),
            ("self.size() == 2", None),
            ("self[0] == 'x'", None),
            ("'x' in self", YES),
            ("'y' in self", None),
            ("self == ['x', 'x']", None),
        ],
    );
}

#[test]
fn a_missing_field() {
    say(
        r#"{"a":"-","b":"?"}"#,
        &[
            ("has(self.a)", NO),
            ("has(self.b)", YES),
            ("has(self.c)", None),
            ("self.a == 'x'", None),
            ("'a' in self", NO),
            ("self.exists(k, k == 'b')", YES),
            ("self.exists(k, k == 'a')", None),
            ("self.size() > 0", YES),
            ("self.size() > 1", None),
        ],
    );
}
