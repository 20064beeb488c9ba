//! A compact form of the status that controllers reported: entry by entry, with the conditions that are not good.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::bounded_vec::BoundedVec;
use super::json::parent_kind;
use super::{Header, ParentRef};
use crate::model::ids::{ObjectKey, Place};
use crate::model::literal;

/// Conditions that report acceptance.
pub const ACCEPTANCE: [&str; 3] = ["Accepted", "Attached", WAYPOINT_ACCEPTED];
/// The condition of a policy that a waypoint applies.
pub const WAYPOINT_ACCEPTED: &str = "WaypointAccepted";
/// Conditions that report enforcement.
pub const ENFORCEMENT: [&str; 2] = ["Enforced", "Programmed"];
/// The condition that reports whether references lead to objects.
pub const RESOLVED: &str = "ResolvedRefs";
/// The condition, `True` if some rules of a route do not work.
pub const PARTIALLY_INVALID: &str = "PartiallyInvalid";
/// Reasons of a condition that does not hold yet.
pub const WAITING: [&str; 2] = ["Pending", "Reconciling"];
/// Reasons that do not count as a rejection: the condition does not hold yet, or not because of the object itself.
const NO_REJECTION: [&str; 5] = [
    "Pending",
    "Reconciling",
    OVERRIDDEN,
    MERGED,
    "ListenersNotValid",
];
/// The condition of a listener that is part of the configuration of a proxy.
const PROGRAMMED: &str = "Programmed";
/// Reasons by which a listener is not programmed yet, or not because of itself.
const NOT_YET_PROGRAMMED: [&str; 3] = ["AddressNotAssigned", "AddressNotUsable", "NoResources"];
/// The reason of a listener that is not programmed because of its spec.
const INVALID: &str = "Invalid";
/// The condition, or its reason, by which a controller reports that other policies override a policy.
pub const OVERRIDDEN: &str = "Overridden";
/// The reason by which a controller reports that it merged a policy with others.
pub const MERGED: &str = "Merged";
/// The condition, `True` if other policies of the same target take the place of a policy.
pub const CONFLICTED: &str = "Conflicted";
/// Longer messages are truncated.
const LONGEST_MESSAGE: usize = 512;

/// The status reported for an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    /// In the order of the status. For routes, Gateways and `ListenerSets`, empty unless some entry is not good.
    pub entries: Box<[StatusEntry]>,
}

/// The report of one controller about an object or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusEntry {
    /// The object or part.
    pub subject: Subject,
    /// The controller, if the status names one.
    pub controller: Option<Arc<str>>,
    /// Whether the object is accepted.
    pub acceptance: ReportedAcceptance,
    /// Conditions that are not good.
    pub conditions: Box<[Condition]>,
}

/// The subject of a status entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The object as a whole.
    Whole,
    /// A policy, at an ancestor of its target.
    Ancestor(Place),
    /// A route, at a parent.
    Parent(ParentRef),
    /// A listener of the object.
    Listener(Arc<str>),
}

/// The acceptance of an object, as a controller reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedAcceptance {
    /// Not reported, or not yet.
    Unsaid,
    /// Reported for an older generation.
    Outdated,
    /// The controller accepts it.
    Accepted,
    /// The controller rejects it.
    Rejected,
}

