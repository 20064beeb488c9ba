//! Settings of reviews that the operator configures and a snapshot does not contain.

use crate::admission::disclosure::Levels;
use crate::admission::mutate::Mutations;
use crate::admission::severities::Severities;
use crate::admission::suppress::Suppressors;

/// The settings of reviews. They may change while attache runs.
#[derive(Clone, Debug, Default)]
pub struct ReviewSettings {
    /// The action for each code.
    pub severities: Severities,
    /// The disclosure levels, by policy kind.
    pub levels: Levels,
    /// The mutations that are enabled.
    pub mutations: Mutations,
    /// The users who may suppress refusals.
    pub suppressors: Suppressors,
}
