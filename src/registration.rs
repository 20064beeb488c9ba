//! Webhook configurations: which kinds the API server sends to attache, and on what terms.
//!
//! This module is pure. The command that prints configurations and the task that keeps them current both use it, so
//! that they cannot differ.

mod ca;
mod configuration;
mod role;
mod rules;
mod update;

pub use ca::ca_bundle;
pub use configuration::{CallBy, FailurePolicy, WebhookOptions, configuration};
pub use role::role;
pub use rules::{Policies, Resource, is_nameable, policies, webhooks};
pub use update::{
    CA_FIELD_MANAGER, FIELD_MANAGER, ca_update, injected_by_cert_manager, published, update_for,
};

/// The API group of webhook configurations.
pub const GROUP: &str = "admissionregistration.k8s.io";
/// The version of webhook configurations.
pub const VERSION: &str = "v1";

/// A webhook; each has a configuration of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// `/validate`.
    Validate,
    /// `/mutate`.
    Mutate,
}

// === impl Endpoint ===

impl Endpoint {
    /// Both webhooks.
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

    /// A short name, for checks and metric labels.
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
            // A deleted object cannot be changed.
            Self::Mutate => &["CREATE", "UPDATE"],
        }
    }
}
