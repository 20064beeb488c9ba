//! What stands on a path, of one kind, and what comes of it.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::engine::attach::{Stand, standing};
use crate::engine::ids::{ByKey, ObjectKey};
use crate::engine::level::{Level, Step};
use crate::engine::merge::{Effective, Own, leaves_of, merged};
use crate::engine::policy::Policy;
use crate::engine::profile::{Profile, ServiceAs, With};
use crate::engine::snapshot::Snapshot;

/// Policies of one kind at one place, the established first.
#[derive(Clone, Debug)]
pub struct StackLevel {
    /// The place.
    pub step: Step,
    /// The policies.
    pub policies: Vec<Arc<Policy>>,
}

/// Everything that stands on a path, of one kind, from the least to the most specific.
pub type Stack = Vec<StackLevel>;

/// Looks each place up once and folds equal stacks once.
#[derive(Debug)]
pub(super) struct Stacks<'a> {
    snapshot: &'a Snapshot,
    stands: HashMap<ObjectKey, Rc<[Stand]>, ByKey>,
    /// Most objects have no policy.
    nobody: Rc<[Stand]>,
    /// Kept for as long as this: `folded` knows them by their address.
    named: HashMap<Vec<(Step, Vec<ObjectKey>)>, Rc<Stack>>,
    nothing: Rc<Stack>,
    folded: HashMap<(usize, usize), (Rc<Stack>, Arc<Effective>)>,
    /// How many leaves may still be folded; none where that is not limited.
    left: Option<usize>,
}

// === impl Stacks ===

impl<'a> Stacks<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        Self {
            snapshot,
            stands: HashMap::default(),
            nobody: Rc::default(),
            named: HashMap::new(),
            nothing: Rc::default(),
            folded: HashMap::new(),
            left: None,
        }
    }

    /// Folds so many leaves and no more.
    pub(super) fn limit(&mut self, leaves: usize) {
        self.left = Some(leaves);
    }

    /// Whether something was not folded, because it was too much.
    pub(super) fn is_spent(&self) -> bool {
        self.left == Some(0)
    }

    /// The stack of a path on which nothing stands.
    pub(super) fn nothing(&self) -> Rc<Stack> {
        self.nothing.clone()
    }

    /// What stands at an object and its sections.
    pub(super) fn stands(&mut self, key: &ObjectKey) -> Rc<[Stand]> {
        if let Some(known) = self.stands.get(key) {
            return known.clone();
        }
        let found = standing(self.snapshot, key);
        if found.is_empty() {
            // That is found as quickly as remembered.
            return self.nobody.clone();
        }
        let found: Rc<[Stand]> = found.into();
        self.stands.insert(key.clone(), found.clone());
        found
    }

    /// What stands on steps, of one kind; equal stacks are one.
    pub(super) fn stack(
        &mut self,
        profile: &Profile,
        steps: &[Step],
        consumer: Option<&Arc<str>>,
    ) -> Rc<Stack> {
        let mut stack: Stack = Vec::new();
        for step in steps {
            if profile.rank(step.level).is_none() {
                continue;
            }
            let stands = self.stands(&step.place.object);
            let here = stands.iter().filter(|stand| {
                stand.section == step.place.section
                    && stand.policy.key().gk == profile.gk
                    && stand.rejected.is_none()
                    && (!stand.consumer || consumer == Some(&stand.policy.key().namespace))
                    && plays(step.level, profile)
            });
            // What stands at every Namespace is less specific than what stands at this one.
            let (wide, own): (Vec<&Stand>, Vec<&Stand>) = here.partition(|stand| stand.wide);
            for stands in [wide, own] {
                let policies: Vec<Arc<Policy>> = stands.iter().map(|s| s.policy.clone()).collect();
                if !policies.is_empty() {
                    let step = step.clone();
                    stack.push(StackLevel { step, policies });
                }
            }
        }
        if stack.is_empty() {
            return self.nothing.clone();
        }
        let name = stack.iter().map(|level| {
            let keys = level.policies.iter().map(|policy| policy.key().clone());
            (level.step.clone(), keys.collect())
        });
        let name: Vec<(Step, Vec<ObjectKey>)> = name.collect();
        self.named
            .entry(name)
            .or_insert_with(|| Rc::new(stack))
            .clone()
    }

    /// Folds a path. An object takes one place on it: a Namespace that holds both the Gateway and the
    /// route counts as the Gateway's (ruling 5).
    pub(super) fn fold(
        &mut self,
        profile: &Profile,
        upper: &Rc<Stack>,
        lower: &Rc<Stack>,
        own: Option<&Own>,
    ) -> (Rc<Stack>, Arc<Effective>) {
        let id = (Rc::as_ptr(upper) as usize, Rc::as_ptr(lower) as usize);
        if let (None, Some((stack, effective))) = (own, self.folded.get(&id)) {
            return (stack.clone(), effective.clone());
        }
        let mut stack: Stack = (**upper).clone();
        for level in lower.iter() {
            let elsewhere = |above: &StackLevel| {
                above.step.place == level.step.place && above.step.level != level.step.level
            };
            if !stack.iter().any(elsewhere) {
                stack.push(level.clone());
            }
        }
        if !profile.hierarchy.is_empty() {
            stack.sort_by_key(|level| profile.rank(level.step.level));
        }
        let levels = taking_part(profile, &stack);
        if let Some(left) = &mut self.left {
            let leaves: usize = levels.iter().map(|level| leaves_of(level)).sum();
            *left = left.saturating_sub(leaves);
        }
        let effective = if self.is_spent() {
            Arc::default()
        } else {
            Arc::new(merged(profile, &levels, own))
        };
        let answer = (Rc::new(stack), effective);
        if own.is_none() {
            self.folded.insert(id, answer.clone());
        }
        answer
    }
}

/// The levels that are folded. Where the more specific policy decides and merges only with what stands
/// above the routes, the others of the route are overridden.
pub(super) fn taking_part<'a>(profile: &Profile, stack: &'a Stack) -> Vec<&'a [Arc<Policy>]> {
    let passes_over = *profile.merging.with == With::NearestAboveRoutes;
    let last = stack.len().saturating_sub(1);
    let levels = stack.iter().enumerate();
    levels
        .filter(|(i, level)| !passes_over || *i == last || level.step.level.is_upper())
        .map(|(_, level)| level.policies.as_slice())
        .collect()
}

/// Whether policies of the kind on a Service mean this role of it (ruling 22).
fn plays(level: Level, profile: &Profile) -> bool {
    match level {
        Level::Frontend => *profile.service_as == ServiceAs::Frontend,
        Level::Backend | Level::Port => *profile.service_as == ServiceAs::Backend,
        _ => true,
    }
}
