//! How attache is registered with an API server: which kinds it is asked about, and on what terms.
//!
//! Pure. The command that prints configurations and the task that keeps them current share it, so
//! they cannot come to differ.

mod ca;
mod configuration;
mod keep;
mod role;
mod rules;

pub use ca::ca_bundle;
pub use configuration::{CallBy, FailurePolicy, Terms, configuration};
pub use keep::{FIELD_MANAGER, amendment};
pub use role::role;
pub use rules::{Policies, Resource, is_nameable, policies, webhooks};

/// The API group of webhook configurations.
pub const GROUP: &str = "admissionregistration.k8s.io";
/// Their version.
pub const VERSION: &str = "v1";

/// What the API server may ask for; each has a configuration of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// `/validate`.
    Validate,
    /// `/mutate`.
    Mutate,
}

// === impl Endpoint ===

impl Endpoint {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Validate, Self::Mutate];

    /// The kind of its configuration.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Validate => "ValidatingWebhookConfiguration",
            Self::Mutate => "MutatingWebhookConfiguration",
        }
    }

    /// Its configuration's name in URLs.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Validate => "validatingwebhookconfigurations",
            Self::Mutate => "mutatingwebhookconfigurations",
        }
    }

    /// A short name, for checks and labels of metrics.
    pub fn word(self) -> &'static str {
        match self {
            Self::Validate => "validating",
            Self::Mutate => "mutating",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Validate => "/validate",
            Self::Mutate => "/mutate",
        }
    }

    fn operations(self) -> &'static [&'static str] {
        match self {
            Self::Validate => &["CREATE", "UPDATE", "DELETE"],
            // There is nothing to change in what goes.
            Self::Mutate => &["CREATE", "UPDATE"],
        }
    }
}
