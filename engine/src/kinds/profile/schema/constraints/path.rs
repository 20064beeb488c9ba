//! The path of a value in a spec. It is formatted only for a violation that is reported.

use std::fmt;

/// A path from the spec to a value in it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Path<'a> {
    /// The spec.
    Root,
    /// A field of an object.
    Field(&'a Path<'a>, &'a str),
    /// An item of a list.
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("spec"),
            Self::Field(of, name) => write!(f, "{of}.{name}"),
            Self::Item(of, place) => write!(f, "{of}[{place}]"),
        }
    }
}
