//! Profiles that come with attache: one YAML file a project.

use super::file::{File, ProfileFile};

const FILES: [(&str, &str); 1] = [("gateway-api", include_str!("builtin/gateway-api.yaml"))];

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
    #[test]
    fn every_file_is_a_profile() {
        assert_eq!(super::builtin().unwrap().len(), 2);
    }
}
