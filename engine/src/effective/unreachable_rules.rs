//! Rules that get no request, because other rules match the same requests and take precedence.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::Resolver;
use crate::attachment::rejection::{RequestEntry, entries, routes_of};
use crate::kinds::profile::{RuleLists, RuleOrder};
use crate::model::ids::{GroupKind, ObjectKey, Place, PrehashedBuildHasher};
use crate::model::maps;
use crate::model::object::{Node, Object};
use crate::model::section;
use crate::model::wording;
use crate::policy::Precedence;
use crate::state::snapshot::Snapshot;
use crate::topology::{RouteKindConflicts, controller_facts};

/// The rules that take precedence at the Gateways that were asked for, by the entry at which requests arrive and by match.
#[derive(Debug)]
pub(super) struct UnreachableRules<'a> {
    route_kind_conflicts: RouteKindConflicts<'a>,
    gateways:
        HashMap<ObjectKey, (Order, HashMap<RequestEntry, PrecedingRules>), PrehashedBuildHasher>,
    /// The entries of the route that was asked for last: its rules are asked for one after the other.
    last: Option<(ObjectKey, Rc<BTreeSet<RequestEntry>>)>,
    /// The rules of that route that are taken by earlier ones of it: a route may have thousands of matches.
    last_taken: Option<(ObjectKey, Rc<TakenRules>)>,
}

/// For each rule of a route, the earlier rules of the route that take all of its requests; `None` if some reach it.
type TakenRules = [Option<Vec<usize>>];

/// The rule that takes precedence, by kind of route and match. Where routes of two kinds are compared with each other they
/// count as one kind.
type PrecedingRules = HashMap<(GroupKind, u64), PrecedingRule>;

/// A rule of a route, by its index.
#[derive(Clone, Debug)]
struct PrecedingRule {
    route: Arc<Object>,
    rule: usize,
}

/// The rules that take all requests which a route or one of its rules matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenBy {
    /// The rules.
    pub rules: BTreeSet<Place>,
    /// The routes that have them.
    pub routes: BTreeSet<ObjectKey>,
}

// === impl TakenBy ===

impl TakenBy {
    /// Why no request reaches the route or the rule.
    pub fn why(&self) -> String {
        let (names, count) = match self.rules.len() {
            1 => (self.rules.iter().map(Place::to_string).collect(), 1),
            _ => (wording::named(&self.routes), self.routes.len()),
        };
        match count {
            1 => format!("{names} has the same match and takes precedence"),
            _ => format!("{names} have the same match and take precedence"),
        }
    }
}

// === impl PrecedingRule ===

impl PrecedingRule {
    /// The rule; the route if it has no other rule.
    fn place(&self) -> Place {
        match &self.route.node {
            Node::Route { rules, .. } if rules.len() > 1 => {
                let label = section::rule_label(&self.route, self.rule);
                self.route.key.section(label)
            }
            _ => self.route.key.whole(),
        }
    }
}

/// The order in which a Gateway tries routes whose matches are equal.
#[derive(Clone, Debug)]
struct Order {
    /// The kind under which rules of `GRPCRoutes` and `HTTPRoutes` are compared with each other;
    /// `None` if they are not.
    together: Option<GroupKind>,
    /// Whether those of `HTTPRoutes` go first, whatever their age.
    http_first: bool,
    /// The order of the controller.
    rules: RuleOrder,
}

// === impl Order ===

impl Order {
    /// The order of the controller of a Gateway. The kinds of routes are compared with each other
    /// only where the controller is known to do so.
    fn at(snapshot: &Snapshot, gateway: &ObjectKey) -> Self {
        let facts = controller_facts(snapshot, gateway).map(|facts| facts.rule_order);
        let is_together = facts.is_some_and(|order| {
            matches!(
                order.lists,
                Some(RuleLists::Together | RuleLists::PerHostname)
            )
        });
        Self {
            together: is_together.then(|| GroupKind::gateway_api("HTTPRoute")),
            http_first: is_together && facts.is_some_and(|order| order.http_routes_win_ties),
            rules: facts.unwrap_or_default(),
        }
    }

    /// The position of a route.
    fn position(&self, route: &Object) -> (bool, Precedence) {
        let is_grpc = route.key.gk.is_gateway_api("GRPCRoute");
        (
            self.http_first && is_grpc,
            Precedence::by(route, self.rules),
        )
    }

