//! Rules of routes and listeners of Gateways that have another name after a change, and rules
//! without a name that have another index. The policies on a rule before the change are compared
//! with those on the rule that has the same match afterwards.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::effective::renames::Renames;
use crate::model::ids::ObjectKey;
use crate::model::object::{Node, Object};
use crate::model::section;
use crate::state::snapshot::Snapshot;

/// A rule of a route.
struct ComparedRule {
    label: Arc<str>,
    /// Whether it has its own name, not only an index.
    is_named: bool,
    matches: Vec<u64>,
}

/// The renames of a change of `objects`, and those of the rules of routes among them.
pub(in crate::effective) fn with_rules<'r>(
    renames: &'r Renames,
    [before, after]: [&Snapshot; 2],
    objects: &[ObjectKey],
) -> Cow<'r, Renames> {
    let mut all = Cow::Borrowed(renames);
    for key in objects {
        let Some(former) = renames.former(key) else {
            continue;
        };
        let (Some(old), Some(new)) = (before.get(&former), after.get(key)) else {
            continue;
        };
        // Without policies on rules, all rules carry the same policies: which of the unnamed ones is which does not matter.
        let names_rules = names_sections(before, &old.key) || names_sections(after, &new.key);
        for (label, later) in renamed_rules(names_rules, old, new) {
            let (label, later) = (former.section(label), key.section(later));
            // A name that the user gave stays.
            let _ = all.to_mut().add(&label, &later);
        }
    }
    all
}

/// The sections of an object that have another name after a change: rules of a route, listeners of a Gateway.
pub fn renamed_sections([before, after]: [&Snapshot; 2], key: &ObjectKey) -> Renames {
    let mut renames = Renames::default();
    let (Some(old), Some(new)) = (before.get(key), after.get(key)) else {
        return renames;
    };
    let mut sections = renamed_rules(true, old, new);
    sections.extend(renamed_listeners(old, new));
    for (label, later) in sections {
        // Each section is renamed once.
        let _ = renames.add(&key.section(label), &key.section(later));
    }
    renames
}

/// The names of listeners, each with its later one if it differs: that of the listener with its port, hostname and protocol.
fn renamed_listeners(old: &Object, new: &Object) -> Vec<(Arc<str>, Arc<str>)> {
    let named = |object: &Object, name: &Arc<str>| {
        let mut listeners = object.listeners().iter();
        listeners.any(|listener| listener.name == *name)
    };
    let gone = old.listeners().iter();
    let gone = gone.filter(|listener| !named(new, &listener.name));
    let pairs = gone.filter_map(|gone| {
        let mut new_ones = new.listeners().iter();
        let later = new_ones.find(|later| {
            (later.port, &later.hostname, &later.protocol)
                == (gone.port, &gone.hostname, &gone.protocol)
                && !named(old, &later.name)
        })?;
        Some((gone.name.clone(), later.name.clone()))
    });
    pairs.collect()
}

/// The labels of rules, each with its later one if it differs. A rule that is gone and whose label another rule has gets a
/// label of its own. Without `all`, only rules with names are looked at.
fn renamed_rules(all: bool, old: &Object, new: &Object) -> Vec<(Arc<str>, Arc<str>)> {
    let (Node::Route { .. }, Node::Route { .. }) = (&old.node, &new.node) else {
        return Vec::new();
    };
    if old.node == new.node {
        return Vec::new();
    }
    let (mut rules_before, mut rules_after) = (rules(old), rules(new));
    let labels = |rules: &[ComparedRule]| -> BTreeSet<Arc<str>> {
        rules.iter().map(|rule| rule.label.clone()).collect()
    };
    let (before, after) = (labels(&rules_before), labels(&rules_after));
    if !all {
        let is_gone = |rule: &ComparedRule| rule.is_named && !after.contains(&rule.label);
        rules_before.retain(is_gone);
        rules_after.retain(|rule| !before.contains(&rule.label));
    }
    let mut pairs = Vec::new();
    take_pairs(
        &mut rules_before,
        &mut rules_after,
        &mut pairs,
        |one, other| one.is_named && other.is_named && one.label == other.label,
    );
    take_pairs(
        &mut rules_before,
        &mut rules_after,
        &mut pairs,
        |one, other| !one.matches.is_empty() && one.matches == other.matches,
    );
    take_pairs(
        &mut rules_before,
        &mut rules_after,
        &mut pairs,
        |one, other| one.label == other.label,
    );
    let taken: BTreeSet<Arc<str>> = pairs.iter().map(|(_, later)| later.clone()).collect();
    let gone = rules_before
        .into_iter()
        .filter(|rule| taken.contains(&rule.label))
        .map(|rule| {
            let later = format!("{} (removed)", rule.label);
            (rule.label, later.into())
        });
    pairs.extend(gone);
    pairs.retain(|(label, later)| label != later);
    pairs
}

/// Moves the rules that are alike to the pairs, in their order.
fn take_pairs(
    rules_before: &mut Vec<ComparedRule>,
    rules_after: &mut Vec<ComparedRule>,
    pairs: &mut Vec<(Arc<str>, Arc<str>)>,
    is_same_rule: impl Fn(&ComparedRule, &ComparedRule) -> bool,
) {
    rules_before.retain(|old| {
        let Some(at) = rules_after.iter().position(|new| is_same_rule(old, new)) else {
            return true;
        };
        let new = rules_after.remove(at);
        pairs.push((old.label.clone(), new.label));
        false
    });
}

/// The rules of a route. If several have one name, only the first counts.
fn rules(route: &Object) -> Vec<ComparedRule> {
    let Node::Route { rules, matches, .. } = &route.node else {
        return Vec::new();
    };
    let mut seen: BTreeSet<Arc<str>> = BTreeSet::new();
    let each = rules.iter().enumerate().map(|(i, rule)| ComparedRule {
        label: section::rule_label(route, i),
        is_named: rule.name.is_some(),
        matches: matches.of_rule(i),
    });
    each.filter(|rule| seen.insert(rule.label.clone()))
        .collect()
}

/// Whether a policy names a section of an object.
fn names_sections(snapshot: &Snapshot, key: &ObjectKey) -> bool {
    let mut policies = snapshot.policies_naming(key);
    policies.any(|policy| {
        let mut targets = policy.targets.iter();
        targets.any(|target| target.section.is_some())
    })
}