/// A condition that is not good.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Condition {
    /// The type.
    pub name: Arc<str>,
    /// Whether the status is `True`; otherwise it is `False`.
    pub holds: bool,
    /// The reason.
    pub reason: Arc<str>,
    /// The message; on one line, truncated if long.
    pub message: Arc<str>,
    /// The generation that the controller observed.
    pub observed_generation: Option<i64>,
    /// Whether that is the current generation of the object.
    pub is_current: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatusJson<'a> {
    #[serde(default, deserialize_with = "literal::optional")]
    observed_generation: Option<Value>,
    #[serde(borrow)]
    conditions: Option<&'a RawValue>,
    #[serde(borrow)]
    ancestors: Option<&'a RawValue>,
    #[serde(borrow)]
    parents: Option<&'a RawValue>,
    #[serde(borrow)]
    listeners: Option<&'a RawValue>,
    #[serde(borrow)]
    controllers: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EntryJson {
    ancestor_ref: Option<RefJson>,
    parent_ref: Option<RefJson>,
    name: Option<Arc<str>>,
    controller_name: Option<Arc<str>>,
    conditions: Option<BoundedVec<ConditionJson>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RefJson {
    group: Option<Arc<str>>,
    kind: Option<Arc<str>>,
    namespace: Option<Arc<str>>,
    name: Arc<str>,
    section_name: Option<Arc<str>>,
    port: Option<u16>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConditionJson {
    r#type: Arc<str>,
    status: Arc<str>,
    reason: Option<Arc<str>>,
    message: Option<String>,
    #[serde(default, deserialize_with = "literal::optional")]
    observed_generation: Option<Value>,
}

fn list<'a, T: Deserialize<'a>>(text: &'a RawValue) -> Option<Vec<T>> {
    let read: Option<BoundedVec<T>> = serde_json::from_str(text.get()).ok()?;
    read.map(|few| few.0)
}

/// Some controllers write the number as a string.
fn number(value: Option<&Value>) -> Option<i64> {
    match value? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// The context for reading the entries of a status.
struct Reader<'a> {
    header: &'a Header,
    /// The generation of the object.
    generation: Option<i64>,
    /// The observed generation of the status as a whole.
    observed: Option<i64>,
}

// === impl Reader ===

impl Reader<'_> {
    fn part(&self, json: EntryJson) -> StatusEntry {
        let subject = match (json.ancestor_ref, json.parent_ref, json.name) {
            (Some(ancestor), ..) => {
                let ParentRef {
                    object, section, ..
                } = self.reference(ancestor);
                Subject::Ancestor(Place { object, section })
            }
            (_, Some(parent), _) => Subject::Parent(self.reference(parent)),
            (.., Some(name)) => Subject::Listener(name),
            _ => Subject::Whole,
        };
        let controller = json.controller_name;
        let conditions = json.conditions.map(|few| few.0).unwrap_or_default();
        self.entry(subject, controller, conditions)
    }

    fn reference(&self, json: RefJson) -> ParentRef {
        let gk = parent_kind(json.group, json.kind);
        let namespace = json.namespace;
        let namespace = namespace.unwrap_or_else(|| self.header.namespace.clone());
        let section = json.section_name;
        ParentRef {
            object: ObjectKey::new(gk, namespace, json.name),
            section: section.filter(|name| !name.is_empty()),
            port: json.port,
        }
    }

    fn entry(
        &self,
        subject: Subject,
        controller: Option<Arc<str>>,
        conditions: Vec<ConditionJson>,
    ) -> StatusEntry {
        let mut acceptance = ReportedAcceptance::Unsaid;
        let mut kept: Vec<Condition> = Vec::new();
        let mut is_enforced = false;
        for json in conditions {
            let observed = number(json.observed_generation.as_ref()).or(self.observed);
            let seen = observed.zip(self.generation);
            let is_current = seen.is_none_or(|(seen, generation)| seen >= generation);
            let (name, reason) = (json.r#type, json.reason.unwrap_or_default());
            let holds = match &*json.status {
                "True" => true,
                "False" => false,
                _ => continue,
            };
            if ACCEPTANCE.contains(&&*name) && acceptance != ReportedAcceptance::Rejected {
                acceptance = match (is_current, holds) {
                    (false, _) => ReportedAcceptance::Outdated,
                    (true, true) => ReportedAcceptance::Accepted,
                    (true, false) if NO_REJECTION.contains(&&*reason) => acceptance,
                    (true, false) => ReportedAcceptance::Rejected,
                };
            }
            is_enforced |= is_current && holds && ENFORCEMENT.contains(&&*name);
            let is_bad = match &*name {
                CONFLICTED | OVERRIDDEN | PARTIALLY_INVALID => holds,
                RESOLVED => !holds,
                name => (ACCEPTANCE.contains(&name) || ENFORCEMENT.contains(&name)) && !holds,
            };
            if is_bad {
                kept.push(Condition {
                    name,
                    holds,
                    reason,
                    message: line(&json.message.unwrap_or_default()),
                    observed_generation: observed,
                    is_current,
                });
            }
        }
        // An enforced policy is accepted, even if the controller does not report so.
        if acceptance == ReportedAcceptance::Unsaid && is_enforced {
            acceptance = ReportedAcceptance::Accepted;
        }
        let is_listener = matches!(subject, Subject::Listener(_));
        if is_listener
            && kept
                .iter()
                .any(|condition| condition.leaves_out(acceptance))
        {
            acceptance = ReportedAcceptance::Rejected;
        }
        StatusEntry {
            subject,
            controller,
            acceptance,
            conditions: kept.into(),
        }
    }
}

/// A message as one line.
fn line(message: &str) -> Arc<str> {
    let end = message.floor_char_boundary(LONGEST_MESSAGE);
    let cut = message.get(..end).unwrap_or_default();
    let words: Vec<&str> = cut
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ").into()
}

// === impl Reported ===

impl Reported {
    /// Reads a status; `None` if it contains nothing of interest or cannot be read.
    pub fn read(
        status: &RawValue,
        header: &Header,
        generation: Option<i64>,
    ) -> Option<Arc<Reported>> {
        let text = status.get();
        // Most objects are routes without problems.
        let plain = !["False\"", "Unknown\"", "Conflicted\"", "PartiallyInvalid\""]
            .iter()
            .any(|word| text.contains(word));
        if plain && (text.contains("\"parents\"") || text.contains("\"listeners\"")) {
            return None;
        }
        let json: StatusJson<'_> = serde_json::from_str(text).ok()?;
        let reader = Reader {
            header,
            generation,
            observed: number(json.observed_generation.as_ref()),
        };
        let mut entries = Vec::new();
        let of_policy = json.parents.is_none() && json.listeners.is_none();
        if let Some(conditions) = json.conditions.and_then(list) {
            entries.push(reader.entry(Subject::Whole, None, conditions));
        }
        let parts = [
            json.ancestors,
            json.parents,
            json.listeners,
            json.controllers,
        ];
        for part in parts.into_iter().flatten() {
            let part: Vec<EntryJson> = list(part).unwrap_or_default();
            entries.extend(part.into_iter().map(|entry| reader.part(entry)));
        }
        let counts = |entry: &StatusEntry| {
            !entry.conditions.is_empty()
                || of_policy && entry.acceptance != ReportedAcceptance::Unsaid
        };
        if !entries.iter().any(counts) {
            return None;
        }
        if let [entry] = &mut *entries
            && entry.is_plain_acceptance()
        {
            entry.subject = Subject::Whole;
        }
        let entries = entries.into();
        Some(Arc::new(Reported { entries }))
    }

    /// Whether it says that the object is accepted and no more, as most policies' reports that name no controller.
    pub(crate) fn is_plain_acceptance(&self) -> bool {
        let [entry] = &*self.entries else {
            return false;
        };
        entry.is_plain_acceptance() && entry.subject == Subject::Whole
    }

    /// Fills in the namespace that the manifest of the object leaves open.
    pub fn place_in(&mut self, namespace: &Arc<str>) {
        for entry in &mut self.entries {
            let object = match &mut entry.subject {
                Subject::Ancestor(place) => &mut place.object,
                Subject::Parent(parent) => &mut parent.object,
                Subject::Whole | Subject::Listener(_) => continue,
            };
            if object.namespace.is_empty() && !object.gk.is_gateway_api("GatewayClass") {
                *object = ObjectKey::new(object.gk.clone(), namespace.clone(), object.name.clone());
            }
        }
    }
}

// === impl StatusEntry ===

impl StatusEntry {
    fn is_plain_acceptance(&self) -> bool {
        self.acceptance == ReportedAcceptance::Accepted
            && self.controller.is_none()
            && self.conditions.is_empty()
    }

    /// The condition that rejects the object at its current generation.
    pub fn rejection(&self) -> Option<&Condition> {
        if self.acceptance != ReportedAcceptance::Rejected {
            return None;
        }
        let conditions = || self.conditions.iter();
        let left_out =
            || conditions().find(|condition| condition.leaves_out(ReportedAcceptance::Unsaid));
        let of_listener = matches!(self.subject, Subject::Listener(_));
        let rejection = conditions().find(|condition| condition.rejects());
        rejection.or_else(|| left_out().filter(|_| of_listener))
    }

    /// The conditions that report that an accepted object is not in force.
    pub fn not_enforced(&self) -> impl Iterator<Item = &Condition> {
        let conditions = self.conditions.iter();
        conditions.filter(|condition| {
            condition.is_current
                && ENFORCEMENT.contains(&&*condition.name)
                && !NO_REJECTION.contains(&&*condition.reason)
        })
    }

    /// The condition that reports a fault of an object that is accepted: a reference does not lead to an object, or a rule does
    /// not work.
    pub fn fault(&self) -> Option<&Condition> {
        let is_fault = |name: &str| [RESOLVED, PARTIALLY_INVALID].contains(&name);
        let mut conditions = self.conditions.iter();
        conditions.find(|condition| condition.is_current && is_fault(&condition.name))
    }
}

// === impl Condition ===

impl Condition {
    /// Whether it reports that other policies override this one on all its targets.
    pub fn is_overridden(&self) -> bool {
        let is_of_enforcement = ENFORCEMENT.contains(&&*self.name) && !self.holds;
        self.is_current && is_of_enforcement && &*self.reason == OVERRIDDEN
    }

    /// Whether it reports that on some targets, for kinds whose controllers write such a condition.
    pub fn is_overridden_somewhere(&self) -> bool {
        self.is_current && self.holds && &*self.name == OVERRIDDEN
    }
}

/// `Accepted=False (NotAllowedByListeners): routes of this namespace are not allowed`.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = if self.holds { "True" } else { "False" };
        write!(f, "{}={status}", self.name)?;
        if !self.reason.is_empty() {
            write!(f, " ({})", self.reason)?;
        }
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        Ok(())
    }
}

impl Condition {
    fn rejects(&self) -> bool {
        self.is_current
            && ACCEPTANCE.contains(&&*self.name)
            && !NO_REJECTION.contains(&&*self.reason)
    }

    /// Whether it reports that a listener is left out of the configuration. Some controllers write no other condition
    /// for such a listener; others accept it and call it invalid.
    fn leaves_out(&self, acceptance: ReportedAcceptance) -> bool {
        let reason = &*self.reason;
        let is_lasting = match acceptance {
            ReportedAcceptance::Accepted => reason == INVALID,
            _ => !NO_REJECTION.contains(&reason) && !NOT_YET_PROGRAMMED.contains(&reason),
        };
        self.is_current && &*self.name == PROGRAMMED && is_lasting
    }
}

#[cfg(test)]
mod tests;
