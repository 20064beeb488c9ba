//! The evaluation of a rule on one path.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use attache_engine::effective::protection::certainly_provided;
use attache_engine::merge::EffectivePolicy;
use attache_engine::model::ids::GroupKind;
use attache_engine::model::level::Level;
use attache_engine::model::shared::Shared;
use attache_engine::model::wording::shortened;
use attache_engine::state::snapshot::Snapshot;
use kube_cel::cel::{Context, Value};

use crate::cost::{Size, Sizes};
use crate::expression::VARIABLES;
use crate::guardrail::Rule;
use crate::in_force::InForce;
use crate::judge::{Judge, RulePath, RuleResult};
use crate::values::{self, Settings};
use crate::variables::{OTHER, Variables};

/// The most characters of a message.
const MAX_MESSAGE_CHARACTERS: usize = 200;
/// Steps of an expression per unit of fuel.
const STEPS: usize = 16;
/// The values of a policy as a variable.
const POLICY: usize = 16;
// === impl Judge ===

impl<'g> Judge<'g> {
    pub(crate) fn evaluate(
        &mut self,
        rule: &Rule,
        rule_path: &RulePath<'_>,
        variables: &mut Variables<'g>,
    ) -> RuleResult {
        for name in VARIABLES.into_iter().filter(|name| rule.uses(name)) {
            if !self.has(name, rule_path, variables) {
                return unknown();
            }
        }
        let (scope, sizes) = (&variables.scope, &variables.sizes);
        let work = rule.require.work(sizes);
        self.spend(1 + (work.steps + read_by(variables, rule)) / STEPS);
        match rule.require.evaluate(scope, work) {
            Ok(Value::Bool(true)) => RuleResult::Holds,
            Ok(Value::Bool(false)) => {
                RuleResult::Broken(message(|units| self.spend(units), rule, scope, sizes))
            }
            Ok(_) => RuleResult::Error("the result is neither true nor false".to_owned()),
            Err(why) => RuleResult::Error(why),
        }
    }

    /// Adds a variable, unless it was added before. Returns `false` if only the controller of the
    /// kind knows it.
    fn has(
        &mut self,
        name: &'static str,
        rule_path: &RulePath<'_>,
        variables: &mut Variables<'g>,
    ) -> bool {
        let before = variables.asked.iter().find(|(asked, _)| *asked == name);
        if let Some((_, is_known)) = before {
            return *is_known;
        }
        let is_known = match name {
            "effective" => self.add_effective(rule_path, variables),
            "before" => self.add_before(rule_path, variables),
            "protections" => {
                let names = self.protections_on(rule_path.snapshot, rule_path.in_force, rule_path);
                let size = Size::of_list(names.len() + 1);
                variables.add(name, values::names(&names), size);
                true
            }
            "policies" => {
                let policies = values::policies(rule_path.snapshot, rule_path.in_force);
                variables.add(name, policies, size_of_policies(rule_path.in_force));
                true
            }
            "request" => {
                let size = Size::of_list(self.request_size);
                variables.add(name, self.request.clone(), size);
                true
            }
            _ => {
                variables.add(
                    name,
                    value(name, rule_path),
                    Size::of_list(weight(name, rule_path)),
                );
                true
            }
        };
        variables.asked.push((name, is_known));
        is_known
    }

    fn add_effective(&mut self, rule_path: &RulePath<'_>, variables: &mut Variables<'g>) -> bool {
        let now = self.settings_on(rule_path.snapshot, rule_path.in_force, rule_path.by_kind);
        let Some((fields, size)) = now else {
            return false;
        };
        variables.add("effective", values::map(fields), Size::of_list(size));
        true
    }

    fn add_before(&mut self, rule_path: &RulePath<'_>, variables: &mut Variables<'g>) -> bool {
        let Some(earlier) = rule_path.earlier else {
            variables.add("before", Value::Null, Size::of_list(1));
            return true;
        };
        let Some((fields, size)) =
            self.settings_on(rule_path.earlier_snapshot, earlier, rule_path.by_kind)
        else {
            return false;
        };
        let policies = values::policies(rule_path.earlier_snapshot, earlier);
        let policies = ("policies".to_owned(), policies);
        let protections = self.protections_on(rule_path.earlier_snapshot, earlier, rule_path);
        let protections = ("protections".to_owned(), values::names(&protections));
        let others = [policies, protections];
        let before = if rule_path.by_kind {
            let effective = ("effective".to_owned(), values::map(fields));
            values::map([effective].into_iter().chain(others))
        } else {
            values::map(fields.into_iter().chain(others))
        };
        variables.add("before", before, Size::of_list(size));
        let of_policies = size_of_policies(earlier);
        variables.sizes.known.push(("before.policies", of_policies));
        true
    }

