//! Tests of the errors of compilation, and of expressions that must not use up the memory of the
//! server.

use kube_cel::KubeCelExt as _;
use kube_cel::cel::{Context, Value};

use super::Expression;
use crate::cost::Sizes;
use crate::functions::Functions;
use crate::value_type::NameOf;

/// Why a requirement is refused.
fn refused(text: &str, is_of_kind: bool) -> String {
    Expression::requirement(text, is_of_kind).unwrap_err()
}

#[test]
fn a_requirement_that_is_never_true_or_false_is_refused() {
    for (text, what) in [
        ("size(protections)", "a number"),
        ("protections", "a list"),
        ("[true]", "a list"),
        ("{'a': true}", "a map"),
        ("null", "null"),
        ("effective", "an object"),
        ("effective.sources", "a map"),
        ("request.userInfo.groups", "a list"),
        ("request.userInfo.username", "a string"),
        ("policies[0].attachedTo", "an object"),
        ("policies.map(one, one.name)", "a list"),
        ("true ? 'yes' : 'no'", "a string"),
        ("target.labels.team", "a string"),
        ("string(1)", "a string"),
    ] {
        let why = format!("its result is {what}; a requirement must be true or false");
        assert_eq!(refused(text, true), why, "{text}");
    }
    for text in [
        "effective.spec.enabled",
        "policies[0].inForce",
        "has(effective.spec.jwt)",
        "policies.exists(one, one.inForce)",
        "policies.exists_one(one, one.inForce)",
        "true ? has(effective.spec.a) : effective.spec.b",
        "size(protections) > 0",
        "gateway == null || gateway.labels['team'] == 'shop'",
        "effective.sources['/jwt'].namespace == 'infra'",
        "before == null || before.policies.all(one, one.name != 'a')",
        "request.operation in ['CREATE', 'UPDATE']",
        "target.name.matches('^a.*$')",
        "sets.contains(protections, ['authentication'])",
        "ip.isCanonical('1.2.3.4')",
    ] {
        let result = Expression::requirement(text, true).map(drop);
        assert_eq!(result, Ok(()), "{text}");
    }
    for text in [
        "effective.exists(kind, effective[kind].spec.a)",
        "before == null || 'K.g' in before.effective",
    ] {
        let result = Expression::requirement(text, false).map(drop);
        assert_eq!(result, Ok(()), "{text}");
    }
}

#[test]
fn names_that_do_not_exist_are_refused() {
    for (text, why) in [
        ("nwo() > 1", "there is no function \"nwo\""),
        (
            "target.name.startWith('a')",
            "there is no function \"startWith\"; did you mean \"startsWith\"?",
        ),
        (
            "sets.contain(protections, [])",
            "there is no function \"sets.contain\"; did you mean \"sets.contains\"?",
        ),
        (
            "policies.all(one)",
            "all() takes a name and a condition: policies.all(one, …)",
        ),
        (
            "target.name.matches('(')",
            "\"(\" is not a regular expression: unclosed group",
        ),
        (
            "matches(target.name, '[')",
            "\"[\" is not a regular expression: unclosed character class",
        ),
        (
            "has(effective.source)",
            "effective has no field \"source\"; did you mean \"sources\"?",
        ),
        (
            "effective.speck.retries > 1",
            "effective has no field \"speck\"; did you mean \"spec\"?",
        ),
        (
            "before.effective != null",
            "before has no field \"effective\"; there are spec, sources, policies, protections",
        ),
        (
            "request.operation == 'create'",
            "request.operation is never \"create\"; did you mean \"CREATE\"?",
        ),
        (
            "effective.sources['/jwt'] == 'infra/x'",
            "effective.sources[…] is an object, so it never equals a string; it has group, kind, namespace, name",
        ),
        (
            "protections == 'authentication'",
            "protections is a list, so it never equals a string",
        ),
        (
            "protections && true",
            "protections is a list; a condition is true or false",
        ),
        (
            "!target.name",
            "target.name is a string; a condition is true or false",
        ),
        (
            "'a' in target.name",
            "target.name is a string; the operator in needs a list or a map",
        ),
    ] {
        assert_eq!(refused(text, true), why, "{text}");
    }
    for text in [
        "effective.spec.jwt == 1",
        "has(before.spec)",
        "effective.sources == {}",
    ] {
        let why = refused(text, false);
        assert!(
            why.starts_with("without spec.policyKind, effective is a map"),
            "{why}"
        );
    }
    let why = "effective[…] has no field \"speck\"; did you mean \"spec\"?";
    assert_eq!(refused("effective['K.g'].speck == 1", false), why);
}

