//! The path of a setting within the settings of a policy.

use std::sync::Arc;

/// Keys from the root of the settings to a leaf. An entry of a keyed list is `key=value`.
pub type SettingPath = Vec<Arc<str>>;

/// Whether a leaf is at a field of the settings or below it; `*` stands for any key.
pub fn is_under(path: &SettingPath, field: &[String]) -> bool {
    let mut keys = field.iter().zip(path);
    path.len() >= field.len() && keys.all(|(field, key)| field == "*" || **field == **key)
}
