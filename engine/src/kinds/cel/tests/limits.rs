//! Rules that are not supported, and rules that would take too long.

use super::{NO, YES, holds};
use crate::kinds::cel::{CelBudget, CelRule, PartialValue};

fn parse(text: &str) -> Option<CelRule> {
    CelRule::parse(text, &mut CelBudget::new())
}

#[test]
fn an_invalid_rule_is_unknown() {
    for text in [
        "",
        "self.",
        "self.kind ==",
        "self.kind = 'x'",
        "self.kind == 'x",
        "self.kind == 'x\n'",
        r"'\q' == self",
        r"'\u00' == self",
        r"'\ud800' == self",
        "(self.a",
        "[1, 2",
        "[1 2]",
        "{'a' 1}",
        "self.all(x, )x",
        "a ? b",
        "a ? b :",
        "!-1 == 1",
        "self & 1",
        "1abc == 1",
        "0x == 0",
        "1e == 1",
        "self.a b",
        "Type{a: 1}",
        "self.`a-b`",
        ".self",
        "in in in",
        "true(1)",
        "self # comment",
    ] {
        assert!(parse(text).is_none(), "{text}");
    }
}

#[test]
fn long_chains_are_not_deep() {
    let many = |link: &str| link.repeat(1_900);
    assert_eq!(holds(&format!("true{}", many(" && true")), "1"), YES);
    assert_eq!(holds(&format!("false{}", many("||false")), "1"), NO);
    assert_eq!(holds(&format!("self{} == 1901", many("+1")), "1"), YES);
    assert_eq!(holds(&format!("self{} == 1", many(".a")), "{}"), None);
    assert_eq!(holds(&format!("{}true", many("!")), "1"), YES);
    assert_eq!(holds(&format!("{}self == 1", many("-")), "1"), YES);
    assert_eq!(holds(&format!("self in [{}1]", many("0,")), "1"), YES);
    assert!(parse(&"true && ".repeat(2_500)).is_none());
    assert!(parse(&format!("true //{}", "x".repeat(20_000))).is_none());
}

#[test]
fn nesting_has_a_limit() {
    let nested = |open: &str, close: &str, depth: usize| {
        let (open, close) = (open.repeat(depth), close.repeat(depth));
        parse(&format!("{open}true{close}"))
    };
    // The last one has every kind of expression at every level.
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("f(", ")"),
        ("size(", ")"),
        ("{1: ", "}"),
        ("a[", "]"),
        ("a.all(x, ", ")"),
        ("true ? true : ", ""),
        ("true ? ", " : true"),
        ("1 || 1 && 1 == 1 + 1 * -self.all(x, ", ")"),
    ] {
        let answer = nested(open, close, 63)
            .map(|rule| rule.holds(&PartialValue::Unknown, &mut CelBudget::new()));
        assert!(answer.is_some(), "{open}");
        assert!(nested(open, close, 64).is_none(), "{open}");
        assert!(nested(open, "", 3_000).is_none(), "{open}");
    }
}

#[test]
fn deep_evaluation_fits_the_stack() {
    let open = "false || true && 0 + 1 * [".repeat(63);
    let close = "].size() == 1".repeat(63);
    assert_eq!(holds(&format!("{open}true{close}"), "1"), YES);
    let open = "false || true && false == ![1].all(x, ".repeat(63);
    let close = ")".repeat(63);
    assert_eq!(holds(&format!("{open}true{close}"), "1"), YES);
}

#[test]
fn a_rule_that_takes_too_long_has_no_answer() {
    let list = format!("[{}1]", "1,".repeat(99));
    let rule = "self.all(a, self.all(b, self.all(c, self.all(d, a + b + c + d == 4))))";
    assert_eq!(holds(rule, &list), None);
    assert_eq!(holds("self.all(a, self.all(b, a == b))", &list), YES);
}

#[test]
fn values_nested_too_deep_are_not_compared() {
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(holds("self == self", &nested(50)), YES);
    assert_eq!(holds("self == self", &nested(120)), None);
}
