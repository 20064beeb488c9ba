//! `kubectl` or another client, and its output.

use std::env;
use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// `kubectl` or another client, as one user.
pub(crate) struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
    /// The working directory, and the home directory, so that no personal settings apply.
    dir: PathBuf,
    /// An additional directory on the PATH.
    path: Option<PathBuf>,
}

impl Kubectl {
    pub(super) fn new(program: PathBuf, kubeconfig: PathBuf, dir: PathBuf) -> Self {
        Self {
            program,
            kubeconfig,
            dir,
            path: None,
        }
    }

    /// Adds a directory to the PATH.
    pub(super) fn with_programs(self, folder: PathBuf) -> Self {
        let path = Some(folder);
        Self { path, ..self }
    }

    /// The same user in another directory.
    pub(crate) fn in_dir(self, dir: PathBuf) -> Self {
        Self { dir, ..self }
    }

    pub(crate) fn run<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Said {
        self.run_with(args, "")
    }

    /// The output of a command that succeeds, with `-o json`.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let output = self.run([args, &["-o", "json"]].concat()).ok();
        serde_json::from_str(&output.out).expect("JSON")
    }

    /// Runs a command with `input` on stdin.
    pub(crate) fn run_with<'a>(
        &self,
        args: impl IntoIterator<Item = &'a str>,
        input: &str,
    ) -> Said {
        let args: Vec<&str> = args.into_iter().collect();
        let mut command = Command::new(&self.program);
        if let Some(folder) = &self.path {
            let path = env::var_os("PATH").unwrap_or_default();
            let all = std::iter::once(folder.clone()).chain(env::split_paths(&path));
            command.env("PATH", env::join_paths(all).expect("a PATH"));
        }
        let mut child = command
            .args(&args)
            .current_dir(&self.dir)
            .env("HOME", &self.dir)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("KUBECACHEDIR", self.dir.join("kube-cache"))
            // Programs in Go end before they need to collect garbage.
            .env("GOGC", "400")
            .env_remove("KUBECTL_EXTERNAL_DIFF")
            .env_remove("XDG_CACHE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the client runs");
        let mut stdin = child.stdin.take().expect("piped");
        stdin.write_all(input.as_bytes()).expect("the client reads");
        drop(stdin);
        let output = child.wait_with_output().expect("the client ends");
        let program = self.program.file_name().unwrap_or_default();
        Said {
            program: program.to_string_lossy().into_owned(),
            command: args.join(" "),
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The output of one command.
pub(crate) struct Said {
    pub(super) program: String,
    pub(crate) command: String,
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// Fails the test unless the command succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert!(self.code == 0, "{self}");
        self
    }

    /// Fails the test unless the command ended with this exit code.
    #[track_caller]
    pub(crate) fn fails(self, code: i32) -> Self {
        assert!(self.code == code, "{self}");
        self
    }

    /// Fails the test unless stderr contains `text`.
    #[track_caller]
    pub(crate) fn warns(self, text: &str) -> Self {
        assert!(self.err.contains(text), "no {text:?} in\n{self}");
        self
    }

    /// Fails the test if stderr contains `text`.
    #[track_caller]
    pub(crate) fn silent_about(self, text: &str) -> Self {
        assert!(!self.err.contains(text), "{text:?} in\n{self}");
        self
    }

    /// Fails the test unless stdout contains `text`.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert!(self.out.contains(text), "no {text:?} in\n{self}");
        self
    }

    /// `Ok` if the command succeeded, else its output; for `eventually`.
    pub(crate) fn succeeded(&self) -> Result<(), String> {
        if self.code == 0 {
            Ok(())
        } else {
            Err(self.to_string())
        }
    }

    /// `Ok` if the command succeeded and stderr contains `text`, else its output; for `eventually`.
    pub(crate) fn has_warned(self, text: &str) -> Result<Self, String> {
        self.succeeded()?;
        if self.err.contains(text) {
            Ok(self)
        } else {
            Err(self.to_string())
        }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            program,
            command,
            code,
            out,
            err,
        } = self;
        write!(f, "$ {program} {command}\n{out}{err}(exit {code})")
    }
}
