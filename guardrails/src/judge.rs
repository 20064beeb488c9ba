//! Evaluates the rules of guardrails on the paths to a target.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use attache_engine::effective::{self, Resolver};
use attache_engine::merge::EffectivePolicy;
use attache_engine::model::ids::{GroupKind, ObjectKey, Place};
use attache_engine::model::level::Level;
use attache_engine::model::shared::Shared;
use attache_engine::model::wording;
use attache_engine::state::snapshot::Snapshot;
use kube_cel::cel::Value;

use crate::exempt::ExemptRequests;
use crate::expression::Expression;
use crate::functions::Functions;
use crate::guardrail::{Guardrail, Rule};
use crate::in_force::InForce;
use crate::path::{GuardedPath, PathId};
use crate::target_paths::{AtOwners, JudgedPath, is_direct};
use crate::unreadable_policies::UnreadablePolicies;
use crate::values::Settings;
use crate::variables::{self, Variables};

/// Paths looked at per unit of fuel.
const PATHS: usize = 4;
/// Units of fuel for the evaluations of one request: enough for a rule that reads the route on ten thousand routes.
const MAX_FUEL: usize = 400_000;
/// The number of paths to a target whose variables are kept for all guardrails.
const KEPT: usize = 64;

/// Evaluates rules. Paths with the same policies are evaluated once, unless a rule looks at the path itself.
pub struct Judge<'g> {
    functions: &'g Functions,
    pub(crate) request: Value,
    /// The number of values that the request has.
    pub(crate) request_size: usize,
    /// The fuel for evaluations that is left; `None` if it is unlimited.
    fuel: Cell<Option<usize>>,
    pub(crate) settings: HashMap<Shared<EffectivePolicy>, Rc<Settings>>,
    /// The names of the protections for all requests.
    pub(crate) protections: HashMap<effective::StackAndEffective, Rc<[Arc<str>]>>,
    /// The policies that do not protect requests to their targets.
    pub(crate) exempt: ExemptRequests,
    known: HashMap<Question, Rc<RuleResult>>,
    unread: UnreadablePolicies,
    /// The effective policies above targets, in the state of the only resolver that is used.
    pub(crate) at_owners: AtOwners,
}

/// The result of judging a target by a guardrail.
#[derive(Clone, Debug, Default)]
pub struct TargetResult {
    /// The number of paths to the target that the guardrail applies to.
    pub paths: usize,
    /// The rules that do not hold, or cannot be evaluated, by path.
    pub faults: Vec<Fault>,
}

/// A rule that does not hold on a path, or cannot be evaluated there.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The index of the rule.
    pub rule: usize,
    /// Whether it cannot be evaluated.
    pub is_error: bool,
    /// The message to users.
    pub message: String,
    /// Whether the message may reveal settings of policies.
    pub reveals_settings: bool,
    /// The beginning of the path: `Gateway infra/public listener https`; for a Gateway also the route that it leads to.
    pub through: Option<String>,
    /// The last place of the target on the path, a rule of the route or a port of the Service, and the listener of the path.
    pub at: Option<(Place, Option<Place>)>,
    /// The policies in force on the path.
    pub policies: BTreeSet<ObjectKey>,
    /// The policies that the message may reveal: also those that others override, and those of the
    /// state before.
    pub revealed_policies: BTreeSet<ObjectKey>,
    pub(crate) id: PathId,
}

/// The state of the paths before the change.
#[derive(Clone, Copy)]
pub(crate) enum Before<'a> {
    /// There is no change.
    Same,
    /// The effective policies on each path before it, and the state before it.
    Paths(&'a BTreeMap<PathId, &'a InForce<'a>>, &'a Snapshot),
}

/// Everything that the result of a rule depends on, as the key of a cache.
#[derive(PartialEq, Eq, Hash)]
struct Question {
    rule: *const Rule,
    after: Vec<effective::StackAndEffective>,
    before: Option<Vec<effective::StackAndEffective>>,
    /// Whether the policies after and before do not protect the requests.
    exempt: Option<[Vec<bool>; 2]>,
    path: Option<PathId>,
    listener: Option<Place>,
    gateway: Option<ObjectKey>,
    route: Option<Place>,
    target: Option<Place>,
}

/// The result of a rule.
pub(crate) enum RuleResult {
    Holds,
    Broken(String),
    Error(String),
}

/// The objects of a path.
pub(crate) struct RulePath<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) path: GuardedPath<'a>,
    pub(crate) target: Option<&'a Place>,
    pub(crate) in_force: &'a InForce<'a>,
    /// The effective policies on the path before the change, if there was one.
    pub(crate) earlier: Option<&'a InForce<'a>>,
    /// The state before the change.
    pub(crate) earlier_snapshot: &'a Snapshot,
    /// Whether the guardrail is about all kinds.
    pub(crate) by_kind: bool,
    pub(crate) gateway: Option<&'a ObjectKey>,
    pub(crate) listener: Option<&'a Place>,
}

