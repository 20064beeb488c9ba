//! Reports of the relevant controllers about policies, listeners and routes.
//!
//! The controller of a Gateway is that of its class. For a status entry that is not about a Gateway, the controllers
//! that the profile of the kind names are relevant; all controllers if it names none.

use std::fmt;
use std::sync::Arc;

use crate::attachment::rejection::RejectionFinder;
use crate::attachment::{self, AttachmentPermission};
use crate::kinds::profile::{Profile, SameTarget};
use crate::model::ids::{ObjectKey, Place};
use crate::model::object::reported::{Acceptance, Condition, ENFORCEMENT, Entry, Subject};
use crate::model::object::{Node, Object, ParentRef};
use crate::policy::{Policy, TargetRef};
use crate::state::snapshot::{Snapshot, class_key};
use crate::topology::gateway_of;

/// Reasons that depend on objects other than the policy.
const OF_OTHERS: [&str; 4] = [
    "TargetNotFound",
    "Conflicted",
    "RefNotPermitted",
    "NoMatchingParent",
];

/// Where controllers reject a policy or report that it is not in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// Nowhere.
    Nowhere,
    /// Everywhere.
    Everywhere,
    /// For requests through these ancestors; at others it is in force.
    Through(Vec<Place>),
}

/// The common opinion of the controllers of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// They report nothing.
    Unsaid,
    /// They report on an older generation.
    Outdated,
    /// All accept it.
    Accepted,
    /// Some accept it, some reject it.
    Divided,
    /// All reject it.
    Rejected,
}

/// The reports of the controllers of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerStatus {
    /// A summary.
    pub opinion: Opinion,
    /// The conditions that are not good, in the order of the status.
    pub reports: Vec<Report>,
    /// The report that an accepted policy is not in force.
    pub not_enforced: Option<Report>,
    /// The report that other policies override it.
    pub overridden: Option<Overridden>,
}

/// Where other policies override a policy, as its controllers report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overridden {
    /// On all its targets.
    Everywhere(Report),
    /// Somewhere; only for kinds whose profile states that their controllers report this (`status.overridden`).
    Somewhere(Report),
}

/// A condition that a controller reports for an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Report {
    /// The controller, if the status names one.
    pub controller: Option<Arc<str>>,
    /// The ancestor that the report is about, if the status names one.
    pub ancestor: Option<Place>,
    /// The condition.
    pub condition: Condition,
    /// Whether it rejects the object.
    pub is_rejection: bool,
}

/// The entries of relevant controllers in the status of a policy.
pub fn entries<'a>(
    snapshot: &'a Snapshot,
    policy: &'a Policy,
) -> impl Iterator<Item = &'a Entry> + Clone {
    let reported = policy.object.reported.as_deref();
    let entries = reported.into_iter().flat_map(|reported| &reported.entries);
    entries.filter(|entry| counts(snapshot, &policy.profile, entry))
}

fn counts(snapshot: &Snapshot, profile: &Profile, entry: &Entry) -> bool {
    let Some(theirs) = &entry.controller else {
        return true;
    };
    let of_class = match &entry.subject {
        Subject::Ancestor(place) => controller(snapshot, &place.object),
        Subject::Whole | Subject::Parent(_) | Subject::Listener(_) => None,
    };
    match of_class {
        Some(known) => known == theirs,
        None => profile.controllers.is_empty() || profile.controllers.contains(theirs),
    }
}

/// The controller of a Gateway, or of the Gateway that a `ListenerSet` joins: that of its class.
pub fn controller<'a>(snapshot: &'a Snapshot, key: &ObjectKey) -> Option<&'a Arc<str>> {
    let Node::Gateway { class, .. } = &snapshot.get(gateway_of(snapshot, key))?.node else {
        return None;
    };
    snapshot.controller_of(&class_key(class))
}

/// The condition by which a controller reports that a policy is not in force: that it rejects the policy, or that it
/// does not enforce it. A condition by which the policy waits for objects to apply to is none.
fn denial<'a>(profile: &Profile, entry: &'a Entry) -> Option<&'a Condition> {
    let counts = |condition: &&Condition| {
        profile.in_force.contains(&condition.name)
            && !profile.idle.iter().any(|idle| {
                *idle.r#type == *condition.name
                    && *idle.reason == *condition.reason
                    && *idle.message == *condition.message
            })
    };
    let not_enforced = || entry.not_enforced().find(counts);
    // A condition that the profile names by itself counts whatever its reason.
    let named = || {
        let mut conditions = entry.conditions.iter();
        conditions.find(|condition| {
            let is_general = ENFORCEMENT.contains(&&*condition.name);
            !is_general && condition.is_current && !condition.holds && counts(condition)
        })
    };
    entry.rejection().or_else(not_enforced).or_else(named)
}

