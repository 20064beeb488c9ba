//! Helpers that the integration tests, the benches and the fuzzer share.
//!
//! A helper belongs here as soon as two of them need it; until then it stays beside its test. Nothing here replaces the
//! global allocator, because some benches bring their own.

use std::env;
use std::path::{Path, PathBuf};

use attache::engine::kinds::profile::Builtin;

pub mod amplification;
pub mod answers;
pub mod api_server;
pub mod balancer;
pub mod browser;
pub mod cases;
pub mod client;
pub mod clock;
pub mod collector;
pub mod eventually;
pub mod fuzz;
pub mod git;
pub mod load;
pub mod page;
pub mod reading;
pub mod run;
pub mod serving;

/// The built-in facts about policy kinds and controllers.
pub fn builtin() -> &'static Builtin {
    attache::config::builtin().expect("it is sound")
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this package lies in the repository")
}

/// The program `attache` of this build.
///
/// Cargo names it to the tests that it runs. A test or bench that runs without Cargo finds it in the folder above its own,
/// which is `deps`.
pub fn program() -> PathBuf {
    if let Some(program) = env::var_os("CARGO_BIN_EXE_attache") {
        return program.into();
    }
    let test = env::current_exe().expect("the path of this test");
    let folder = test.parent().and_then(Path::parent);
    let program = folder.expect("a test lies in `deps`").join("attache");
    assert!(program.is_file(), "no program at {}", program.display());
    program
}
