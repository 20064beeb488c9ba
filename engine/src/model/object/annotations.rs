//! Annotations with short values. Others may be as large as the object, and do not contain names.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::model::label_map::LabelMap;
use crate::model::projected;

/// The annotation by which an object suppresses findings about itself.
pub const IGNORE: &str = "attache.dev/ignore";

/// The annotation by which a target asks for exceptions from guardrails.
pub const GUARDRAIL_EXCEPTIONS: &str = "attache.dev/guardrail-exceptions";

/// The value in the place of one with reasons that is too long.
pub const TOO_LONG: &str = "\0";

/// The maximum length of a value that is kept, in bytes: 253 for a name, and two quotes.
const MAX_VALUE_BYTES: usize = 255;
/// The maximum length of a value that contains reasons, in bytes.
pub const LONGEST_WITH_REASONS: usize = 4096;

/// Annotations of an object.
pub type Annotations = LabelMap;

/// Unparsed annotations; long ones are never copied.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct Raw<'a>(#[serde(borrow)] BTreeMap<Arc<str>, &'a RawValue>);

/// The annotations whose values are short strings. [`TOO_LONG`] stands for one with reasons that is too long.
pub fn short(raw: Option<Raw<'_>>) -> Annotations {
    let pairs = raw.into_iter().flat_map(|Raw(raw)| raw);
    let short = pairs.filter_map(|(key, value)| {
        let value = value.get();
        let value = if [IGNORE, GUARDRAIL_EXCEPTIONS].contains(&&*key) {
            with_reasons(value)
        } else {
            let longest = if *key == *projected::ANNOTATION {
                // Quotes in it are escaped.
                2 * projected::MAX_TEXT_BYTES
            } else {
                MAX_VALUE_BYTES
            };
            let is_short = value.len() <= longest;
            is_short.then(|| serde_json::from_str(value).ok()).flatten()
        };
        Some((key, value?))
    });
    short.collect()
}

/// A value with reasons.
fn with_reasons(json: &str) -> Option<Arc<str>> {
    // An escape has six characters at most.
    if json.len() > 6 * LONGEST_WITH_REASONS + 2 {
        return Some(TOO_LONG.into());
    }
    let text: Arc<str> = serde_json::from_str(json).ok()?;
    let is_long = text.len() > LONGEST_WITH_REASONS;
    Some(if is_long { TOO_LONG.into() } else { text })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{GUARDRAIL_EXCEPTIONS, IGNORE, LONGEST_WITH_REASONS, Raw, TOO_LONG, short};

    #[test]
    fn reasons_may_be_long_and_what_is_too_long_is_not_forgotten() {
        for key in [IGNORE, GUARDRAIL_EXCEPTIONS] {
            // Each of these characters has two in JSON.
            for text in ["\n".repeat(LONGEST_WITH_REASONS), "a".repeat(300)] {
                let json = json!({key: text, "other": "a".repeat(300)}).to_string();
                let kept = short(Some(serde_json::from_str::<Raw<'_>>(&json).unwrap()));
                assert_eq!(kept.len(), 1);
                assert_eq!(kept.get(key).map(|text| &**text), Some(&*text));
            }
            for times in [LONGEST_WITH_REASONS + 1, 100_000] {
                let json = json!({key: "a".repeat(times)}).to_string();
                let kept = short(Some(serde_json::from_str::<Raw<'_>>(&json).unwrap()));
                assert_eq!(kept.get(key).map(|text| &**text), Some(TOO_LONG), "{times}");
            }
        }
    }
}
