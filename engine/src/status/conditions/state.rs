//! The effect of a policy on its target.

/// The effect of an accepted policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// All of it is in force on all paths.
    Enforced,
    /// Some of it is in force, or all of it on some paths only.
    PartiallyEnforced,
    /// None of it is in force on any path.
    Overridden,
    /// It reaches no effective target, for this reason.
    NoEffect(NoEffect),
    /// It is unknown whether it reaches an effective target, for this reason.
    Unknown(String),
}

/// Why a policy reaches no effective target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NoEffect {
    /// The reason in words.
    pub why: String,
    /// Whether only objects below its target are missing, which may still be created: a route, a backend.
    pub waits: bool,
}

// === impl NoEffect ===

impl NoEffect {
    /// For a reason that lasts until the policy or an object that exists is changed.
    pub fn lasting(why: impl Into<String>) -> Self {
        let why = why.into();
        Self { why, waits: false }
    }
}
