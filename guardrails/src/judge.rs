//! Evaluates the rules of guardrails on the paths to a target.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use attache_engine::effective::{PathGroup, Resolver, Stack};
use attache_engine::kinds::profile::Class;
use attache_engine::merge::Effective;
use attache_engine::model::ids::{GroupKind, ObjectKey, Place};
use attache_engine::model::level::Level;
use attache_engine::model::wording::shortened;
use attache_engine::state::snapshot::Snapshot;
use kube_cel::KubeCelExt;
use kube_cel::cel::{Context, Value};

use crate::cost::{Size, Sizes};
use crate::expression::Expression;
use crate::guardrail::{Guardrail, Rule};
use crate::path::{GuardedPath, PathId};
use crate::target_paths::JudgedPath;
use crate::values::{self, Settings};

/// The most characters of a message.
const LONGEST: usize = 200;
/// Paths looked at per unit of fuel.
const PATHS: usize = 4;
/// Steps of an expression per unit of fuel.
const STEPS: usize = 16;
/// Units of fuel for the evaluations of one request: enough for a rule that reads the route on ten thousand routes.
const MOST: usize = 400_000;
/// The values of a policy as a variable.
const POLICY: usize = 16;
/// The values of an object as a variable.
const OTHER: usize = 32;

/// Evaluates rules. Paths with the same policies are evaluated once, unless a rule looks at the path itself.
pub struct Judge<'g> {
    context: Context<'static>,
    request: Value,
    /// How many values the request has.
    request_size: usize,
    /// The fuel for evaluations that is left; `None` if it is unlimited.
    fuel: Cell<Option<usize>>,
    settings: HashMap<*const Effective, (Arc<Effective>, Rc<Settings>)>,
    known: HashMap<Question, (Held, Rc<Outcome>)>,
    _rules: PhantomData<&'g Guardrail>,
}

/// What is known of a target and a guardrail.
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
    /// Whether the message may tell of settings of policies.
    pub tells: bool,
    /// Where the path begins: `Gateway infra/public listener https`.
    pub through: Option<String>,
    /// The policies in force on the path.
    pub policies: BTreeSet<ObjectKey>,
    pub(crate) id: PathId,
}

/// What is in force on a path, by policy kind.
pub(crate) type InForce<'a> = [(&'a GroupKind, &'a PathGroup)];

/// The state of the paths before the change.
#[derive(Clone, Copy)]
pub(crate) enum Before<'a> {
    /// There is no change.
    Same,
    /// What was in force on each path before it.
    Paths(&'a BTreeMap<PathId, &'a InForce<'a>>),
}

/// What decides the result of a rule.
#[derive(PartialEq, Eq, Hash)]
struct Question {
    rule: *const Rule,
    after: Vec<(*const Stack, *const Effective)>,
    before: Option<Vec<(*const Stack, *const Effective)>>,
    listener: Option<Place>,
    gateway: Option<ObjectKey>,
    target: Option<Place>,
}

/// Keeps alive what addresses in a [`Question`] identify.
type Held = Vec<(Rc<Stack>, Arc<Effective>)>;

/// The result of a rule.
enum Outcome {
    Holds,
    Broken(String),
    Error(String),
}

/// The objects of a path.
struct Here<'a> {
    snapshot: &'a Snapshot,
    path: GuardedPath<'a>,
    target: Option<&'a Place>,
    in_force: &'a InForce<'a>,
    /// Whether the guardrail is about all kinds.
    by_kind: bool,
    gateway: Option<&'a ObjectKey>,
    listener: Option<&'a Place>,
}

// === impl Judge ===

impl<'g> Judge<'g> {
    /// A judge for guardrails that outlive it; `request` is the variable.
    pub(crate) fn with(request: Value, groups: usize) -> Self {
        Self {
            request_size: OTHER + groups,
            fuel: Cell::new(None),
            context: Context::default().with_all(),
            request,
            settings: HashMap::new(),
            known: HashMap::new(),
            _rules: PhantomData,
        }
    }

    /// The same with the fuel of one request for evaluations, beside that of the resolvers for paths.
    pub(crate) fn bounded(self) -> Self {
        self.fuel.set(Some(MOST));
        self
    }

    /// Whether the fuel is used up. Answers from then on are not complete.
    pub(crate) fn is_spent(&self) -> bool {
        self.fuel.get() == Some(0)
    }

    fn spend(&self, units: usize) {
        let left = self.fuel.get().map(|left| left.saturating_sub(units));
        self.fuel.set(left);
    }