/// Where a policy is rejected or reported not to be in force.
pub fn rejected(snapshot: &Snapshot, policy: &Policy) -> Rejected {
    if policy.object.reported.is_none() {
        return Rejected::Nowhere;
    }
    let (mut places, mut others) = (Vec::new(), false);
    for entry in entries(snapshot, policy) {
        let is_denied = denial(&policy.profile, entry).is_some();
        match (is_denied, &entry.subject) {
            (true, _) if is_of_supposed(snapshot, policy, entry) => {}
            (true, Subject::Ancestor(place)) => places.push(place.clone()),
            (true, _) => return Rejected::Everywhere,
            (false, _) if entry.acceptance == Acceptance::Unsaid => {}
            _ => others = true,
        }
    }
    match (places.is_empty(), others) {
        (true, _) => Rejected::Nowhere,
        (false, false) => Rejected::Everywhere,
        (false, true) => Rejected::Through(places),
    }
}

/// Whether a policy is rejected because of other objects that are assumed to differ: then the opinion of its
/// controllers is not known yet.
fn is_of_supposed(snapshot: &Snapshot, policy: &Policy, entry: &Entry) -> bool {
    let reason = entry.rejection().map(|condition| &*condition.reason);
    let own = &policy.key().namespace;
    let mut targets = policy.targets.iter().filter_map(|t| t.object(own));
    let is_ancestor = match &entry.subject {
        Subject::Ancestor(place) => snapshot.is_supposed(&place.object),
        Subject::Whole | Subject::Parent(_) | Subject::Listener(_) => false,
    };
    reason.is_some_and(|reason| OF_OTHERS.contains(&reason))
        && (is_ancestor || targets.any(|target| snapshot.is_supposed(&target)))
}

/// The report that rejects a policy; otherwise the one that it is not in force.
pub fn rejection(snapshot: &Snapshot, policy: &Policy) -> Option<Report> {
    let entries = entries(snapshot, policy);
    let mut rejecting = entries.clone();
    let rejection = rejecting.find_map(|entry| Some(Report::of(entry, entry.rejection()?)));
    let mut all = entries;
    let denial = |entry| Some(Report::of(entry, denial(&policy.profile, entry)?));
    rejection.or_else(|| all.find_map(denial))
}

/// The report that a policy is not in force, if its controllers accept it.
pub fn not_enforced(snapshot: &Snapshot, policy: &Policy) -> Option<Report> {
    rejection(snapshot, policy).filter(|report| !report.is_rejection)
}

/// The reports that reject a policy, or that it is not in force, for single ancestors.
pub fn rejections_by_ancestor(snapshot: &Snapshot, policy: &Policy) -> Vec<Report> {
    let entries = entries(snapshot, policy);
    let reports = entries.filter(|entry| !is_of_supposed(snapshot, policy, entry));
    let reports =
        reports.filter_map(|entry| Some(Report::of(entry, denial(&policy.profile, entry)?)));
    reports.filter(|report| report.ancestor.is_some()).collect()
}

/// Whether the controllers of a policy reject it at an object, and all of them for this reason. Reports that do not name
/// an ancestor count for every object.
pub fn is_rejected_only_for(
    snapshot: &Snapshot,
    policy: &Policy,
    object: &ObjectKey,
    reason: &str,
) -> bool {
    let entries = entries(snapshot, policy).filter(|entry| match &entry.subject {
        Subject::Ancestor(place) => place.object == *object,
        Subject::Whole | Subject::Parent(_) | Subject::Listener(_) => true,
    });
    let denial = |entry| denial(&policy.profile, entry);
    let mut rejections = entries.filter_map(denial).peekable();
    rejections.peek().is_some() && rejections.all(|rejection| *rejection.reason == *reason)
}

/// Whether a policy is rejected only because of other targets than this one.
///
/// Controllers write one entry per ancestor, which does not name the target. Envoy Gateway 1.9.1
/// (`internal/gatewayapi`: `processSecurityPolicyForRoute` and its counterparts for other kinds) processes target by
/// target. It skips a target that already has another policy (`Conflicted`) or lacks the section (`TargetNotFound`),
/// and records that for the ancestors of that target; the policy is in force on the other targets even if they share
/// these ancestors. It records nothing for an object that does not exist. Listeners that share a port (`Invalid`)
/// concern their target alone. Any other fault (`Invalid`) applies to the policy at all its targets.
pub fn is_of_another_target(snapshot: &Snapshot, policy: &Policy, object: &ObjectKey) -> bool {
    if policy.targets.len() < 2 {
        return false;
    }
    let entries = entries(snapshot, policy);
    let rejections =
        entries.filter_map(|entry| Some((&entry.subject, denial(&policy.profile, entry)?)));
    let mut rejections = rejections.peekable();
    rejections.peek().is_some()
        && rejections.all(|(subject, rejection)| {
            explains(snapshot, policy, object, (subject, &rejection.reason))
        })
}

