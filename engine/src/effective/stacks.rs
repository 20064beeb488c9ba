//! The policies of one kind along a path, and the effective policy that they merge to. [`Stacks`] looks for the policies attached to
//! each object, leaves out those that do not count on the path, and merges the others.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::StackAndEffective;
use super::gateway_by_label::{called_without_proxy, lacks_gateway, steps_of};
use crate::attachment::rejection::RejectionFinder;
use crate::attachment::{Attachment, attached_to, compared_targets, is_of_classes};
use crate::kinds::profile::{OnPath, Profile};
use crate::merge::{EffectivePolicy, TargetFields, fold_cost, fold_levels, policies_read, winner};
use crate::model::ids::{GroupKind, ObjectKey, Place, PrehashedBuildHasher};
use crate::model::level::{Level, Position, Step};
use crate::model::maps;
use crate::model::object::Object;
use crate::model::shared::{Ids, Shared};
use crate::policy::fuel::{self, Fuel};
use crate::policy::{ListenerFacts, Policy};
use crate::state::snapshot::Snapshot;
use crate::topology::{AncestorPath, to_route};

mod object_attachments;
mod on_rule;
mod path_context;
mod policy_list;
mod rejected_at;
mod rejected_merges;
mod section_conflicts;
mod settings_by_place;
mod stack_level;
mod target_fields_cache;

use object_attachments::ObjectAttachments;
pub(super) use on_rule::{OnRoute, OnRule, rules_with_filters};
pub(super) use path_context::PathContext;
use path_context::RejectionsByAncestor;
pub use policy_list::PolicyList;
use rejected_merges::{judge_merges, reject_if_not_applied};
use settings_by_place::{PoliciesAtListeners, on_routes, without_ineffective};
use stack_level::{RareFacts, delegation_merge, differs_in_unknown};
pub use stack_level::{Stack, StackLevel};
pub(super) use stack_level::{folded_levels, passed_over};
pub(super) use target_fields_cache::TargetFieldsCache;

/// Looks up each place once and merges each distinct stack once.
#[derive(Debug)]
pub(super) struct Stacks<'a> {
    snapshot: &'a Snapshot,
    attachments: HashMap<ObjectKey, Rc<ObjectAttachments>, PrehashedBuildHasher>,
    /// The attachments of an object without policies, which most objects share.
    without_policies: Rc<ObjectAttachments>,
    /// The distinct stacks, by their levels.
    by_key: maps::HashMap<Vec<LevelKey>, Shared<Stack>>,
    nothing: Shared<Stack>,
    /// The stack of one kind at the Namespace that was asked for last.
    last: Option<(GroupKind, ObjectKey, Shared<Stack>)>,
    folded: maps::HashMap<FoldKey, StackAndEffective>,
    /// Effective policies that come from one policy alone, by policy; many stacks share them.
    single_policy_results: HashMap<ObjectKey, Vec<Shared<EffectivePolicy>>, PrehashedBuildHasher>,
    ids: Ids,
    disputes: RejectionsByAncestor,
    at_listeners: PoliciesAtListeners,
    rejections: Rc<RejectionFinder>,
    /// By controller: whether the policy kinds that it applies are known.
    known_controllers: maps::HashMap<Arc<str>, bool>,
    fuel: Fuel,
}

/// The stacks above and below, and what policies depend on of route and listener: the index of the profile's facts for the route.
type FoldKey = (Shared<Stack>, Shared<Stack>, RouteFacts, ListenerFacts);
type RouteFacts = (Option<usize>, Option<GroupKind>, bool);

/// The identity of a stack level: position, object, index of the list of policies at the object,
/// and the policies that apply to the path, if these are not all of the list.
type LevelKey = (Position, ObjectKey, usize, Option<Vec<ObjectKey>>);

// === impl Stacks ===

impl<'a> Stacks<'a> {
    pub(super) fn new(
        snapshot: &'a Snapshot,
        rejections: Rc<RejectionFinder>,
        fuel: Fuel,
        ids: Ids,
    ) -> Self {
        Self {
            snapshot,
            attachments: HashMap::default(),
            without_policies: Rc::new(ObjectAttachments::new(Vec::new(), 0)),
            by_key: maps::HashMap::default(),
            nothing: Shared::default(),
            last: None,
            folded: maps::HashMap::default(),
            single_policy_results: HashMap::default(),
            ids,
            disputes: RejectionsByAncestor::default(),
            at_listeners: PoliciesAtListeners::default(),
            rejections,
            known_controllers: maps::HashMap::default(),
            fuel,
        }
    }

