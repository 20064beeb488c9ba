//! Annotations: those with short values. Others may be as large as the object, and name nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::engine::projected;

/// The annotation by which an object leaves out findings about itself.
pub const IGNORE: &str = "attache.dev/ignore";

/// The longest value that is kept, in bytes: a name takes 253, and two quotes.
const LONGEST: usize = 255;
/// The same of [`IGNORE`], which gives reasons.
const LONGEST_IGNORE: usize = 4096;

/// Annotations of an object.
pub type Annotations = BTreeMap<Arc<str>, Arc<str>>;

/// Annotations as they came: long ones are never copied.
pub type Raw<'a> = BTreeMap<Arc<str>, &'a RawValue>;

/// Those with short texts as values.
pub fn short(raw: Option<Raw<'_>>) -> Annotations {
    let short = raw.into_iter().flatten().filter(|(key, value)| {
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
        .filter_map(|(key, value)| Some((key, serde_json::from_str(value.get()).ok()?)))
        .collect()
}
