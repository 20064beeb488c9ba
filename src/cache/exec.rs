//! Runs the programs that render manifests or keep them, if they are on the PATH: kustomize, kubectl, Helm and git.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::reading;

/// The longest that a program may run.
const PATIENCE: Duration = Duration::from_mins(1);
/// The interval between two checks whether a program has exited.
const PAUSE: Duration = Duration::from_millis(10);
/// The most output, in bytes; no set of manifests is larger.
const LARGEST: u64 = 64 << 20;
/// The number of characters of an error message to show.
const LONGEST_ERROR: usize = 300;

/// The longest name of a release that Helm accepts.
const LONGEST_RELEASE: usize = 53;

/// Why there is no output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecError {
    /// The program is not on the PATH.
    Missing,
    /// The program's own error, or the reason why it could not run.
    Failed(String),
}

/// Builds a directory with kustomize.
///
/// # Errors
/// Fails if neither kustomize nor kubectl is there, or the build fails.
pub fn kustomize(dir: &Path) -> Result<String, ExecError> {
    let dir = named(dir);
    match run("kustomize", &["build".into(), dir.clone()]) {
        Err(ExecError::Missing) => run("kubectl", &["kustomize".into(), dir]),
        done => done,
    }
}

/// Renders a chart with Helm and these values files.
///
/// # Errors
/// Fails if Helm is not there, or rendering fails.
pub fn helm(dir: &Path, values: &[impl AsRef<Path>], namespace: &str) -> Result<String, ExecError> {
    let mut args: Vec<OsString> = vec!["template".into()];
    args.extend(release(dir));
    args.push(named(dir));
    args.extend([
        "--include-crds".into(),
        "--namespace".into(),
        namespace.into(),
    ]);
    for file in values {
        args.extend(["--values".into(), named(file.as_ref())]);
    }
    run("helm", &args)
}

/// The name of the release of a chart: the name of its directory, if Helm accepts it.
fn release(dir: &Path) -> Option<OsString> {
    let real_path = reading::real(dir);
    let name = real_path.file_name()?;
    let is_taken = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    let text = name.to_str().filter(|text| text.len() <= LONGEST_RELEASE);
    text.filter(|text| {
        text.bytes().all(is_taken) && !text.starts_with('-') && !text.ends_with('-')
    })?;
    Some(name.to_owned())
}

/// Makes a path that cannot be taken for a flag.
fn named(path: &Path) -> OsString {
    if path.is_absolute() {
        path.into()
    } else {
        Path::new(".").join(path).into()
    }
}

fn run(program: &str, args: &[OsString]) -> Result<String, ExecError> {
    let out = output(program, args, None)?;
    String::from_utf8(out)
        .map_err(|_| ExecError::Failed(format!("what {program} printed is not UTF-8 text")))
}

/// The output of a program that reads `input`, or nothing.
///
/// # Errors
/// Fails if the program is missing, fails, prints too much or does not end.
pub(super) fn output(
    program: &str,
    args: &[OsString],
    input: Option<String>,
) -> Result<Vec<u8>, ExecError> {
    let stdin = input.as_ref().map_or_else(Stdio::null, |_| Stdio::piped());
    let started = Command::new(program)
        .args(args)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ExecError::Missing),
        Err(error) => {
            return Err(ExecError::Failed(format!(
                "{program} cannot be run: {error}"
            )));
        }
    };
    if let Some((mut pipe, input)) = child.stdin.take().zip(input) {
        // A program that ends early does not read all of it.
        thread::spawn(move || pipe.write_all(input.as_bytes()));
    }
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let out = thread::spawn(move || out.map(limited).unwrap_or_default());
    let err = thread::spawn(move || err.map(limited).unwrap_or_default());
    let ended = wait(&mut child);
    let (out, err) = (
        out.join().unwrap_or_default(),
        err.join().unwrap_or_default(),
    );
    match ended {
        None => Err(ExecError::Failed(format!(
            "{program} did not end within {} seconds",
            PATIENCE.as_secs()
        ))),
        Some(true) if out.len() as u64 > LARGEST => Err(ExecError::Failed(format!(
            "{program} printed more than {} MiB",
            LARGEST >> 20
        ))),
        Some(true) => Ok(out),
        Some(false) => Err(ExecError::Failed(error_text(program, &err))),
    }
}

/// Whether a program succeeded; `None` if it ran too long and was killed.
fn wait(child: &mut Child) -> Option<bool> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < deadline => thread::sleep(PAUSE),
            Ok(None) | Err(_) => {
                // It may have exited just now.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

fn limited(from: impl io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    // On an error, the bytes read so far are the result.
    let _ = from.take(LARGEST + 1).read_to_end(&mut bytes);
    bytes
}

/// The line of a program's output that begins with `Error: `, or its first line.
fn error_text(program: &str, err: &[u8]) -> String {
    let text = String::from_utf8_lossy(err);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let of_error = |line: &'_ str| {
        let message = line
            .strip_prefix("Error: ")
            .or_else(|| line.strip_prefix("error: "));
        message.map(str::to_owned)
    };
    let first = || lines().next().map(str::to_owned);
    let reason = lines().find_map(of_error).or_else(first);
    let reason = reason.unwrap_or_else(|| "it does not say why".to_owned());
    let shown: String = reason.chars().take(LONGEST_ERROR).collect();
    format!("{program}: {shown}")
}
