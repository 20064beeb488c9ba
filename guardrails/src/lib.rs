//! Guardrails: rules over the effective policies of Gateway API objects, written in CEL.
//!
//! A guardrail names targets, a policy kind and rules. Each path to such a target has one effective policy of the kind;
//! every rule must hold for it. Pure, as the engine: the snapshot, the request and the date are arguments.

mod annotated;
mod annotation;
mod applied_guardrail;
mod change;
mod cost;
mod definition;
mod evaluation;
mod exception;
mod exempt;
mod expression;
mod fault_group;
mod file;
mod fulfilment;
mod fulfilment_counts;
mod functions;
mod guardrail;
mod guardrails;
mod in_force;
mod judge;
mod macros;
mod matching;
mod mistake;
mod nesting;
mod objects_no_longer_covered;
mod out_of_place;
mod path;
mod reason;
mod removed_kind;
mod report;
mod rerouted_requests;
mod selector;
mod shape;
mod status;
mod target_paths;
mod target_paths_in_state;
mod unmatched;
mod unreadable_policies;
mod value_type;
mod values;
mod variables;

pub use annotated::EXCEPTIONS;
pub use change::GuardedChange;
pub use definition::definition;
pub use exception::Exception;
pub use file::{Action, GuardrailFile, OnError};
pub use fulfilment::{Fulfilment, targets, unknown_kind};
pub use fulfilment_counts::{Count, count, each_target};
pub use functions::Functions;
pub use guardrail::{Guardrail, GuardrailError, guardrail_kind, is_guardrail};
pub use guardrails::Guardrails;
pub use judge::{Fault, Judge, TargetResult, in_force_there};
pub use report::{BrokenRule, current_findings, earlier_findings};
pub use status::{Condition, Status};