    /// The kind under which routes of a kind are compared.
    fn kind(&self, kind: &GroupKind) -> GroupKind {
        let together = self.together.as_ref();
        let other = together.filter(|_| kind.is_gateway_api("GRPCRoute"));
        other.unwrap_or(kind).clone()
    }
}

// === impl UnreachableRules ===

impl<'a> UnreachableRules<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        Self {
            route_kind_conflicts: RouteKindConflicts::new(snapshot),
            gateways: HashMap::default(),
            last: None,
            last_taken: None,
        }
    }

    /// The rules of a route that are taken by earlier ones of it.
    fn taken_within(&mut self, route: &Arc<Object>) -> Rc<TakenRules> {
        if let Some((_, taken)) = self
            .last_taken
            .as_ref()
            .filter(|(key, _)| *key == route.key)
        {
            return taken.clone();
        }
        let taken: Rc<TakenRules> = taken_rules(route).into();
        self.last_taken = Some((route.key.clone(), taken.clone()));
        taken
    }

    /// The entries at which requests to a route arrive.
    fn entries_of(&mut self, route: &Arc<Object>) -> Rc<BTreeSet<RequestEntry>> {
        if let Some((_, entries)) = self.last.as_ref().filter(|(key, _)| *key == route.key) {
            return entries.clone();
        }
        let entries_of_route = Rc::new(entries(&mut self.route_kind_conflicts, route));
        self.last = Some((route.key.clone(), entries_of_route.clone()));
        entries_of_route
    }

    /// The rules that take precedence at an entry, and the order that decides.
    fn first_at(&mut self, entry: &RequestEntry) -> Option<(&Order, &PrecedingRules)> {
        let (gateway, ..) = entry;
        if !self.gateways.contains_key(gateway) {
            let mut all: HashMap<RequestEntry, PrecedingRules> = HashMap::new();
            let snapshot = self.route_kind_conflicts.snapshot();
            let order = Order::at(snapshot, gateway);
            let mut routes: Vec<&Arc<Object>> = Vec::new();
            if !order.rules.equal_matches_share {
                routes.extend(routes_of(snapshot, gateway));
            }
            routes.sort_by_cached_key(|route| order.position(route));
            for route in routes {
                for entry in entries(&mut self.route_kind_conflicts, route) {
                    let first = all.entry(entry).or_default();
                    for (rule, one) in matches_of(route) {
                        let taker = first.entry((order.kind(&route.key.gk), one));
                        taker.or_insert_with(|| PrecedingRule {
                            route: route.clone(),
                            rule,
                        });
                    }
                }
            }
            self.gateways.insert(gateway.clone(), (order, all));
        }
        let (order, all) = self.gateways.get(gateway)?;
        Some((order, all.get(entry)?))
    }
}

// === impl Resolver ===

