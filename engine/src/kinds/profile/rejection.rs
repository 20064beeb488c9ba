//! Facts about policies that controllers reject: for settings of their own, for what they lack, for targets that no
//! controller takes, and for objects that do not exist.
//!
//! Here is what a profile says; which policies are rejected for it is decided in `attachment`.

mod excluded_targets;
mod references;
pub(super) mod rejected_if;
mod reported_invalid;
pub(super) mod requirements;

pub use excluded_targets::ExcludedTargets;
pub use references::{Reference, WhenRejected};
pub use rejected_if::{RejectedIf, TargetCondition};
pub use reported_invalid::ReportedInvalid;
pub use requirements::Requirement;
