//! Policy kinds: their profiles from YAML, from the configuration, and derived from CRDs.

pub mod cel;
pub mod profile;
pub mod schema;
