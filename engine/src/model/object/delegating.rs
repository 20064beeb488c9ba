//! Routes that delegate to other routes, which some controllers allow.

use super::{Node, Object, Rule, is_route};

// === impl Rule ===

impl Rule {
    /// Whether it sends all its requests to other routes.
    pub fn delegates(&self) -> bool {
        let mut backends = self.backends.iter();
        !self.backends.is_empty() && backends.all(|backend| is_route(&backend.object.gk))
    }
}

// === impl Object ===

impl Object {
    /// Whether it is a route with exactly one rule.
    pub fn has_one_rule(&self) -> bool {
        matches!(&self.node, Node::Route { rules, .. } if rules.len() == 1)
    }

    /// Whether it is a route with rules, all of which delegate.
    pub fn delegates(&self) -> bool {
        match &self.node {
            Node::Route { rules, .. } => !rules.is_empty() && rules.iter().all(Rule::delegates),
            _ => false,
        }
    }
}
