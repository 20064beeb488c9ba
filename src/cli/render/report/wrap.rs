//! Wraps text to the width of a terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Wraps a text to lines of at most `width` columns, each indented by `indent` spaces. A word is broken only if it does
/// not fit on its own line: after a slash, dot or comma if there is one.
pub(crate) fn wrap(text: &str, width: Option<usize>, indent: usize) -> Vec<String> {
    let space = " ".repeat(indent);
    let Some(room) = width.map(|width| width.saturating_sub(indent).max(1)) else {
        return vec![format!("{space}{text}")];
    };
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let needed = line.width() + usize::from(!line.is_empty()) + word.width();
        if needed <= room {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        let mut remaining = word;
        while remaining.width() > room {
            let (head, tail) = remaining.split_at(cut(remaining, room));
            lines.push(head.to_owned());
            remaining = tail;
        }
        remaining.clone_into(&mut line);
    }
    lines.push(line);
    lines.iter().map(|line| format!("{space}{line}")).collect()
}

/// The index at which to break a word; never 0.
fn cut(word: &str, room: usize) -> usize {
    let (mut used, mut end, mut after) = (0, 0, 0);
    for (at, c) in word.char_indices() {
        used += c.width().unwrap_or(0);
        if used > room && at > 0 {
            break;
        }
        end = at + c.len_utf8();
        if matches!(c, '/' | '.' | ',') {
            after = end;
        }
    }
    if after > 0 { after } else { end }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
    use unicode_width::UnicodeWidthStr as _;

    use super::wrap;

    #[test]
    fn words_go_on_in_the_next_line() {
        assert_eq!(
            wrap("HTTPRoute shop/cart has no rule", Some(16), 2),
            ["  HTTPRoute", "  shop/cart has", "  no rule"]
        );
        assert_eq!(wrap("a b", None, 2), ["  a b"]);
        let long = wrap("apps/shop/base/policies.yaml:25:80", Some(20), 0);
        assert_eq!(long, ["apps/shop/base/", "policies.yaml:25:80"]);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_and_nothing_is_lost(text in "[a-z/.é漢 ]{0,200}", width in 2_usize..80) {
            let lines = wrap(&text, Some(width), 0);
            for line in &lines {
                prop_assert!(line.width() <= width, "{line:?}");
            }
            let without = |text: &str| text.replace(' ', "");
            prop_assert_eq!(without(&lines.concat()), without(&text));
        }
    }
}