    /// The stack of a path without policies.
    pub(super) fn nothing(&self) -> Shared<Stack> {
        self.nothing.clone()
    }

    /// Adds the kinds of the policies attached to an object and its sections.
    pub(super) fn add_kinds(&mut self, key: &ObjectKey, kinds: &mut BTreeSet<GroupKind>) {
        for kind in &self.at(key).kinds {
            if !kinds.contains(kind) {
                kinds.insert(kind.clone());
            }
        }
    }

    /// The policies attached to an object and its sections; none once the fuel is used up.
    pub(super) fn at(&mut self, key: &ObjectKey) -> Rc<ObjectAttachments> {
        if let Some(known) = self.attachments.get(key) {
            return known.clone();
        }
        if self.snapshot.has_no_policies(key) || self.fuel.is_spent() {
            return self.without_policies.clone();
        }
        let asked = compared_targets(self.snapshot, key);
        let attached = attached_to(self.snapshot, key, &self.rejections);
        let mut attachments = ObjectAttachments::new(attached, asked);
        attachments.cost += self.rejections.fuel_used();
        let attachments = Rc::new(attachments);
        self.fuel.spend(attachments.cost);
        self.attachments.insert(key.clone(), attachments.clone());
        attachments
    }

    /// The conditions, besides its places, that the policies on a path with this ancestor path depend on.
    pub(super) fn path_context(
        &mut self,
        profile: &Profile,
        ancestor_path: &AncestorPath,
    ) -> PathContext {
        self.disputes
            .context_of(self.snapshot, profile, ancestor_path)
    }

    /// The facts of a listener that policies of a kind depend on.
    pub(super) fn listener(&mut self, profile: &Profile, place: &Place) -> ListenerFacts {
        self.disputes.listener(self.snapshot, profile, place)
    }

    /// The stack of the steps through a route whose sections have no policies. Most routes have no policy of their
    /// own, and routes come namespace by namespace: then it is the cached stack of the Namespace.
    pub(super) fn of_route(
        &mut self,
        profile: &Profile,
        at: &ObjectAttachments,
        (namespace, route): (&ObjectKey, &Object),
        path_context: &PathContext,
    ) -> Shared<Stack> {
        if !at.attachments.is_empty() {
            return self.stack(profile, &to_route(namespace, route), path_context);
        }
        let is_any = *path_context == PathContext::default();
        if let Some((kind, last, stack)) = &self.last
            && is_any
            && last == namespace
            && *kind == profile.gk
        {
            return stack.clone();
        }
        let above = [Step::new(Level::RouteNamespace, namespace.whole())];
        let stack = self.stack(profile, &above, path_context);
        if is_any {
            self.last = Some((profile.gk.clone(), namespace.clone(), stack.clone()));
        }
        stack
    }