/// The paths to a target that requests take. The guardrails on them share the variables of each path.
pub(crate) struct SharedPaths<'p, 'g> {
    /// The paths, each with the effective policies on it before the change, if there was one.
    paths: Vec<(&'p JudgedPath<'p>, Option<&'p InForce<'p>>)>,
    /// The state before the change, if there was one.
    before: Option<&'p Snapshot>,
    /// The variables of the first paths.
    variables: Vec<Option<Variables<'g>>>,
}

// === impl Judge ===

impl<'g> Judge<'g> {
    /// A judge for guardrails that outlive it; `request` is the variable.
    pub(crate) fn with(functions: &'g Functions, request: Value, groups: usize) -> Self {
        Self {
            functions,
            request_size: variables::OTHER + groups,
            fuel: Cell::new(None),
            request,
            settings: HashMap::new(),
            protections: HashMap::new(),
            exempt: ExemptRequests::default(),
            unread: UnreadablePolicies::default(),
            known: HashMap::new(),
            at_owners: AtOwners::default(),
        }
    }

    /// This judge with the fuel of one request for evaluations, separate from the fuel of the
    /// resolvers for paths.
    pub(crate) fn bounded(self) -> Self {
        self.fuel.set(Some(MAX_FUEL));
        self
    }

    /// Whether the fuel is used up. Answers from then on are not complete.
    pub(crate) fn is_spent(&self) -> bool {
        self.fuel.get() == Some(0)
    }

    pub(crate) fn spend(&self, units: usize) {
        let left = self.fuel.get().map(|left| left.saturating_sub(units));
        self.fuel.set(left);
    }

    /// Judges the paths to a target in the state of a resolver.
    pub(crate) fn judge(
        &mut self,
        resolver: &Resolver<'_>,
        guardrail: &'g Guardrail,
        shared: &mut SharedPaths<'_, 'g>,
        others: &BTreeSet<ObjectKey>,
    ) -> TargetResult {
        let snapshot = resolver.snapshot();
        let kind = guardrail.policy_kind.as_ref();
        let is_direct = kind.is_some_and(|kind| is_direct(snapshot, kind));
        let mut result = TargetResult::default();
        for (i, (judged, earlier)) in shared.paths.iter().enumerate() {
            let path = judged.path;
            let gateway = path.gateway(others);
            let is_here = if is_direct {
                guardrail.matcher.takes_any_gateway()
                    || others
                        .iter()
                        .any(|gateway| guardrail.matcher.has_gateway(snapshot, Some(gateway)))
            } else {
                guardrail.matcher.has_gateway(snapshot, gateway)
            };
            if !is_here {
                continue;
            }
            result.paths += 1;
            if result.paths.is_multiple_of(PATHS) {
                self.spend(1);
            }
            if self.is_spent() {
                return result;
            }
            let rule_path = RulePath {
                snapshot,
                path,
                target: judged.target,
                in_force: &judged.in_force,
                earlier: *earlier,
                earlier_snapshot: shared.before.unwrap_or(snapshot),
                by_kind: kind.is_none(),
                gateway,
                listener: path.at(Level::Listener),
            };
            let mut own = None;
            let variables = shared.variables.get_mut(i).unwrap_or(&mut own);
            let variables = variables.get_or_insert_with(|| Variables::with(self.functions));
            self.judge_path(guardrail, &rule_path, judged, variables, &mut result);
        }
        result
    }

    fn judge_path(
        &mut self,
        guardrail: &'g Guardrail,
        rule_path: &RulePath<'_>,
        judged: &JudgedPath<'_>,
        variables: &mut Variables<'g>,
        result: &mut TargetResult,
    ) {
        let unread = self.why_unread(rule_path);
        let unread = unread.map(|why| Rc::new(RuleResult::Error(why)));
        for (i, rule) in guardrail.rules.iter().enumerate() {
            let outcome = unread.clone();
            let outcome = outcome.unwrap_or_else(|| self.outcome(rule, rule_path, variables));
            let (is_error, message) = match &*outcome {
                RuleResult::Holds => continue,
                RuleResult::Broken(message) => (false, message.clone()),
                RuleResult::Error(why) => (true, why.clone()),
            };
            // An error can reveal values that the requirement reads.
            let shown = if is_error {
                Some(&rule.require)
            } else {
                rule.message.as_ref()
            };
            let policies = judged.policies();
            let mut revealed_policies = policies.clone();
            revealed_policies.extend(
                shown
                    .iter()
                    .flat_map(|expression| revealed(expression, rule_path)),
            );
            result.faults.push(Fault {
                rule: i,
                is_error,
                message,
                reveals_settings: is_error || shown.is_some_and(may_reveal),
                through: rule_path.path.through(rule_path.target),
                at: rule_path
                    .target
                    .map(|target| (target.clone(), rule_path.listener.cloned())),
                policies,
                revealed_policies,
                id: rule_path.path.id(),
            });
        }
    }

