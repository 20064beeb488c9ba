//! Policies that filters of rules name (`ExtensionRef`).

use std::sync::Arc;

use super::{Policy, Precedence, Select, TargetRef};
use crate::model::object::{Node, Object};
use crate::model::section::rule_label;

impl Policy {
    /// Adds the rules of routes whose filters name the policy to its targets.
    pub(crate) fn add_filters_of<'a>(&mut self, routes: impl Iterator<Item = &'a Arc<Object>>) {
        let key = self.key().clone();
        let kinds = &self.profile.named_by_filters_of;
        let routes = routes.filter(|route| kinds.contains(&route.key.gk));
        let by_filters: Vec<TargetRef> = routes
            .flat_map(|route| {
                let Node::Route { rules, .. } = &route.node else {
                    return Vec::new();
                };
                let named = rules.iter().enumerate().filter_map(|(i, rule)| {
                    let mut refs = rule.filters.as_ref()?.of_rule.iter();
                    let position = refs.position(|named| *named == key)?;
                    let position = u16::try_from(position).unwrap_or(u16::MAX);
                    let select = Select::Filter(route.key.name.clone(), position);
                    Some(TargetRef {
                        section: Some(rule_label(route, i)),
                        ..select.reference_to(route.key.gk.clone())
                    })
                });
                named.collect()
            })
            .collect();
        if by_filters.is_empty() {
            return;
        }
        self.is_without_target = false;
        let targets = std::mem::take(&mut self.targets).into_iter();
        self.targets = targets.chain(by_filters).collect();
    }

    /// The policy as attached to a rule whose filter names it: it precedes the policies that target
    /// the rule.
    pub(crate) fn by_filter(&self, position: u16) -> Self {
        Self {
            precedence: Precedence {
                weight: i32::MAX - i32::from(position),
                ..self.precedence.clone()
            },
            ..self.clone()
        }
    }
}