    /// The stack of one kind along these steps. Equal stacks are shared.
    pub(super) fn stack(
        &mut self,
        profile: &Profile,
        steps: &[Step],
        path_context: &PathContext,
    ) -> Shared<Stack> {
        let mut levels: Vec<(&Step, Option<Arc<str>>, PolicyList)> = Vec::new();
        let mut stack_key: Vec<LevelKey> = Vec::new();
        let original_steps = steps;
        let steps = steps_of(self.snapshot, profile, steps);
        let excludes_policies = self.excludes_policies_without_target(profile, &steps);
        let without_proxy = called_without_proxy(self.snapshot, profile, original_steps, &steps);
        let mut has_cluster_wide_policies = false;
        for step in &*steps {
            if profile.rank(step.level).is_none() || !profile.applies_in_role(step.level) {
                continue;
            }
            if excludes_policies && step.level == Level::GatewayNamespace {
                continue;
            }
            // The Namespace of a route that delegates may be that of the Gateway, too.
            let is_there = |(above, ..): &(&Step, _, _)| {
                above.place == step.place && above.level != step.level
            };
            if step.delegations > 0 && levels.iter().any(is_there) {
                continue;
            }
            let at = self.at(&step.place.object);
            if self.fuel.is_spent() {
                return self.nothing.clone();
            }
            for place in at.at_section(&profile.gk, step.place.section.as_ref()) {
                let without_proxy = without_proxy.filter(|_| step.level == Level::GatewayNamespace);
                let is_without_proxy = without_proxy.is_some();
                let policies = if is_without_proxy || at.depends_on_requests {
                    let object = &step.place.object;
                    let applies = |attachment: &&Attachment| {
                        let path = steps.iter().map(|step| &step.place);
                        place.has(attachment)
                            && !attachment.is_rejected_at_section(object, path)
                            && path_context.allows(attachment)
                    };
                    let attached = at.each().filter(|(_, winner)| winner.is_none());
                    let applying = attached.map(|(attachment, _)| attachment).filter(applies);
                    let applying = applying.map(|attachment| attachment.policy.clone());
                    let is_read = |policy: &Arc<Policy>| {
                        without_proxy.is_none_or(|namespace| {
                            policy.unread_by(&namespace.meta.labels).is_none()
                        })
                    };
                    applying.filter(is_read).collect::<Vec<_>>().into()
                } else {
                    place.policies.clone()
                };
                // Two Namespaces may be on one path: policies attached to every Namespace count once.
                if !(policies.is_empty() || place.in_every_namespace && has_cluster_wide_policies) {
                    let unknown = place.unknown.clone();
                    let object = step.place.object.clone();
                    let selected_policies = policies.iter().map(|policy| policy.key().clone());
                    let is_selection = is_without_proxy || at.depends_on_requests;
                    let selected_policies = is_selection.then(|| selected_policies.collect());
                    stack_key.push((step.position(), object, place.index, selected_policies));
                    levels.push((step, unknown, policies));
                }
            }
            has_cluster_wide_policies |= step.level == Level::GatewayNamespace;
        }
        if levels.is_empty() {
            return self.nothing.clone();
        }
        let stacked = || {
            let level = |(step, unknown, policies): (&Step, _, _)| StackLevel {
                rare_facts: RareFacts::new(unknown, delegation_merge(self.snapshot, profile, step)),
                step: step.clone(),
                policies,
            };
            self.ids.share(levels.into_iter().map(level).collect())
        };
        self.by_key.entry(stack_key).or_insert_with(stacked).clone()
    }

    /// Whether the path contains a Gateway to which policies without a target do not apply.
    fn excludes_policies_without_target(&self, profile: &Profile, steps: &[Step]) -> bool {
        let apart = &profile.on_missing_except;
        if apart.controllers.is_empty() && apart.names.is_empty() {
            return false;
        }
        let mut classes = steps
            .iter()
            .filter(|step| step.level == Level::GatewayClass)
            .map(|step| &step.place.object);
        classes.any(|class| is_of_classes(self.snapshot, apart, class))
    }

    /// Whether the path contains a Gateway whose controller does not apply this kind: it is known to apply others, or has a
    /// name in another domain than those that apply this one.
    pub(super) fn is_run_by_others(&mut self, profile: &Profile, steps: &[Step]) -> bool {
        let mut classes = steps.iter().filter(|s| s.level == Level::GatewayClass);
        let Some(class) = classes.next().map(|step| &step.place.object) else {
            return lacks_gateway(self.snapshot, profile, steps);
        };
        if profile.classes.contains(&class.name) {
            return false;
        }
        let controller = self.snapshot.controller_of(class);
        let Some(controller) = controller.filter(|name| profile.is_ignored_by(name)) else {
            return false;
        };
        // A name in the domain of a controller that applies the kind may be that of another installation of it.
        if !profile.has_controller_of_domain(controller) && !profile.controllers.is_empty() {
            return true;
        }
        let known = self.known_controllers.entry(controller.clone());
        *known.or_insert_with(|| self.snapshot.knows_controller(controller))
    }

