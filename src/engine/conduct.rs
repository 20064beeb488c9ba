//! How reviews are conducted: what the operator configured and a snapshot does not hold.

use super::disclosure::Levels;
use super::mutate::Mutations;
use super::severities::Severities;
use super::suppress::Suppressors;

/// What the configuration says of reviews. It may change while attache runs.
#[derive(Clone, Debug, Default)]
pub struct Conduct {
    /// What each code does.
    pub severities: Severities,
    /// The most that is told of policies, by kind.
    pub levels: Levels,
    /// What is mended in objects on their way in.
    pub mutations: Mutations,
    /// Who may suppress what refuses.
    pub suppressors: Suppressors,
}
