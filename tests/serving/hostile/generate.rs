//! The named lists of values for attempts, and texts too long to write down.

/// Keys with a special meaning in `serde_json` and other libraries.
const MARKERS: [&str; 5] = [
    "$serde_json::private::RawValue",
    "$serde_json::private::Number",
    "$__toml_private_datetime",
    "__yaml_tagged",
    "<<",
];

/// Characters that are invisible, change the direction of text or end a line: one of each category, and letters that
/// fonts leave out.
const HIDDEN: [char; 34] = [
    '\u{1}',
    '\u{7}',
    '\u{8}',
    '\u{1b}',
    '\u{7f}',
    '\u{85}',
    '\u{9b}',
    '\u{a0}',
    '\u{ad}',
    '\u{34f}',
    '\u{61c}',
    '\u{115f}',
    '\u{17b4}',
    '\u{180e}',
    '\u{200b}',
    '\u{200d}',
    '\u{200e}',
    '\u{2028}',
    '\u{2029}',
    '\u{202e}',
    '\u{2060}',
    '\u{2064}',
    '\u{2066}',
    '\u{2069}',
    '\u{206f}',
    '\u{2800}',
    '\u{3000}',
    '\u{3164}',
    '\u{e000}',
    '\u{fe0f}',
    '\u{feff}',
    '\u{ffa0}',
    '\u{e0041}',
    '\u{10ffff}',
];

/// Whether a character must not reach a terminal.
pub(crate) fn is_hidden(c: char) -> bool {
    HIDDEN.contains(&c) || (c.is_control() && c != '\n')
}

/// The list with this name.
pub(crate) fn list(name: &str) -> Option<Vec<String>> {
    match name {
        "markers" => Some(MARKERS.map(str::to_owned).into()),
        // As JSON and YAML escape them.
        "hidden characters" => Some(HIDDEN.iter().map(|c| quoted(*c)).collect()),
        _ => None,
    }
}

fn quoted(c: char) -> String {
    let mut units = [0; 2];
    let units = c.encode_utf16(&mut units).iter();
    units.fold(String::new(), |text, unit| format!("{text}\\u{unit:04x}"))
}

/// Expands `[[N × TEXT]]` to N copies of TEXT, with `%` replaced by the copy's number; innermost first.
pub(crate) fn expanded(text: &str) -> String {
    let mut text = text.to_owned();
    while let Some(end) = text.find("]]")
        && let Some(start) = text[..end].rfind("[[")
        && let Some((count, what)) = text[start + 2..end].split_once(" × ")
    {
        let count: usize = count.parse().expect("a number");
        let mut many = String::with_capacity(count * what.len());
        for number in 0..count {
            many.push_str(&what.replace('%', &number.to_string()));
        }
        text.replace_range(start..end + 2, &many);
    }
    text
}
