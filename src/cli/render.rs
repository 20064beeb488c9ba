//! Answers as people and other programs read them: one file a form. Pure but for [`style`], which
//! looks at the terminal.

pub(super) mod graph;
pub(super) mod style;
pub(super) mod table;