/// Whether the reason applies to a target of the policy other than this object.
fn explains(
    snapshot: &Snapshot,
    policy: &Policy,
    target_object: &ObjectKey,
    (subject, reason): (&Subject, &str),
) -> bool {
    let is_about = |key: &ObjectKey| match subject {
        Subject::Ancestor(place) => place.object == *key,
        Subject::Whole | Subject::Parent(_) | Subject::Listener(_) => false,
    };
    let own = &policy.key().namespace;
    let others = policy.targets.iter();
    let mut others = others.filter_map(|target| Some((target, target.object(own)?)));
    others.any(|(target, key)| {
        if key == *target_object {
            return false;
        }
        let is_granted = || {
            attachment::permission(snapshot, policy, target, &key)
                != AttachmentPermission::NotGranted
        };
        let has_section = || {
            let object = snapshot.get(&key).map(|object| &**object);
            target.is_whole() || !attachment::sections(&policy.profile, target, object).is_empty()
        };
        let taken = || {
            let mut rivals = snapshot.policies_naming(&key);
            *policy.profile.same_target == SameTarget::OldestWins
                && rivals.any(|winner| {
                    let mut theirs = winner.targets.iter();
                    winner.key().gk == policy.key().gk
                        && winner.precedence() < policy.precedence()
                        && theirs.any(|theirs| {
                            theirs.section == target.section
                                && theirs.object(&winner.key().namespace).as_ref() == Some(&key)
                        })
                })
        };
        match reason {
            "Conflicted" => taken(),
            "TargetNotFound" => snapshot.lacks(&key) || !has_section() || !is_granted(),
            "RefNotPermitted" => !is_granted(),
            _ => is_about(&key) && clashes(snapshot, policy, target, &key, reason),
        }
    })
}

/// Whether a target clashes with other objects in a way that controllers report with this reason.
fn clashes(
    snapshot: &Snapshot,
    policy: &Policy,
    target: &TargetRef,
    key: &ObjectKey,
    reason: &str,
) -> bool {
    let object = snapshot.get(key).map(|object| &**object);
    let places = if target.is_whole() {
        vec![key.whole()]
    } else {
        let sections = attachment::sections(&policy.profile, target, object).into_iter();
        sections.map(|section| key.section(section)).collect()
    };
    let rejections = RejectionFinder::default();
    let clash = |place: &Place| rejections.of_attached(snapshot, policy, place);
    let mut clashes = places.iter().filter_map(clash);
    clashes.any(|rejection| rejection.reason == reason)
}

/// Whether other objects are needed to know where a policy is rejected.
pub(crate) fn is_disputed(policy: &Policy) -> bool {
    let entries = policy.object.reported.as_ref().map(|r| &*r.entries);
    let entries = entries.unwrap_or_default();
    let mut all = entries.iter();
    all.any(|entry| denial(&policy.profile, entry).is_some())
        && (entries.len() > 1 || policy.targets.len() > 1)
}

/// The condition by which a listener of a Gateway or `ListenerSet` accepts no routes.
pub fn of_listener<'a>(owner: &'a Object, name: &str) -> Option<&'a Condition> {
    let reported = owner.reported.as_ref()?;
    let mut entries = reported.entries.iter();
    entries.find_map(|entry| match &entry.subject {
        Subject::Whole => entry.rejection(),
        Subject::Listener(listener) if **listener == *name => {
            let mut conditions = entry.conditions.iter();
            let conflicted = || conditions.find(|c| c.is_current && &*c.name == "Conflicted");
            entry.rejection().or_else(conflicted)
        }
        _ => None,
    })
}

/// The condition by which its controller does not accept the `GatewayClass` of a Gateway, unless that controller runs the
/// Gateways of such a class nevertheless.
pub fn of_class<'a>(snapshot: &'a Snapshot, gateway: &Object) -> Option<&'a Condition> {
    let Node::Gateway { class, .. } = &gateway.node else {
        return None;
    };
    let class = snapshot.get(&class_key(class))?;
    if snapshot.is_supposed(&class.key) {
        return None;
    }
    let report = of_whole(class)?;
    let controller = class.node.controller();
    let facts = controller.and_then(|name| snapshot.controller_facts(name));
    let runs = facts.is_some_and(|facts| facts.runs_gateways_of_rejected_class);
    (!runs).then_some(report)
}

