//! The page itself: the state that it shows, and its reader.

/// Facts that do not change while the page is served.
#[derive(Clone, Debug)]
pub(super) struct About {
    /// `cluster` or `directory`.
    pub(super) mode: &'static str,
    /// The state, in a few words.
    pub(super) source: String,
    /// The user who reads the cluster, if known.
    pub(super) user: Option<String>,
    /// Arguments that make commands read the same state.
    pub(super) arguments: Vec<String>,
}
