//! Profiles that come with attache: one YAML file a project.

use super::file::{File, ProfileFile};

/// The files, by project.
const FILES: [(&str, &str); 11] = [
    ("apisix", include_str!("builtin/apisix.yaml")),
    ("aws", include_str!("builtin/aws.yaml")),
    ("envoy-gateway", include_str!("builtin/envoy-gateway.yaml")),
    ("gateway-api", include_str!("builtin/gateway-api.yaml")),
    ("gke", include_str!("builtin/gke.yaml")),
    ("istio", include_str!("builtin/istio.yaml")),
    ("kgateway", include_str!("builtin/kgateway.yaml")),
    ("kong", include_str!("builtin/kong.yaml")),
    ("kuadrant", include_str!("builtin/kuadrant.yaml")),
    ("linkerd", include_str!("builtin/linkerd.yaml")),
    (
        "nginx-gateway-fabric",
        include_str!("builtin/nginx-gateway-fabric.yaml"),
    ),
];

/// Every profile that comes with attache.
///
/// # Errors
/// When a file does not have the form of a profile; a test reads them all.
pub fn builtin() -> Result<Vec<ProfileFile>, String> {
    let mut profiles = Vec::new();
    for (name, text) in FILES {
        let file: File =
            serde_saphyr::from_str(text).map_err(|e| format!("built-in profile {name}: {e}"))?;
        profiles.extend(file.profiles);
    }
    Ok(profiles)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_read_and_names_each_kind_once() {
        let profiles = super::builtin().unwrap();
        let kinds: BTreeSet<_> = profiles
            .iter()
            .map(|p| (&p.matches.group, &p.matches.kind))
            .collect();
        assert_eq!(kinds.len(), profiles.len());
    }
}