/// The condition by which its controller does not accept an object as a whole.
pub fn of_whole(object: &Object) -> Option<&Condition> {
    let mut entries = object.reported.as_ref()?.entries.iter();
    entries.find_map(|entry| match &entry.subject {
        Subject::Whole => entry.rejection(),
        _ => None,
    })
}

/// The parents whose controllers report that references of a route do not lead to objects, with the report.
pub fn unresolved<'a>(
    snapshot: &'a Snapshot,
    route: &'a Object,
) -> impl Iterator<Item = (&'a ParentRef, &'a Condition)> {
    let entries = route.reported.iter().flat_map(|reported| &reported.entries);
    entries.filter_map(|entry| {
        let Subject::Parent(parent) = &entry.subject else {
            return None;
        };
        let of_class = controller(snapshot, &parent.object);
        let counts = of_class.is_none_or(|known| entry.controller.as_ref() == Some(known));
        let is_supposed = snapshot.is_supposed(&parent.object);
        let report = entry.unresolved()?;
        (counts && !is_supposed).then_some((parent, report))
    })
}

/// The condition by which a parent does not accept a route that names it.
pub fn of_route<'a>(
    snapshot: &Snapshot,
    route: &'a Object,
    parent: &ParentRef,
) -> Option<&'a Condition> {
    let reported = route.reported.as_ref()?;
    if snapshot.is_supposed(&parent.object) {
        return None;
    }
    let of_class = controller(snapshot, &parent.object);
    let entries = reported.entries.iter().filter(|entry| {
        let about = matches!(&entry.subject, Subject::Parent(named) if named == parent);
        about && of_class.is_none_or(|known| entry.controller.as_ref() == Some(known))
    });
    // A Service has no class: one controller that accepts the route is enough.
    let mut all = entries.clone();
    if all.any(|entry| entry.acceptance == Acceptance::Accepted) {
        return None;
    }
    entries.into_iter().find_map(Entry::rejection)
}

// === impl Rejected ===

impl Rejected {
    /// Whether none of a policy is in force at an object.
    pub fn at(&self, object: &ObjectKey) -> bool {
        match self {
            Self::Nowhere => false,
            Self::Everywhere => true,
            Self::Through(places) => {
                let mut places = places.iter();
                places.any(|place| place.section.is_none() && place.object == *object)
            }
        }
    }
}

// === impl ControllerStatus ===

impl ControllerStatus {
    /// Collects the reports about a policy.
    pub fn of(snapshot: &Snapshot, policy: &Policy) -> Self {
        let entries = entries(snapshot, policy);
        let has = |acceptance| entries.clone().any(|entry| entry.acceptance == acceptance);
        let opinion = match (
            has(Acceptance::Rejected),
            has(Acceptance::Accepted),
            has(Acceptance::Outdated),
        ) {
            (true, false, false) => Opinion::Rejected,
            (true, ..) => Opinion::Divided,
            (false, _, true) => Opinion::Outdated,
            (false, true, false) => Opinion::Accepted,
            (false, false, false) => Opinion::Unsaid,
        };
        let mut reports = Vec::new();
        for entry in entries.clone() {
            let conditions = entry.conditions.iter();
            reports.extend(conditions.map(|condition| Report::of(entry, condition)));
        }
        let not_enforced = |entry: &Entry| Some(Report::of(entry, entry.not_enforced().next()?));
        let find = |condition_is: fn(&Condition) -> bool| {
            entries.clone().find_map(|entry| {
                let mut conditions = entry.conditions.iter();
                Some(Report::of(entry, conditions.find(|c| condition_is(c))?))
            })
        };
        let everywhere = find(Condition::is_overridden).map(Overridden::Everywhere);
        let somewhere = || {
            let tells = *policy.profile.tells_overridden;
            let report = find(Condition::is_overridden_somewhere).filter(|_| tells);
            report.map(Overridden::Somewhere)
        };
        Self {
            opinion,
            reports,
            not_enforced: entries.clone().find_map(not_enforced),
            overridden: everywhere.or_else(somewhere),
        }
    }
}

// === impl Report ===

/// Formatted like [`Condition`].
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt(f)
    }
}

impl Report {
    fn of(entry: &Entry, condition: &Condition) -> Self {
        Self {
            controller: entry.controller.clone(),
            ancestor: match &entry.subject {
                Subject::Ancestor(place) => Some(place.clone()),
                _ => None,
            },
            condition: condition.clone(),
            is_rejection: entry.rejection() == Some(condition),
        }
    }
}
