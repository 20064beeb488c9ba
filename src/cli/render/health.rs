//! Health checks for policies: one file per tool.

pub(crate) mod argocd;
pub(crate) mod flux;

use std::fmt::Write as _;

use crate::answer::health::WithoutRule;
use crate::engine::model::ids::GroupKind;

/// A kind for which no check is printed, and why.
pub(crate) struct LeftOut {
    pub(crate) gk: GroupKind,
    pub(crate) why: &'static str,
}

// === impl LeftOut ===

impl LeftOut {
    pub(crate) fn without_rule(gk: &GroupKind, why: WithoutRule) -> Self {
        Self {
            gk: gk.clone(),
            why: why.text(),
        }
    }
}

/// The first lines: a title, and the kinds that have no check.
fn head(title: &str, left_out: &[LeftOut]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!("# {title} Printed by attache {version}.\n");
    for LeftOut { gk, why } in left_out {
        let _ = writeln!(text, "# No check for {gk}: {why}.");
    }
    text
}

/// Lines as part of a YAML block scalar.
fn indented(lines: &str, by: usize) -> String {
    let indent = " ".repeat(by);
    let mut text = String::new();
    for line in lines.lines() {
        if !line.is_empty() {
            text.push_str(&indent);
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}
