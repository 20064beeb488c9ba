//! Annotations with short values. Others may be as large as the object, and do not contain names.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::model::label_map::LabelMap;
use crate::model::projected;

/// The annotation by which an object suppresses findings about itself.
pub const IGNORE: &str = "attache.dev/ignore";

/// The maximum length of a value that is kept, in bytes: 253 for a name, and two quotes.
const LONGEST: usize = 255;
/// The maximum length of [`IGNORE`], which contains reasons.
const LONGEST_IGNORE: usize = 4096;

/// Annotations of an object.
pub type Annotations = LabelMap;

/// Unparsed annotations; long ones are never copied.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct Raw<'a>(#[serde(borrow)] BTreeMap<Arc<str>, &'a RawValue>);

/// The annotations whose values are short strings.
pub fn short(raw: Option<Raw<'_>>) -> Annotations {
    let short = raw
        .into_iter()
        .flat_map(|Raw(raw)| raw)
        .filter(|(key, value)| {
            let longest = if **key == *projected::ANNOTATION {
                // Quotes in it are escaped.
                2 * projected::LONGEST
            } else if **key == *IGNORE {
                LONGEST_IGNORE
            } else {
                LONGEST
            };
            value.get().len() <= longest
        });
    short
        .filter_map(|(key, value)| {
            let value = serde_json::from_str(value.get()).ok()?;
            Some((key, value))
        })
        .collect()
}
