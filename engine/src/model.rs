//! The types that every other part of the engine uses: identifiers, levels, sections, labels, and
//! Kubernetes objects as typed nodes. Start here: nothing in this folder depends on policies.

pub(crate) mod expression_syntax;
pub mod file_order;
pub mod flow;
pub mod hint;
pub mod ids;
pub mod intern;
pub mod json_text;
pub mod label_map;
pub mod level;
pub mod listener_acceptance;
pub mod literal;
pub(crate) mod maps;
pub mod object;
pub mod path_trie;
pub mod printable;
pub mod projected;
pub mod section;
pub mod selector;
pub mod setting_path;
pub mod shared;
pub mod uid;
pub mod wording;
