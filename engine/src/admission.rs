//! Reviews of admission requests: from a snapshot and a request to a verdict. The entry point is
//! [`review::review`].

pub mod disclosure;
pub mod evidence;
pub mod finding;
pub mod mutate;
pub mod mutation;
pub mod request;
pub mod review;
pub mod settings;
pub mod severities;
pub mod staleness;
pub mod suppress;
pub mod validate;
pub mod verdict;
