//! Kinds that some versions of the Gateway API do not have. A test that needs one shows what
//! attache does without it.

use std::io::{Write, stderr};
use std::thread;

use super::Cluster;

/// CRDs that a version of the Gateway API does not have in a channel.
const ABSENT: [(&str, &str, &str); 1] = [(
    "backendtlspolicies.gateway.networking.k8s.io",
    "v1.3.",
    "standard",
)];

impl Cluster {
    /// Whether the installed Gateway API is one that does not have the CRD. Prints WITHOUT if so,
    /// and fails the test if the CRD is missing from any other version.
    pub(crate) fn is_without(&self, definition: &str) -> bool {
        let kubectl = self.kubectl();
        let found = kubectl.run(["get", "crd", definition, "-o", "name"]);
        if found.code == 0 {
            return false;
        }
        assert!(found.err.contains("(NotFound)"), "{found}");
        let gateways = ["get", "crd", "gateways.gateway.networking.k8s.io"];
        let installed = kubectl.json(&gateways)["metadata"]["annotations"].clone();
        let output = |key: &str| installed[format!("gateway.networking.k8s.io/{key}")].as_str();
        let version = output("bundle-version").expect("a version");
        let channel = output("channel").expect("a channel");
        let is_known = ABSENT.iter().any(|(name, prefix, of)| {
            *name == definition && version.starts_with(prefix) && *of == channel
        });
        assert!(is_known, "{version} {channel}: {found}");
        let test = thread::current().name().unwrap_or("a test").to_owned();
        let line = format!("WITHOUT: {test}: Gateway API {version} {channel} has no {definition}");
        // Directly, since the test runner would capture other output.
        let _ = writeln!(stderr(), "{line}");
        true
    }
}
