//! Facts about where settings of accepted policies are in force: not at every level, listener, route and port, and not beside
//! every other setting, filter or policy.
//!
//! Here is what a profile says; `effective` applies it to the paths around an object.

mod applies_through;
mod ignored_settings;
mod ineffective;
mod listeners;
mod not_applied;
mod out_of_place;
mod ports;
mod replacing_filter;
mod routes;

pub use applies_through::AppliesThrough;
pub use ignored_settings::IgnoredSettings;
pub use ineffective::{Ineffective, OnPath};
pub use listeners::OnListeners;
pub use not_applied::NotApplied;
pub use out_of_place::{ApplicableTo, OutOfPlace};
pub use ports::PortSettings;
pub use replacing_filter::ReplacingFilter;
pub use routes::OnRoutes;
