//! The APIs for reports.

/// An API for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Api {
    /// openreports.io/v1alpha1.
    OpenReports,
    /// wgpolicyk8s.io/v1alpha2, its predecessor.
    PolicyReports,
}

// === impl Api ===

impl Api {
    /// Both, the preferred one first.
    pub const ALL: [Self; 2] = [Self::OpenReports, Self::PolicyReports];

    /// Its group.
    pub fn group(self) -> &'static str {
        match self {
            Self::OpenReports => "openreports.io",
            Self::PolicyReports => "wgpolicyk8s.io",
        }
    }

    /// Its version.
    pub fn version(self) -> &'static str {
        match self {
            Self::OpenReports => "v1alpha1",
            Self::PolicyReports => "v1alpha2",
        }
    }

    /// Its `apiVersion`.
    pub fn api_version(self) -> String {
        format!("{}/{}", self.group(), self.version())
    }

    /// The kind of the report of a namespace, or of objects without one.
    pub fn kind(self, is_namespaced: bool) -> &'static str {
        match (self, is_namespaced) {
            (Self::OpenReports, true) => "Report",
            (Self::OpenReports, false) => "ClusterReport",
            (Self::PolicyReports, true) => "PolicyReport",
            (Self::PolicyReports, false) => "ClusterPolicyReport",
        }
    }

    /// The name of this kind in URLs.
    pub fn plural(self, is_namespaced: bool) -> &'static str {
        match (self, is_namespaced) {
            (Self::OpenReports, true) => "reports",
            (Self::OpenReports, false) => "clusterreports",
            (Self::PolicyReports, true) => "policyreports",
            (Self::PolicyReports, false) => "clusterpolicyreports",
        }
    }
}