    /// Folds the policies of a path. An object takes one place on it: a Namespace that holds both the Gateway and the
    /// route counts as the Gateway's.
    pub(super) fn fold(
        &mut self,
        profile: &Profile,
        above: &Shared<Stack>,
        below: &Shared<Stack>,
        own: Option<&TargetFields>,
        on_route: Option<OnRoute<'_>>,
        listener: ListenerFacts,
    ) -> StackAndEffective {
        if self.fuel.is_spent() {
            return StackAndEffective::default();
        }
        let route = on_route.map(|on_route| on_route.kind);
        let without_backend = on_route.is_some_and(|on_route| on_route.without_backend);
        let on = route.and_then(|route| profile.on_routes_of(route));
        let place_on_route = on.map(|(place, _)| place);
        let idle_on = route.filter(|route| profile.has_idle_settings_on(route));
        let route_facts = (place_on_route, idle_on.cloned(), without_backend);
        let id = (above.clone(), below.clone(), route_facts, listener);
        if let (None, Some(known)) = (own, self.folded.get(&id)) {
            return known.clone();
        }
        // Listeners to which all settings apply share a result.
        let stacks = [&**above, &**below];
        let at_listener = listener.profile(profile);
        if listener.on.is_some()
            && at_listener.is_none()
            && !self.at_listeners.matters(stacks, listener, &self.fuel)
        {
            let plain = ListenerFacts {
                on: None,
                ..listener
            };
            let answer = self.fold(profile, above, below, own, on_route, plain);
            if own.is_none() {
                self.folded.insert(id, answer.clone());
            }
            return answer;
        }
        let mut stack: Stack = (**above).clone();
        for level in below.iter() {
            let elsewhere = |above: &StackLevel| {
                above.step.place == level.step.place
                    && above.step.position() != level.step.position()
            };
            if !stack.iter().any(elsewhere) {
                stack.push(level.clone());
            }
        }
        if !profile.hierarchy.is_empty() {
            // Routes that delegate stay above those that they delegate to.
            let delegations = |level: &StackLevel| Reverse(level.step.delegations);
            let most = stack.iter().map(delegations).min();
            stack.sort_by_key(|level| {
                let is_upper = level.step.level.is_above_routes();
                let part = most
                    .filter(|_| is_upper)
                    .unwrap_or_else(|| delegations(level));
                (part, profile.rank(level.step.level))
            });
        }
        if listener != ListenerFacts::default() {
            stack = self.at_listeners.stack(stack, listener, &self.fuel);
        }
        judge_merges(self.snapshot, profile, &mut stack, route, &self.fuel);
        let at_protocol = listener.protocols(profile);
        let profile = on.map_or(at_listener.unwrap_or(profile), |(_, on)| &on.profile);
        if let Some((place, on)) = on {
            stack = on_routes(stack, place, on);
        }
        if !profile.ineffective.is_empty() {
            let path = OnPath {
                listener: at_protocol,
                route,
                without_backend,
            };
            stack = without_ineffective(stack, path);
        }
        let mut effective = self.effective(profile, &stack, own, listener);
        if reject_if_not_applied(profile, &mut stack, &effective, &self.fuel) {
            effective = Shared::default();
        }
        let answer = (self.ids.share(stack), effective);
        if own.is_none() {
            self.folded.insert(id, answer.clone());
        }
        answer
    }

    /// The effective policy of a path; empty once the fuel is used up.
    fn effective(
        &mut self,
        profile: &Profile,
        stack: &Stack,
        own: Option<&TargetFields>,
        listener: ListenerFacts,
    ) -> Shared<EffectivePolicy> {
        if differs_in_unknown(stack) {
            let levels = stack.iter().map(|level| &*level.policies);
            let effective = EffectivePolicy::not_computed(profile, levels);
            return self.ids.share(effective);
        }
        let part = folded_levels(profile, stack);
        let policies = part.clone().map(|level| &level.policies);
        let levels = || policies.clone().map(|list| &**list).collect::<Vec<_>>();
        // Fields that the target sets itself are merged with the policies.
        let is_plain = stack.iter().all(|level| level.delegation_merge().is_none());
        let won = match own {
            Some(_) => None,
            None if !is_plain => None,
            None => winner(policies.clone().map(|list| (&**list, list.atomic()))),
        };
        if self.fuel.is_limited() {
            let leaves = won.map_or_else(|| fold_cost(profile, &levels(), own), |won| won.cost);
            self.fuel.spend(fuel::FOLD + leaves);
            if policies.clone().any(PolicyList::is_long) {
                policies_read(profile, &levels()).for_each(|policy| self.fuel.read(policy));
            }
        }
        if self.fuel.is_spent() {
            return Shared::default();
        }
        let only = won.map(|won| won.policy().map(Policy::key));
        let effective = match won {
            Some(won) => won.effective(),
            None => fold_levels(
                profile,
                &part.map(StackLevel::folded).collect::<Vec<_>>(),
                own,
            ),
        };
        let effective = match listener.port {
            Some(_) => effective.on_port(profile),
            None => effective,
        };
        match only {
            Some(Some(policy)) => self.of_sole(policy, effective),
            Some(None) => Shared::default(),
            None => self.ids.share(effective),
        }
    }

    /// An effective policy of one policy alone. It may differ by route, listener and level, in a few ways.
    fn of_sole(
        &mut self,
        policy: &ObjectKey,
        effective: EffectivePolicy,
    ) -> Shared<EffectivePolicy> {
        let known = self
            .single_policy_results
            .entry(policy.clone())
            .or_default();
        if let Some(known) = known.iter().find(|known| ***known == effective) {
            return known.clone();
        }
        let shared = self.ids.share(effective);
        known.push(shared.clone());
        shared
    }
}
