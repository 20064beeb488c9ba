//! The sources of a review beyond the snapshot.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::engine::admission::disclosure::Subject;
use crate::engine::admission::staleness::StaleKinds;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::Object;
use crate::telemetry::traces::Traces;

/// Reads an object from the API server: `None` if it does not exist, an error if that is unknown.
pub type Confirm =
    Arc<dyn Fn(ObjectKey) -> BoxFuture<'static, Result<Option<Object>, String>> + Send + Sync>;

/// Lists all objects of a kind on the API server, or says why that is impossible.
pub type List = Arc<
    dyn Fn(GroupKind) -> BoxFuture<'static, Result<Arc<Vec<Arc<Object>>>, String>> + Send + Sync,
>;

/// Whether a user may `get` an object; an error counts as no.
pub type MayGet = Arc<dyn Fn(Arc<Subject>, ObjectKey) -> BoxFuture<'static, bool> + Send + Sync>;

/// Returns the stale kinds.
pub type Age = Arc<dyn Fn() -> StaleKinds + Send + Sync>;

/// Records that a policy was allowed with a finding: the policy, the code, and the warning.
pub type Note = Arc<dyn Fn(ObjectKey, &'static str, String) + Send + Sync>;

/// The sources beyond the snapshot. All are `None` if the snapshot is authoritative and the user of the server may read
/// all of it (a directory of files).
#[derive(Clone, Default)]
pub struct Dependencies {
    /// Live reads of single objects.
    pub confirm: Option<Confirm>,
    /// Live lists of kinds.
    pub list: Option<List>,
    /// Access reviews.
    pub may_get: Option<MayGet>,
    /// The kinds of the snapshot that are stale.
    pub age: Option<Age>,
    /// Records policies that were allowed with a finding.
    pub note: Option<Note>,
    /// Traces of reviews.
    pub traces: Traces,
}