#[test]
fn comparisons_that_never_hold_are_refused() {
    for (text, why) in [
        (
            "policies.size() != '0'",
            "policies.size() is a number, so it never equals a string",
        ),
        (
            "int(target.labels['n']) != '5'",
            "int(target.labels[…]) is a number, so it never equals a string",
        ),
        ("5 != '5'", "5 is a number, so it never equals a string"),
        (
            "!(listener.port in ['80', '443'])",
            "listener.port is a number, so it is never in that list",
        ),
        (
            "policies == null",
            "policies is a list, so it never equals null",
        ),
    ] {
        assert_eq!(refused(text, true), why, "{text}");
    }
}

#[test]
fn protections_are_found_in_all_forms() {
    for text in [
        "'x' in protections",
        "'x' in before.protections",
        "protections.exists(one, one == 'x')",
        "protections.exists(one, one in ['x'])",
        "protections[0] == 'x'",
        "['x'].all(one, one in protections)",
        "sets.contains(protections, ['x'])",
        "protections == ['x']",
        "size(protections.filter(one, one != 'x')) > 0",
    ] {
        let compiled = Expression::requirement(text, true).unwrap();
        let names: Vec<_> = compiled.names().collect();
        assert_eq!(names, [(NameOf::Protection, "x")], "{text}");
    }
    let other =
        Expression::requirement("target.name == 'x' || policies.all(p, p.name == 'x')", true);
    assert_eq!(other.unwrap().names().count(), 0);
}

#[test]
fn kinds_are_compared_in_all_forms() {
    for (text, of) in [
        ("target.kind != 'x' || true", NameOf::TargetKind),
        ("target.kind in ['x']", NameOf::TargetKind),
        ("policies.all(p, p.kind == 'x')", NameOf::PolicyKind),
        (
            "before.policies.exists(p, 'x' == p.kind)",
            NameOf::PolicyKind,
        ),
    ] {
        let compiled = Expression::requirement(text, true).unwrap();
        assert_eq!(compiled.names().collect::<Vec<_>>(), [(of, "x")], "{text}");
    }
}

#[test]
fn keys_of_effective_are_kinds_with_their_groups() {
    for text in [
        "'x' in effective",
        "!('x' in effective)",
        "effective['x'].spec.jwt != null",
        "has(effective['x'].spec.jwt)",
        "effective.exists(kind, kind == 'x')",
        "'x' in before.effective",
    ] {
        let compiled = Expression::requirement(text, false).unwrap();
        let names: Vec<_> = compiled.names().collect();
        assert_eq!(names, [(NameOf::KindAndGroup, "x")], "{text}");
    }
    let why =
        "effective is a map from kinds: write effective[\"K.group\"], or \"K.group\" in effective";
    assert_eq!(refused("has(effective.K)", false), why);
}

#[test]
fn one_element_decides_wherever_it_is() {
    let evaluated = |text: &str| {
        let expression = Expression::compile(text, true).unwrap();
        let work = expression.work(&Sizes::default());
        expression.evaluate(&Functions::default().scope(), work)
    };
    for (text, result) in [
        ("[{}, {'a': 1}].exists(one, one.a == 1)", true),
        ("[{'a': 1}, {}].exists(one, one.a == 1)", true),
        (
            "'日本'.size() == 2 && size('é') == 1 && [1].size() == 1",
            true,
        ),
        ("[{}, {'a': 2}].all(one, one.a == 1)", false),
        (
            "[[1], [{}, {'a': 1}]].exists(list, list.exists(one, one.a == 1))",
            true,
        ),
        (
            "{'b': 1, 'c': 1, 'a': 1}.map(key, key) == ['a', 'b', 'c']",
            true,
        ),
        ("{'a': 1}.exists(key, key == 'a')", true),
        ("[].all(one, one.a == 1)", true),
    ] {
        assert_eq!(evaluated(text), Ok(Value::Bool(result)), "{text}");
    }
    let why = "there is no field \"a\"; test it with has() first";
    for text in [
        "[{}, {'a': 2}].exists(one, one.a == 1)",
        "[{'a': 1}, {}].all(one, one.a == 1)",
    ] {
        assert_eq!(evaluated(text), Err(why.to_owned()), "{text}");
    }
}

