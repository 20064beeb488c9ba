//! Label selectors in kubectl's syntax: `a=b,c!=d,e in (x,y),f notin (x),g,!h`.

use std::sync::Arc;

use crate::engine::model::selector::{Expression, Operator, Selector};

/// The longest label key: a name of 63 characters after a prefix of 253.
const MAX_KEY_LENGTH: usize = 63 + 1 + 253;
/// The longest selector, in bytes; more than anyone writes by hand.
const LONGEST_SELECTOR: usize = 16 << 10;

/// Parses a selector. An empty one selects everything.
///
/// # Errors
/// If the syntax is wrong; the message names the part.
pub(super) fn selector(text: &str) -> Result<Selector, String> {
    if text.trim().is_empty() {
        return Ok(Selector::default());
    }
    if text.len() > LONGEST_SELECTOR {
        return Err(format!("longer than {LONGEST_SELECTOR} bytes"));
    }
    let parts = split(text)?;
    let expressions: Result<Vec<Expression>, String> = parts.into_iter().map(expression).collect();
    Ok(Selector::by_expressions(expressions?))
}

/// Splits at the commas outside of parentheses.
fn split(text: &str) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let (mut start, mut open) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '(' if open => return Err(format!("{text:?}: a parenthesis within another")),
            '(' => open = true,
            ')' if !open => {
                return Err(format!(
                    "{text:?}: a closing parenthesis without an opening one"
                ));
            }
            ')' => open = false,
            ',' if !open => {
                parts.push(text.get(start..at).unwrap_or_default().trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if open {
        return Err(format!("{text:?}: a parenthesis is not closed"));
    }
    parts.push(text.get(start..).unwrap_or_default().trim());
    Ok(parts)
}

fn expression(part: &str) -> Result<Expression, String> {
    if part.is_empty() {
        return Err("a part of the selector is empty: two commas, or one at an end".to_owned());
    }
    if let Some(list) = part.strip_suffix(')') {
        return set(part, list);
    }
    for (sign, operator) in [
        ("!=", Operator::NotIn),
        ("==", Operator::In),
        ("=", Operator::In),
    ] {
        if let Some((key, value)) = part.split_once(sign) {
            return Ok(Expression::new(
                key_of(part, key)?,
                operator,
                vec![value_of(part, value)?],
            ));
        }
    }
    match part.strip_prefix('!') {
        Some(key) => Ok(Expression::new(
            key_of(part, key)?,
            Operator::DoesNotExist,
            Vec::new(),
        )),
        None => Ok(Expression::new(
            key_of(part, part)?,
            Operator::Exists,
            Vec::new(),
        )),
    }
}

/// Parses `key in (x,y)` or `key notin (x,y)`, without the last parenthesis.
fn set(part: &str, text: &str) -> Result<Expression, String> {
    let wrong = || format!("{part:?}: write KEY in (VALUE,VALUE) or KEY notin (VALUE,VALUE)");
    let (front, values) = text.split_once('(').ok_or_else(wrong)?;
    let mut words = front.split_whitespace();
    let (Some(key), Some(word), None) = (words.next(), words.next(), words.next()) else {
        return Err(wrong());
    };
    let operator = match word {
        "in" => Operator::In,
        "notin" => Operator::NotIn,
        _ => return Err(wrong()),
    };
    let values: Result<Vec<Arc<str>>, String> = values
        .split(',')
        .map(|value| value_of(part, value))
        .collect();
    Ok(Expression::new(key_of(part, key)?, operator, values?))
}

fn key_of<'a>(part: &str, key: &'a str) -> Result<&'a str, String> {
    let key = key.trim();
    if key.is_empty()
        || key.len() > MAX_KEY_LENGTH
        || !key.chars().all(|c| is_of_name(c) || c == '/')
    {
        return Err(format!("{part:?}: {key:?} is not a valid label key"));
    }
    Ok(key)
}

fn value_of(part: &str, value: &str) -> Result<Arc<str>, String> {
    let value = value.trim();
    if !value.chars().all(is_of_name) {
        return Err(format!("{part:?}: {value:?} is not a valid label value"));
    }
    Ok(value.into())
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

#[cfg(test)]
mod tests {
    use super::selector;

    fn selects(text: &str, labels: &[(&str, &str)]) -> bool {
        let labels = labels.iter().map(|(k, v)| ((*k).into(), (*v).into()));
        selector(text).unwrap().selects(&labels.collect())
    }

    #[test]
    fn all_forms_of_kubectl_are_read() {
        let labels = [("app", "cart"), ("env", "prod"), ("a.io/x", "")];
        for (text, expected) in [
            ("", true),
            ("app=cart", true),
            ("app==cart", true),
            (" app = cart , env = prod ", true),
            ("app=shop", false),
            ("app!=shop", true),
            ("tier!=front", true),
            ("app in (shop, cart)", true),
            ("app in (shop)", false),
            ("env notin (test,dev),app", true),
            ("env notin (prod)", false),
            ("tier notin (front)", true),
            ("env", true),
            ("tier", false),
            ("!tier", true),
            ("! env", false),
            ("a.io/x=", true),
            ("a.io/x", true),
            ("app in (cart),!tier,env!=dev", true),
        ] {
            assert_eq!(selects(text, &labels), expected, "{text:?}");
        }
    }

    #[test]
    fn an_invalid_selector_is_refused_with_the_invalid_part() {
        for (text, message) in [
            (",", "empty"),
            ("a=b,", "empty"),
            ("a in (b", "not closed"),
            ("a in b)", "without an opening one"),
            ("a in ((b))", "within another"),
            ("a within (b)", "KEY in (VALUE,VALUE)"),
            ("in (b)", "KEY in (VALUE,VALUE)"),
            ("(a)", "KEY in (VALUE,VALUE)"),
            ("=b", "label key"),
            ("!", "label key"),
            ("a b", "label key"),
            ("a>1", "label key"),
            ("a=b=c", "label value"),
            ("a=\u{1b}[31m", "label value"),
            ("a\n=b\nc", "label value"),
            ("ü=b", "label key"),
        ] {
            let why = selector(text).unwrap_err();
            assert!(why.contains(message), "{text:?}: {why}");
            assert!(!why.contains(['\u{1b}', '\n']), "{why:?}");
        }
        assert!(selector(&"a".repeat(1 << 20)).is_err());
        assert!(selector(&",".repeat(1 << 16)).is_err());
    }
}