    /// Why the policies in force on a path are unknown: a policy in the namespace of the target is
    /// not read.
    fn why_unread(&mut self, rule_path: &RulePath<'_>) -> Option<String> {
        let namespace = &rule_path.target?.object.namespace;
        let mut kinds = rule_path.in_force.iter().map(|(kind, _)| *kind);
        kinds.find_map(|kind| {
            let why = self.unread.why(rule_path.snapshot, kind, namespace)?;
            Some(why.to_owned())
        })
    }

    fn outcome(
        &mut self,
        rule: &'g Rule,
        rule_path: &RulePath<'_>,
        variables: &mut Variables<'g>,
    ) -> Rc<RuleResult> {
        let uses = |variables: &[&str]| variables.iter().any(|variable| rule.uses(variable));
        let outcomes = |in_force: &InForce<'_>| {
            let groups = in_force.iter().map(|(_, group)| group.outcome());
            groups.collect::<Vec<_>>()
        };
        let question = Question {
            rule: std::ptr::from_ref(rule),
            after: outcomes(rule_path.in_force),
            before: rule_path
                .earlier
                .filter(|_| uses(&["before"]))
                .map(outcomes),
            exempt: uses(&["protections", "before"]).then(|| self.exempt.on(rule_path)),
            path: uses(&["path"]).then(|| rule_path.path.id()),
            listener: rule_path.listener.filter(|_| uses(&["listener"])).cloned(),
            gateway: rule_path.gateway.filter(|_| uses(&["gateway"])).cloned(),
            route: rule_path
                .path
                .at(Level::Route)
                .filter(|_| uses(&["route"]))
                .cloned(),
            target: rule_path.target.filter(|_| uses(&["target"])).cloned(),
        };
        if let Some(known) = self.known.get(&question) {
            return known.clone();
        }
        let outcome = Rc::new(self.evaluate(rule, rule_path, variables));
        self.known.insert(question, outcome.clone());
        outcome
    }
}

// === impl SharedPaths ===

impl<'p> SharedPaths<'p, '_> {
    pub(crate) fn new(paths: &'p [JudgedPath<'p>], before: Before<'p>) -> Self {
        // No request takes a path that begins at no listener.
        let counting = paths.iter().filter(|judged| judged.counts);
        let paths = counting.map(|judged| {
            let earlier: Option<&InForce<'_>> = match before {
                // The state before is the state now.
                Before::Same => Some(&judged.in_force),
                // `None` if the path is new.
                Before::Paths(paths, _) => paths.get(&judged.path.id()).copied(),
            };
            (judged, earlier)
        });
        let paths: Vec<_> = paths.collect();
        let kept = paths.len().min(KEPT);
        let before = match before {
            Before::Same => None,
            Before::Paths(_, snapshot) => Some(snapshot),
        };
        Self {
            paths,
            before,
            variables: (0..kept).map(|_| None).collect(),
        }
    }
}

/// Whether the value of an expression may reveal settings or names of policies.
fn may_reveal(expression: &Expression) -> bool {
    ["effective", "protections", "policies", "before"]
        .iter()
        .any(|variable| expression.uses(variable))
}

/// The policies that the value of an expression may reveal, beside those in force.
fn revealed(expression: &Expression, rule_path: &RulePath<'_>) -> BTreeSet<ObjectKey> {
    let mut policies: BTreeSet<ObjectKey> = BTreeSet::new();
    if expression.uses("policies") {
        policies.extend(attached(rule_path.in_force));
    }
    if let Some(earlier) = rule_path.earlier.filter(|_| expression.uses("before")) {
        policies.extend(attached(earlier));
        let in_force = earlier.iter();
        policies.extend(in_force.flat_map(|(_, group)| group.effective.policies()));
    }
    policies
}

/// The policies that are attached along a path.
fn attached(in_force: &InForce<'_>) -> impl Iterator<Item = ObjectKey> {
    let levels = in_force.iter().flat_map(|(_, group)| group.stack.iter());
    let policies = levels.flat_map(|level| level.policies.iter());
    policies.map(|policy| policy.key().clone())
}

/// The policies in force on a path, in words, to show users the policy to change, or that one is
/// missing.
pub fn in_force_there(policies: &BTreeSet<ObjectKey>, kind: Option<&GroupKind>) -> String {
    if policies.is_empty() {
        let kind = kind.map_or("policy", |kind| &kind.kind);
        return format!("no {kind} is in force there");
    }
    let words = |key: &ObjectKey| format!("{} {}", key.gk.kind, key.path());
    let policies = policies.iter().map(words).collect();
    format!("in force there: {}", wording::first(&policies))
}
