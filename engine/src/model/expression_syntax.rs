//! The syntax of regular expressions of controllers: RE2, which Go and Envoy read.

/// Whether a text is certainly no regular expression in RE2. What only the syntax of Rust refuses (quotes `\Q…\E`, bytes
/// `\C`, octal numbers) is one.
pub(crate) fn is_no_expression(text: &str) -> bool {
    let may_be_re2 = text
        .split('\\')
        .skip(1)
        .any(|escape| escape.starts_with(['Q', 'E', 'C', '0', '1', '2', '3', '4', '5', '6', '7']));
    !may_be_re2 && regex_syntax::parse(text).is_err()
}

#[cfg(test)]
mod tests {
    use super::is_no_expression;

    #[test]
    fn what_no_syntax_takes_is_none() {
        for text in ["(", "[a", "a{2,1}", "(?=secret)", "(?<!a)b", "*a", "\\"] {
            assert!(is_no_expression(text), "{text}");
        }
    }

    #[test]
    fn what_only_one_syntax_refuses_may_be_one() {
        for text in [
            "",
            "^/a+$",
            "\\Qa(b\\E",
            "\\101",
            "(?P<name>a)",
            "[[:alpha:]]",
        ] {
            assert!(!is_no_expression(text), "{text}");
        }
    }
}