    /// Judges the paths to a target in the state of a resolver.
    pub(crate) fn judge(
        &mut self,
        resolver: &Resolver<'_>,
        guardrail: &'g Guardrail,
        paths: &[JudgedPath<'_>],
        others: &BTreeSet<ObjectKey>,
        before: Before<'_>,
    ) -> TargetResult {
        let snapshot = resolver.snapshot();
        let kind = guardrail.policy_kind.as_ref();
        let is_direct = kind.is_some_and(|kind| is_direct(snapshot, kind));
        let mut result = TargetResult::default();
        // No request takes a path that begins at no listener.
        for judged in paths.iter().filter(|judged| judged.counts) {
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
            let here = Here {
                snapshot,
                path,
                target: judged.target,
                in_force: &judged.in_force,
                by_kind: kind.is_none(),
                gateway,
                listener: path.at(Level::Listener),
            };
            self.judge_path(guardrail, &here, judged, before, &mut result);
        }
        result
    }

    fn judge_path(
        &mut self,
        guardrail: &'g Guardrail,
        here: &Here<'_>,
        judged: &JudgedPath<'_>,
        before: Before<'_>,
        result: &mut TargetResult,
    ) {
        let earlier = match before {
            // The state before is the state now.
            Before::Same => Some(here.in_force),
            // `None` if the path is new.
            Before::Paths(paths) => paths.get(&here.path.id()).copied(),
        };
        for (i, rule) in guardrail.rules.iter().enumerate() {
            let (is_error, message) = match &*self.outcome(rule, here, earlier) {
                Outcome::Holds => continue,
                Outcome::Broken(message) => (false, message.clone()),
                Outcome::Error(why) => (true, why.clone()),
            };
            let tells = |expression: &Expression| {
                ["effective", "policies", "before"]
                    .iter()
                    .any(|variable| expression.uses(variable))
            };
            result.faults.push(Fault {
                rule: i,
                is_error,
                message,
                tells: is_error || rule.message.as_ref().is_some_and(tells),
                through: here.path.through(),
                policies: judged.policies(),
                id: here.path.id(),
            });
        }
    }

    /// `earlier` is what was in force on the path before the change, if there was one.
    fn outcome(
        &mut self,
        rule: &'g Rule,
        here: &Here<'_>,
        earlier: Option<&InForce<'_>>,
    ) -> Rc<Outcome> {
        let uses = |variables: &[&str]| variables.iter().any(|variable| rule.uses(variable));
        let outcomes = |in_force: &InForce<'_>| {
            let groups = in_force.iter().map(|(_, group)| group.outcome());
            groups.collect::<Vec<_>>()
        };
        let question = Question {
            rule: std::ptr::from_ref(rule),
            after: outcomes(here.in_force),
            before: earlier.filter(|_| uses(&["before"])).map(outcomes),
            listener: here
                .listener
                .filter(|_| uses(&["listener", "path"]))
                .cloned(),
            gateway: here.gateway.filter(|_| uses(&["gateway", "path"])).cloned(),
            target: here
                .path
                .target()
                .filter(|_| uses(&["target", "route", "path"]))
                .cloned(),
        };
        if let Some((_, known)) = self.known.get(&question) {
            return known.clone();
        }
        let outcome = Rc::new(self.evaluate(rule, here, earlier));
        let in_force = here.in_force.iter().chain(earlier.into_iter().flatten());
        let held = in_force.map(|(_, group)| (group.stack.clone(), group.effective.clone()));
        let held = held.collect();
        self.known.insert(question, (held, outcome.clone()));
        outcome
    }