impl Resolver<'_> {
    /// The rules that take all requests which a route or one of its rules matches. If two rules
    /// have the same match on one hostname, the rule of the older route takes precedence; if they
    /// are in one route, the first rule does (Gateway API, `HTTPRouteRule.matches`). Rules of
    /// `HTTPRoutes` and `GRPCRoutes` are compared where the controller does so. `None` if requests
    /// may reach the place.
    ///
    /// A limited resolver compares the rules of the route alone, because there may be thousands of routes.
    pub fn taken_by(&mut self, place: &Place) -> Option<TakenBy> {
        let route = self.snapshot.get(&place.object)?.clone();
        let Node::Route { rules, .. } = &route.node else {
            return None;
        };
        let asked = |index: &usize| {
            let section = place.section.as_ref();
            section.is_none_or(|asked| *asked == section::rule_label(&route, *index))
        };
        // A route without rules matches everything.
        let asked: Vec<usize> = (0..rules.len().max(1)).filter(asked).collect();
        let taken = self.unreachable_rules.taken_within(&route);
        let own = |rule: &usize| PrecedingRule {
            route: route.clone(),
            rule: *rule,
        };
        let mut takers_of_rules: Vec<PrecedingRule> = Vec::new();
        let mut others: Vec<usize> = Vec::new();
        for index in asked {
            match taken.get(index).and_then(Option::as_ref) {
                Some(takers) => takers_of_rules.extend(takers.iter().map(own)),
                None => others.push(index),
            }
        }
        if !others.is_empty() {
            takers_of_rules.extend(self.taken_by_others(&route, &others)?);
        }
        // A rule takes the requests of another one of its route only if it gets them.
        let takers = takers_of_rules.iter();
        let takers = takers.filter(|taker| place.section.is_some() || taker.route.key != route.key);
        let takers: Vec<&PrecedingRule> = takers.collect();
        if takers.is_empty() {
            return None;
        }
        Some(TakenBy {
            rules: takers.iter().map(|taker| taker.place()).collect(),
            routes: takers.iter().map(|taker| taker.route.key.clone()).collect(),
        })
    }

    /// The rules that take all requests of these rules at every entry of the route.
    fn taken_by_others(
        &mut self,
        route: &Arc<Object>,
        asked: &[usize],
    ) -> Option<Vec<PrecedingRule>> {
        if self.is_limited() {
            return None;
        }
        let Node::Route {
            parents,
            rules,
            matches,
            ..
        } = &route.node
        else {
            return None;
        };
        // In a mesh the Service identifies the requests.
        let mut parents = parents.iter();
        if parents.any(|parent| parent.object.gk.is_core("Service")) {
            return None;
        }
        let of_rules = matches.of_rules(rules.len().max(1));
        let mut takers = Vec::new();
        for entry in self.unreachable_rules.entries_of(route).iter() {
            let (order, first) = self.unreachable_rules.first_at(entry)?;
            let mine = order.position(route);
            for index in asked {
                let wanted = of_rules.get(*index)?;
                if wanted.is_empty() {
                    return None;
                }
                for one in wanted {
                    let by = first.get(&(order.kind(&route.key.gk), *one))?;
                    let before = (order.position(&by.route), by.rule) < (mine.clone(), *index);
                    if !before {
                        return None;
                    }
                    takers.push(by.clone());
                }
            }
        }
        Some(takers)
    }
}

/// For each rule of a route, the first rules of it that have its matches, if all of them are in earlier rules.
fn taken_rules(route: &Object) -> Vec<Option<Vec<usize>>> {
    let Node::Route { rules, matches, .. } = &route.node else {
        return Vec::new();
    };
    let mut first: maps::HashMap<u64, usize> = maps::HashMap::default();
    let of_rules = matches.of_rules(rules.len().max(1)).into_iter();
    let taken = of_rules.enumerate().map(|(rule, wanted)| {
        let takers = wanted.iter().map(|one| first.get(one).copied());
        let takers: Option<BTreeSet<usize>> = takers.collect();
        let takers = takers.filter(|takers| !takers.is_empty());
        for one in wanted {
            first.entry(one).or_insert(rule);
        }
        takers.map(|takers| takers.into_iter().collect())
    });
    taken.collect()
}

/// The matches of a route, with the index of their rule.
fn matches_of(route: &Object) -> Vec<(usize, u64)> {
    let Node::Route { rules, matches, .. } = &route.node else {
        return Vec::new();
    };
    let each = matches.of_rules(rules.len().max(1)).into_iter();
    let each = each.enumerate().flat_map(|(rule, of_rule)| {
        let of_rule = of_rule.into_iter();
        of_rule.map(move |one| (rule, one))
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::taken_rules;
    use crate::model::ids::GroupKind;
    use crate::model::object::Object;

    #[test]
    fn a_rule_is_taken_if_each_of_its_matches_is_in_an_earlier_one() {
        let rule = |paths: &[&str]| {
            let matches = paths.iter().map(|path| json!({"path": {"value": path}}));
            json!({"matches": matches.collect::<Vec<_>>()})
        };
        let rules = [
            rule(&["/a", "/b"]),
            rule(&["/c"]),
            rule(&["/c", "/a"]),
            rule(&["/c", "/d"]),
            rule(&["/b", "/a"]),
            rule(&["/e", "/e"]),
        ];
        let text = to_raw_value(&json!({"metadata": {"name": "r"}, "spec": {"rules": rules}}));
        let kind = GroupKind::gateway_api("HTTPRoute");
        let route = Object::from_json(&kind, &text.unwrap()).unwrap();
        let taken = [None, None, Some(vec![0, 1]), None, Some(vec![0]), None];
        assert_eq!(taken_rules(&route), taken);
    }
}
