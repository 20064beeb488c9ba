//! pipelines/install.sh: the released program of a version, with its checksum. The release is a directory, made by the
//! scripts that make releases.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::run::root;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A release of the built program, for this machine, and a folder for a workflow.
struct Released {
    dir: TempDir,
    archive: String,
}

impl Released {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let machine = if cfg!(target_arch = "aarch64") {
            "arm64"
        } else {
            "amd64"
        };
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).unwrap();
        // Without what debuggers need, as in a release: it is packed and unpacked in each test.
        let stripped = Command::new("strip")
            .arg("-o")
            .arg(bin.join(format!("attache-linux-{machine}")))
            .arg(env!("CARGO_BIN_EXE_attache"))
            .output();
        assert!(stripped.unwrap().status.success(), "strip of binutils");
        let out = dir.path().join(format!("releases/v{VERSION}"));
        let packaged = Command::new(root().join("release/package.sh"))
            .args([&bin, &out])
            .output();
        let packaged = packaged.unwrap();
        assert!(packaged.status.success(), "{packaged:?}");
        let archive = format!("attache-{VERSION}-linux-{machine}.tar.gz");
        Self { dir, archive }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir
            .path()
            .join(format!("releases/v{VERSION}"))
            .join(name)
    }

    /// Runs the script with these variables and a PATH that has no attache.
    fn install(&self, variables: &[(&str, &str)]) -> Output {
        let releases = format!("file://{}", self.dir.path().join("releases").display());
        let mut command = Command::new(root().join("pipelines/install.sh"));
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("GITHUB_ACTION_PATH", root())
            .env("GITHUB_PATH", self.dir.path().join("path"))
            .env("RUNNER_TEMP", self.dir.path().join("temp"))
            .env("ATTACHE_REPOSITORY", "OWNER/attache")
            .env("ATTACHE_RELEASES", releases);
        command.envs(variables.iter().copied()).output().unwrap()
    }

    /// The version that the installed program prints.
    fn installed(&self) -> String {
        let path = fs::read_to_string(self.dir.path().join("path")).unwrap();
        let program = Path::new(path.trim()).join("attache");
        let output = Command::new(program).arg("version").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// The annotation with which the script fails.
    #[track_caller]
    fn fails(&self, variables: &[(&str, &str)], message: &str) {
        let output = self.install(variables);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(
            text.contains("::error title=attache::") && text.contains(message),
            "{text}"
        );
        assert!(!self.dir.path().join("path").exists());
    }
}

#[test]
fn the_release_that_the_action_belongs_to_is_taken_by_its_checksum() {
    let released = Released::new();
    let output = released.install(&[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(released.installed(), format!("attache {VERSION}\n"));
}

#[test]
fn a_version_and_a_checksum_can_be_given() {
    let released = Released::new();
    let sums = fs::read_to_string(released.file("SHA256SUMS")).unwrap();
    let sum = sums.split(' ').next().unwrap();
    let tag = format!("v{VERSION}");
    let output = released.install(&[("ATTACHE_VERSION", &tag), ("ATTACHE_CHECKSUM", sum)]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(released.installed(), format!("attache {VERSION}\n"));
}

#[test]
fn what_is_not_the_release_is_not_installed() {
    let released = Released::new();
    let other = "0".repeat(64);
    let message = format!("instead of {other}");
    released.fails(&[("ATTACHE_CHECKSUM", &other)], &message);
    released.fails(
        &[("ATTACHE_VERSION", "0.0.9")],
        "with 'version: source' the action builds attache instead",
    );
    released.fails(
        &[("ATTACHE_VERSION", "main; id")],
        "'main; id' is not like 0.1.0",
    );
    // Changed after the release.
    fs::write(released.file(&released.archive), "other bytes").unwrap();
    released.fails(&[], &format!("{} has the checksum", released.archive));
    fs::write(released.file("SHA256SUMS"), "").unwrap();
    released.fails(&[], "SHA256SUMS of 0.1.0 has no ");
}
