//! The number of objects in a directory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::engine::model::ids::GroupKind;
use crate::engine::model::object::ROUTES;

/// The numbers of objects that were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Objects per kind.
    pub kinds: BTreeMap<GroupKind, usize>,
    /// The policy kinds among these kinds.
    pub policy_kinds: BTreeSet<GroupKind>,
}

// === impl Counts ===

impl Counts {
    /// A summary for the log at start: `1 Gateway, 3 routes, 4 policies of 2 kinds from examples/quickstart`.
    pub fn summary(&self, from: &str) -> String {
        let count = |gk: &GroupKind| self.kinds.get(gk).copied().unwrap_or(0);
        let gateways = count(&GroupKind::gateway_api("Gateway"));
        let routes: usize = ROUTES
            .iter()
            .map(|kind| count(&GroupKind::gateway_api(kind)))
            .sum();
        let policies: usize = self.policy_kinds.iter().map(count).sum();
        let mut text = format!(
            "{}, {}, {}",
            number(gateways, "Gateway", "Gateways"),
            number(routes, "route", "routes"),
            number(policies, "policy", "policies"),
        );
        if policies > 0 {
            let _ = write!(
                text,
                " of {}",
                number(self.policy_kinds.len(), "kind", "kinds")
            );
        }
        let _ = write!(text, " from {from}");
        text
    }
}

fn number(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
