//! Expressions as deep as they may be take little stack, and deeper ones never reach the CEL library.

use std::thread;

use kube_cel::KubeCelExt as _;
use kube_cel::cel::Context;

use super::check;
use crate::cost::Sizes;
use crate::expression::Expression;

/// The stack of a thread in bytes: half of what the threads of the server have.
const STACK: usize = 1 << 20;

/// An expression that is nested this deep.
type Shape = fn(usize) -> String;

fn around(open: &str, middle: &str, close: &str, times: usize) -> String {
    format!("{}{middle}{}", open.repeat(times), close.repeat(times))
}

/// Each with the most that is allowed.
const SHAPES: &[(&str, usize, Shape)] = &[
    ("sums", 100, |n| format!("1{}", "+1".repeat(n))),
    ("comparisons", 100, |n| {
        format!("true{}", "==true".repeat(n))
    }),
    ("words", 100, |n| format!("1{}", " in effective".repeat(n))),
    ("fields", 100, |n| format!("effective{}", ".a".repeat(n))),
    ("methods", 50, |n| format!("'a'{}", ".trim()".repeat(n))),
    ("indexes", 100, |n| format!("effective{}", "[1]".repeat(n))),
    ("lists", 32, |n| around("[", "", "]", n)),
    ("maps", 32, |n| around("{'a': ", "1", "}", n)),
    ("brackets", 32, |n| around("(", "true", ")", n)),
    ("negations", 32, |n| around("!(", "true", ")", n)),
    ("signs", 32, |n| around("-(", "1", ")", n)),
    ("calls", 32, |n| around("size(", "'a'", ")", n)),
    ("macros", 32, |n| around("[1].all(a, ", "true", ")", n)),
    ("filters", 24, |n| {
        around("[[1]].filter(a, ", "true", ") == []", n)
    }),
    ("sums in brackets", 32, |n| around("(1 + ", "1", ")", n)),
    ("brackets in sums", 32, |n| around("(", "1", " + 1)", n)),
    ("conditions on the right", 32, |n| {
        format!("{}1", "false ? 1 : ".repeat(n))
    }),
    ("conditions in the middle", 16, |n| {
        around("true ? (", "1", ") : 2", n)
    }),
    ("comments", 32, |n| around("( // ')\n", "1", ")", n)),
];

/// Compiles on a small stack, and evaluates if that may be done.
fn compiled(text: String) -> Result<(), String> {
    let worker = thread::Builder::new().stack_size(STACK);
    let worker = worker.spawn(move || {
        let expression = Expression::compile(&text, true)?;
        let functions = Context::default().with_all();
        let work = expression.work(&Sizes::default());
        // The result does not matter.
        let _ = expression.evaluate(&functions, work);
        Ok(())
    });
    worker.unwrap().join().unwrap()
}

#[test]
fn what_is_as_deep_as_it_may_be_takes_little_stack() {
    for (name, most, shape) in SHAPES {
        let result = compiled(shape(*most));
        assert!(result.is_ok() || *name == "fields", "{name}: {result:?}");
        let why = compiled(shape(most + 1)).unwrap_err();
        assert!(
            why.contains("it is nested too deeply: at most 32"),
            "{name}: {why}"
        );
    }
}

#[test]
fn what_is_as_long_as_it_may_be_is_refused_before_it_is_parsed() {
    for (name, _, shape) in SHAPES {
        let times = 10_000 / shape(1).len();
        let text = shape(times);
        let why = compiled(text).unwrap_err();
        assert!(why.contains("it is nested too deeply"), "{name}: {why}");
    }
    let long = "'".to_owned() + &"a".repeat(10_000) + "'";
    assert_eq!(
        compiled(long).unwrap_err(),
        "it has more than 10000 characters"
    );
}

#[test]
fn what_is_wide_is_not_deep() {
    let all = vec!["a.b.c == [1, 2] && !(x.all(y, y > 1 ? true : false))"; 100].join(" || ");
    assert_eq!(check(&all), Ok(()));
    let list = format!("[{}]", vec!["a ? b : c"; 100].join(", "));
    assert_eq!(check(&list), Ok(()));
    let message = vec!["target.namespace + '/' + target.name"; 20].join(" + ");
    assert_eq!(check(&message), Ok(()));
}

#[test]
fn brackets_in_texts_and_comments_do_not_count() {
    let brackets = "(".repeat(200);
    for hidden in [
        format!("'{brackets}'"),
        format!("\"\\\"{brackets}\""),
        format!("'''a'{brackets}\n'''"),
        format!("r'{brackets}\\'"),
        format!("bR\"{brackets}\""),
        format!("'\\u0028\\x28\\050\\U00000028\\\\'.size() == 1 // {brackets}"),
    ] {
        assert_eq!(check(&hidden), Ok(()), "{hidden}");
    }
}

/// The library continues after a part that it cannot read, so brackets behind it would count.
#[test]
fn what_might_hide_brackets_is_refused() {
    let brackets = "(".repeat(200);
    for (hiding, why) in [
        (
            format!("'\n{brackets}"),
            "column 1: a string does not end on its line",
        ),
        (format!("'{brackets}"), "column 1: a string has no end"),
        (format!("'''{brackets}''"), "column 1: a string has no end"),
        (format!("'\\q{brackets}'"), "column 2: no escape begins so"),
        (
            format!("'\\x2{brackets}'"),
            "column 2: the escape lacks a digit",
        ),
        (
            format!("1r'{brackets}'"),
            "column 1: a string follows a number",
        ),
        (format!("'a' + {brackets}"), "nested too deeply"),
        ("1 +\n (2".to_owned(), "line 2, column 2: '(' is not closed"),
        ("(1]".to_owned(), "column 3: ']' does not close '('"),
        ("1)".to_owned(), "column 2: ')' closes nothing"),
    ] {
        let result = compiled(hiding.clone()).unwrap_err();
        assert!(result.contains(why), "{hiding}: {result}");
    }
}

/// The library reads these as something else.
#[test]
fn what_the_library_misreads_is_refused() {
    for (misread, why) in [
        (
            "!!true",
            "column 2: two operators in a row; write one or none",
        ),
        (
            "1 - - -1 == 1",
            "column 7: two operators in a row; write one or none",
        ),
        ("target.`a`", "column 8: names in ` are not known here"),
        (
            "effective{a: 1}",
            "there is no type \"effective\"; write a map",
        ),
    ] {
        let result = compiled(misread.to_owned()).unwrap_err();
        assert!(result.contains(why), "{misread}: {result}");
    }
    assert_eq!(compiled("1 - -1 == 2 && !(-1 > 2)".to_owned()), Ok(()));
}
