//! Settings of reviews that the operator configures and a snapshot does not contain.

use std::fmt::Debug;
use std::sync::Arc;

use jiff::civil::Date;

use crate::admission::disclosure::{DisclosureLevels, Subject};
use crate::admission::finding::Finding;
use crate::admission::mutate::Mutations;
use crate::admission::request::{Operation, Request};
use crate::admission::review::States;
use crate::admission::severities::Severities;
use crate::admission::suppress::Suppressors;
use crate::state::snapshot::Snapshot;

/// The settings of reviews. They may change while attache runs.
#[derive(Clone, Debug, Default)]
pub struct ReviewSettings {
    /// The action for each code.
    pub severities: Severities,
    /// The disclosure levels, by policy kind.
    pub levels: DisclosureLevels,
    /// The mutations that are enabled.
    pub mutations: Mutations,
    /// The users who may suppress refusals.
    pub suppressors: Suppressors,
    /// Rules that the state must fulfil, if there are any.
    pub guard: Option<Arc<dyn Guard>>,
}

/// Rules that the state must fulfil. They are beyond the engine, which needs no language for rules.
pub trait Guard: Debug + Send + Sync {
    /// Whether there are no rules, so that nothing has to be compared.
    fn is_empty(&self) -> bool;

    /// The findings on a request about a rule itself; none if it is about another object.
    fn on_rule(&self, snapshot: &Snapshot, request: &Request<'_>, today: Date) -> Vec<Finding>;

    /// The findings on a request: the rules that are broken after it.
    fn findings(
        &self,
        states: &States,
        operation: Operation,
        subject: Option<&Subject>,
        today: Date,
    ) -> Vec<Finding>;
}
