//! Sets of paths and of routes, and the extent of the paths of a kind through an object.
//!
//! What a path consists of is in `topology`; here is what the resolver asks about many of them at once.

mod path_set;
mod route_path_cache;
mod routes;
mod scope;

pub use path_set::PathSet;
pub(super) use route_path_cache::RoutePathCache;
pub use routes::Routes;
pub use scope::PathScope;
