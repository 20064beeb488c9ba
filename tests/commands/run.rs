//! Runs the program and compares its output with a golden file.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The result of a run.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

/// Runs `attache` in the root of the repository, without a cluster.
pub(crate) fn run(arguments: &[&str]) -> Ran {
    run_with(arguments, "")
}

/// [`run`] with text on standard input.
pub(crate) fn run_with(arguments: &[&str], stdin: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_attache"))
        .args(arguments)
        .current_dir(root())
        .env_remove("KUBECONFIG")
        .env("HOME", root().join("target"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // A program that does not read its input closes it.
    let _ = input.write_all(stdin.as_bytes());
    drop(input);
    let output = child.wait_with_output().unwrap();
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}

// === impl Ran ===

impl Ran {
    /// The standard output of a successful run.
    pub(crate) fn clean(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.stdout, self.stderr);
        self.stdout
    }

    /// The error of a run that failed.
    pub(crate) fn failure(self) -> String {
        assert_eq!(self.code, 2, "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        self.stderr
    }

    /// The standard output as JSON.
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.clean()).unwrap()
    }

    /// The whole output, as a terminal shows it.
    pub(crate) fn all(&self) -> String {
        let code = match self.code {
            0 => String::new(),
            code => format!("(ends with {code})\n"),
        };
        format!("{}{}{code}", self.stdout, self.stderr)
    }
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compares an output with the file `tests/commands/<name>`.
pub(crate) fn holds(name: &str, output: &str) {
    let file: PathBuf = root().join("tests/commands").join(name);
    if std::env::var_os("ATTACHE_BLESS").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, output).unwrap();
    }
    let should = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        output == should,
        "\n=== tests/commands/{name}\n--- expected\n{should}\n--- said\n{output}"
    );
}

/// Runs each line as typed by a user; returns the lines, each with its output.
pub(crate) fn session(lines: &[impl AsRef<str>]) -> String {
    let output = lines.iter().map(|line| {
        let line = line.as_ref();
        let words: Vec<&str> = line.split_whitespace().collect();
        format!("$ attache {line}\n{}", run(&words).all())
    });
    output.collect::<Vec<String>>().join("\n")
}

/// Checks a document against its schema.
pub(crate) fn fits(document: &Value, schema: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let faults: Vec<String> = validator
        .iter_errors(document)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}