#[test]
fn the_remedy_for_a_missing_key_fits_how_it_is_read() {
    let why = |text: &str| {
        let expression = Expression::compile(text, true).unwrap();
        let work = expression.work(&Sizes::default());
        let evaluated = expression.evaluate(&Functions::default().scope(), work);
        evaluated.unwrap_err()
    };
    let with_has = "there is no field \"a\"; test it with has() first";
    assert_eq!(why("[{}].exists(one, one.a == 1)"), with_has);
    assert_eq!(
        why("[{}].exists(one, one['a'] == 1)"),
        "there is no key \"a\" in one; write 'a' in one && …"
    );
    // Either of the two may be the reason.
    assert_eq!(why("[{}].exists(one, one['a'] == one.a)"), with_has);
}

#[test]
fn the_message_of_the_parser_is_one_plain_sentence() {
    for (text, why) in [
        ("true &&", "the expression ends too early"),
        ("1 +* 2", "'*' is not expected here"),
        ("true false", "'false' is not expected here"),
    ] {
        let said = refused(text, true);
        let (_, said) = said.split_once(": ").unwrap();
        assert_eq!(said, why, "{text}");
    }
}

#[test]
fn large_values_are_not_made() {
    let evaluated = |text: &str| {
        let expression = Expression::compile(text, true)?;
        let functions = Context::default().with_all();
        let work = expression.work(&Sizes::default());
        expression.evaluate(&functions, work).map(drop)
    };
    assert!(evaluated("lists.range(99999999999) == []").is_err());
    let long = "a".repeat(900);
    for large in [
        format!("'{long}'.replace('a', '{long}').replace('a', '{long}').size() > 1"),
        format!(
            "['{long}'].map(a, [a + a + a + a + a + a + a + a].map(b, [b + b + b + b + b + b + b + b].map(c, [c + c + c + c + c + c + c + c].map(d, [d + d + d + d + d + d + d + d].map(e, [e + e + e + e + e + e + e + e].map(f, f + f + f + f))))))  == []"
        ),
    ] {
        let why = evaluated(&large).unwrap_err();
        assert!(why.contains("it may "), "{why}");
    }
    // The library panics on a precision that Rust does not have.
    assert!(evaluated("'%.99999f'.format([1.5]) == ''").is_err());
    assert_eq!(
        evaluated("'a-b'.replace('-', '.').replace('.', '/') == 'a/b'"),
        Ok(())
    );
}

/// The result of an expression without variables.
fn evaluated(text: &str) -> Result<Value, String> {
    let functions = Functions::default();
    let expression = Expression::compile(text, true).unwrap();
    let work = expression.work(&Sizes::default());
    expression.evaluate(&functions.scope(), work)
}

#[test]
fn a_field_of_what_has_no_fields_is_an_error() {
    for text in [
        "[{'a': 1}].map(one, one)[0].b != 1",
        "[[1]].all(one, one.a != 1)",
        "['a'].all(one, one.b != 'c')",
        "[null].all(one, !has(one.b))",
        "[[1]].all(one, !has(one.b))",
        "!has(([[1]][0]).b)",
    ] {
        assert!(evaluated(text).is_err(), "{text}");
    }
    for text in [
        "[{'a': 1}].all(one, one.a == 1 && !has(one.b))",
        "has(({'a': {'b': 1}}).a.b)",
    ] {
        assert_eq!(evaluated(text), Ok(Value::Bool(true)), "{text}");
    }
    let why = "policies is a list and has no field \"name\": write policies.exists(one, …) or policies[0]";
    assert_eq!(refused("policies.name != 'x'", true), why);
    let why = "request.operation is a string and has no field \"x\"";
    assert_eq!(refused("request.operation.x != 'x'", true), why);
}

#[test]
fn whole_numbers_are_equal_however_they_are_written() {
    for text in [
        "[5].all(one, one == 5.0)",
        "[5].all(one, one in [5.0, 6.5])",
        "![5].exists(one, one != 5.0)",
        "[2.5].all(one, one == 2.5)",
    ] {
        assert_eq!(evaluated(text), Ok(Value::Bool(true)), "{text}");
    }
}