    /// The fields of `effective`, and how many values they are; `None` if only the controller of the kind knows them. For a
    /// guardrail about all kinds each field is a kind, and a kind that only its controller knows has no `spec`.
    fn settings_on(
        &mut self,
        snapshot: &Snapshot,
        in_force: &InForce<'_>,
        by_kind: bool,
    ) -> Option<(Vec<(String, Value)>, usize)> {
        let mut all = Vec::new();
        let mut size = 1;
        for (kind, group) in in_force {
            if by_kind && group.effective.policies().is_empty() {
                continue;
            }
            let settings = self.settings_of(snapshot, kind, &group.effective);
            size += settings.size;
            let fields = settings.fields.iter().flatten();
            let fields = fields.map(|(name, value)| ((*name).to_owned(), value.clone()));
            if by_kind {
                all.push((kind.qualified(), values::map(fields)));
            } else if settings.fields.is_some() {
                all.extend(fields);
            } else {
                return None;
            }
        }
        Some((all, size))
    }

    /// The names of the protections that hold for all requests on a path, by a policy of any of the kinds, whatever a controller
    /// takes where nothing orders two policies.
    fn protections_on(
        &mut self,
        snapshot: &Snapshot,
        in_force: &InForce<'_>,
        rule_path: &RulePath<'_>,
    ) -> BTreeSet<Arc<str>> {
        let mut names = BTreeSet::new();
        let exempt = self.exempt.at(snapshot, in_force, rule_path);
        for ((kind, group), is_exempt) in in_force.iter().zip(exempt) {
            let Some(profile) = snapshot.profile(kind).filter(|_| !is_exempt) else {
                continue;
            };
            let id = group.outcome();
            if !self.protections.contains_key(&id) {
                self.spend(1 + group.effective.leaves().len() / STEPS);
            }
            let known = self.protections.entry(id);
            let known = known.or_insert_with(|| {
                let names = certainly_provided(snapshot, profile, group);
                names.cloned().collect()
            });
            names.extend(known.iter().cloned());
        }
        names
    }

    fn settings_of(
        &mut self,
        snapshot: &Snapshot,
        kind: &GroupKind,
        effective: &Shared<EffectivePolicy>,
    ) -> Rc<Settings> {
        let known = self.settings.entry(effective.clone());
        let by_policy = || {
            let profile = snapshot.profile(kind);
            profile.is_some_and(|profile| profile.is_side_by_side())
        };
        known
            .or_insert_with(|| Rc::new(Settings::from_effective(effective, by_policy())))
            .clone()
    }
}

/// The number of values that a rule may read: those in the variables that it uses.
fn read_by(variables: &Variables<'_>, rule: &Rule) -> usize {
    let sizes = variables.sizes.known.iter();
    let used = sizes.filter(|(name, _)| {
        let variable = name.split('.').next().unwrap_or(name);
        rule.uses(variable)
    });
    used.map(|(_, size)| size.each).sum()
}

fn size_of_policies(in_force: &InForce<'_>) -> Size {
    let levels = in_force.iter().flat_map(|(_, group)| group.stack.iter());
    Size {
        elements: levels.map(|level| level.policies.len()).sum(),
        each: POLICY,
    }
}

/// The number of values that an object on the path has as a variable.
fn weight(variable: &str, rule_path: &RulePath<'_>) -> usize {
    let object = match variable {
        "target" => rule_path.target.map(|place| &place.object),
        "gateway" => rule_path.gateway,
        "route" => rule_path.path.at(Level::Route).map(|place| &place.object),
        _ => None,
    };
    object.map_or(OTHER, |key| values::weight_of(rule_path.snapshot, key))
}

fn unknown() -> RuleResult {
    RuleResult::Error("only the controller of the policy kind knows what is in force".to_owned())
}

/// The message of a broken rule; the rule itself if there is none.
fn message(spend: impl FnOnce(usize), rule: &Rule, scope: &Context<'_>, sizes: &Sizes) -> String {
    let custom = rule.message.as_ref().and_then(|message| {
        let work = message.work(sizes);
        spend(work.steps / STEPS);
        match message.evaluate(scope, work) {
            Ok(Value::String(text)) => Some(text.to_string()),
            _ => None,
        }
    });
    let text = custom.unwrap_or_else(|| format!("it requires {}", rule.require.text()));
    shortened(&text, MAX_MESSAGE_CHARACTERS).into_owned()
}

/// A variable that is an object, or part of one.
fn value(variable: &str, rule_path: &RulePath<'_>) -> Value {
    let snapshot = rule_path.snapshot;
    match variable {
        "target" => values::target(snapshot, rule_path.target),
        "path" => values::path(&rule_path.path),
        "gateway" => values::of_object(snapshot, rule_path.gateway),
        "listener" => values::listener(snapshot, rule_path.listener),
        "route" => {
            let route = rule_path.path.at(Level::Route);
            values::of_object(snapshot, route.map(|place| &place.object))
        }
        _ => Value::Null,
    }
}
