//! Rejections of policies by controllers: the reason, and the effect on the policy.

use std::fmt;
use std::sync::Arc;

use crate::attachment::requests_to_backend::RequestFilter;
use crate::kinds::profile::WhenRejected;
use crate::model::ids::{ObjectKey, Place};

/// The rejection of a policy by its controllers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rejection {
    /// The reason of the condition.
    pub reason: &'static str,
    /// One line that names the other object.
    pub message: String,
    /// The effect on the policy at its target.
    pub effect: RejectionEffect,
    /// Whether requests that the policy is for get an error.
    pub requests_fail: bool,
    /// The condition that its controllers report, where the rejection is known from it.
    pub reported: Option<String>,
}

/// The effect of a rejection on a policy at its target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RejectionEffect {
    /// It is not attached.
    NotAttached,
    /// It still replaces policies above it: the target has no settings of the kind.
    WithoutSettings,
    /// It is in force without this setting, as keys within its settings.
    WithoutSetting(Arc<[String]>),
    /// It replaces nothing, and newer policies on its target still lose to it.
    WithoutEffect,
    /// It is not attached to some sections of the target, where policies above it stay in force.
    WithoutSections {
        /// The sections, by label.
        sections: Arc<[Arc<str>]>,
        /// Whether no other section of the target is accepted.
        all: bool,
    },
    /// Some requests to the target go without it: those of these routes, or through these Gateways.
    WithoutRequests {
        /// The requests.
        requests: Arc<[RequestFilter]>,
        /// Whether their controllers accept it and do not apply it.
        is_accepted: bool,
    },
    /// It is in force all the same.
    InForce,
    /// Its controllers accept it and do not apply it: it replaces nothing, and newer policies on its target still lose to it.
    NotApplied,
}

impl Rejection {
    /// The controller that rejects the policy, and the reason, as a part of a sentence.
    pub fn sentence(&self) -> String {
        match &self.reported {
            Some(condition) if self.requests_fail => {
                format!("its controller reports {condition}, and its requests get an error")
            }
            Some(condition) => format!("its controller reports {condition}"),
            None if self.is_accepted() => self.message.clone(),
            None => format!("attache expects its controller to reject it ({self})"),
        }
    }

    /// Whether its controllers accept the policy, and do not apply it.
    pub fn is_accepted(&self) -> bool {
        match self.effect {
            RejectionEffect::NotApplied => true,
            RejectionEffect::WithoutRequests { is_accepted, .. } => is_accepted,
            _ => false,
        }
    }

    /// Whether the policy is in force on its target, on other sections of it, or for other requests.
    pub fn is_partial(&self) -> bool {
        matches!(
            self.effect,
            RejectionEffect::WithoutSections { all: false, .. }
                | RejectionEffect::WithoutRequests { .. }
                | RejectionEffect::WithoutSetting(_)
                | RejectionEffect::InForce
        )
    }

    /// The requests to the target that go without the policy; none if it is rejected for all of them.
    pub fn requests(&self) -> &[RequestFilter] {
        match &self.effect {
            RejectionEffect::WithoutRequests { requests, .. } => requests,
            _ => &[],
        }
    }

    /// The first of these requests, in words; `None` if there are none.
    pub fn requests_in_words(&self) -> Option<String> {
        const MAX_REQUESTS: usize = 3;
        let requests = self.requests();
        let mut named: Vec<String> = requests
            .iter()
            .take(MAX_REQUESTS)
            .map(ToString::to_string)
            .collect();
        if let Some(more @ 1..) = requests.len().checked_sub(MAX_REQUESTS) {
            named.push(format!("{more} more"));
        }
        (!named.is_empty()).then(|| named.join(", "))
    }

    /// The sections of the target on which the policy is rejected; none if it is rejected as a
    /// whole.
    pub fn sections(&self) -> &[Arc<str>] {
        match &self.effect {
            RejectionEffect::WithoutSections { sections, .. } => sections,
            RejectionEffect::NotAttached
            | RejectionEffect::WithoutSettings
            | RejectionEffect::WithoutSetting(_)
            | RejectionEffect::WithoutEffect
            | RejectionEffect::WithoutRequests { .. }
            | RejectionEffect::InForce
            | RejectionEffect::NotApplied => &[],
        }
    }

    /// Whether a place is one of these sections of the target object.
    pub fn leaves_out(&self, object: &ObjectKey, place: &Place) -> bool {
        let mut sections = self.sections().iter();
        place.object == *object && sections.any(|name| place.section.as_ref() == Some(name))
    }
}

impl From<WhenRejected> for RejectionEffect {
    fn from(then: WhenRejected) -> Self {
        match then {
            WhenRejected::NotAttached => Self::NotAttached,
            WhenRejected::KeepsPlace => Self::WithoutSettings,
            WhenRejected::StillConflicts => Self::WithoutEffect,
            WhenRejected::NotApplied => Self::NotApplied,
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.message)?;
        if self.requests_fail {
            f.write_str("; requests to the target get an error")?;
        }
        Ok(())
    }
}
