//! Another time of day for one process.

use std::env;
use std::fs;
use std::io::{Write as _, stderr};
use std::path::PathBuf;

/// The library that changes the time of day of one process, from the package `faketime`. `None` if it is not installed;
/// then stderr says that the test is skipped.
///
/// # Panics
/// Panics if it is not installed and `ATTACHE_REQUIRE_FAKETIME=1`.
pub fn faketime(test: &str) -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut libraries = folders.map(|folder| folder.path().join("faketime/libfaketime.so.1"));
    let found = libraries.find(|library| library.exists());
    if found.is_none() {
        let is_required = env::var("ATTACHE_REQUIRE_FAKETIME").is_ok_and(|value| value == "1");
        assert!(!is_required, "faketime is not installed");
        // Writes to stderr directly, since the test runner would capture other output.
        let _ = writeln!(stderr(), "SKIPPED: {test}: no faketime");
    }
    found
}