    fn evaluate(&mut self, rule: &Rule, here: &Here<'_>, earlier: Option<&InForce<'_>>) -> Outcome {
        let needs = |variable: &str| rule.uses(variable);
        let now = needs("effective").then(|| self.settings_on(here.in_force, here.by_kind));
        let was = earlier.filter(|_| needs("before"));
        let was = was.map(|earlier| (earlier, self.settings_on(earlier, here.by_kind)));
        let mut sizes = Sizes {
            known: vec![("request", Size::whole(self.request_size))],
        };
        let mut scope = self.context.new_inner_scope();
        if let Some(now) = now {
            let Some((fields, size)) = now else {
                return unknown();
            };
            sizes.known.push(("effective", Size::whole(size)));
            scope.add_variable_from_value("effective", values::map(fields));
        }
        if needs("before") {
            let before = match was {
                None => Value::Null,
                Some((_, None)) => return unknown(),
                Some((in_force, Some((fields, size)))) => {
                    sizes.known.push(("before", Size::whole(size)));
                    sizes
                        .known
                        .push(("before.policies", size_of_policies(in_force)));
                    let policies = values::policies(here.snapshot, in_force);
                    let policies = ("policies".to_owned(), policies);
                    if here.by_kind {
                        let effective = ("effective".to_owned(), values::map(fields));
                        values::map([effective, policies])
                    } else {
                        values::map(fields.into_iter().chain([policies]))
                    }
                }
            };
            scope.add_variable_from_value("before", before);
        }
        if needs("policies") {
            sizes
                .known
                .push(("policies", size_of_policies(here.in_force)));
            let policies = values::policies(here.snapshot, here.in_force);
            scope.add_variable_from_value("policies", policies);
        }
        for variable in ["target", "path", "gateway", "listener", "route", "request"] {
            if needs(variable) {
                let values = weight(variable, here);
                sizes.known.push((variable, Size::whole(values)));
                scope.add_variable_from_value(variable, self.value(variable, here));
            }
        }
        let steps = rule.require.steps(&sizes);
        let read = sizes.known.iter().map(|(_, size)| size.each);
        self.spend(1 + (steps + read.sum::<usize>()) / STEPS);
        match rule.require.evaluate(&scope, steps) {
            Ok(Value::Bool(true)) => Outcome::Holds,
            Ok(Value::Bool(false)) => {
                Outcome::Broken(message(|units| self.spend(units), rule, &scope, &sizes))
            }
            Ok(_) => Outcome::Error("the result is neither true nor false".to_owned()),
            Err(why) => Outcome::Error(why),
        }
    }

    fn value(&self, variable: &str, here: &Here<'_>) -> Value {
        let snapshot = here.snapshot;
        match variable {
            "target" => values::target(snapshot, here.target),
            "path" => values::path(&here.path),
            "gateway" => values::of_object(snapshot, here.gateway),
            "listener" => values::listener(snapshot, here.listener),
            "route" => {
                let route = here.path.at(Level::Route);
                values::of_object(snapshot, route.map(|place| &place.object))
            }
            _ => self.request.clone(),
        }
    }

    /// The fields of `effective`, and how many values they are; `None` if only the controller of the kind knows them. For a
    /// guardrail about all kinds each field is a kind, and a kind that only its controller knows has no `spec`.
    fn settings_on(
        &mut self,
        in_force: &InForce<'_>,
        by_kind: bool,
    ) -> Option<(Vec<(String, Value)>, usize)> {
        let mut all = Vec::new();
        let mut size = 1;
        for (kind, group) in in_force {
            if by_kind && group.effective.policies().is_empty() {
                continue;
            }
            let settings = self.settings_of(&group.effective);
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

    fn settings_of(&mut self, effective: &Arc<Effective>) -> Rc<Settings> {
        let known = self.settings.entry(Arc::as_ptr(effective));
        let (_, settings) =
            known.or_insert_with(|| (effective.clone(), Rc::new(Settings::of(effective))));
        settings.clone()
    }
}

fn size_of_policies(in_force: &InForce<'_>) -> Size {
    let levels = in_force.iter().flat_map(|(_, group)| group.stack.iter());
    Size {
        elements: levels.map(|level| level.policies.len()).sum(),
        each: POLICY,
    }
}

/// How many values an object on the path has as a variable.
fn weight(variable: &str, here: &Here<'_>) -> usize {
    let object = match variable {
        "target" => here.target.map(|place| &place.object),
        "gateway" => here.gateway,
        "route" => here.path.at(Level::Route).map(|place| &place.object),
        _ => None,
    };
    object.map_or(OTHER, |key| values::weight_of(here.snapshot, key))
}

fn unknown() -> Outcome {
    Outcome::Error("only the controller of the policy kind knows what is in force".to_owned())
}

/// The message of a broken rule; the rule itself if there is none.
fn message(spend: impl FnOnce(usize), rule: &Rule, scope: &Context<'_>, sizes: &Sizes) -> String {
    let said = rule.message.as_ref().and_then(|message| {
        let steps = message.steps(sizes);
        spend(steps / STEPS);
        match message.evaluate(scope, steps) {
            Ok(Value::String(text)) => Some(text.to_string()),
            _ => None,
        }
    });
    let text = said.unwrap_or_else(|| format!("it requires {}", rule.require.text()));
    shortened(&text, LONGEST).into_owned()
}

/// Whether policies of a kind act only on their targets.
pub(crate) fn is_direct(snapshot: &Snapshot, kind: &GroupKind) -> bool {
    let profile = snapshot.profile(kind);
    profile.is_some_and(|profile| profile.class.value == Class::Direct)
}
