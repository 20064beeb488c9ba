//! Renders answers for people and other programs: one file per format. Pure except for [`style`], which inspects the
//! terminal.

pub(super) mod age;
pub(super) mod description;
pub(super) mod difference;
pub(super) mod explain;
pub(super) mod graph;
pub(super) mod guardrails;
pub(super) mod health;
pub(super) mod impact;
pub(super) mod kind_names;
pub(super) mod kinds;
mod markdown;
pub(super) mod phrases;
pub(super) mod policies;
pub(super) mod report;
pub(super) mod style;
pub(super) mod table;
pub(super) mod tested;
pub(super) mod text;
pub(super) mod values;
