//! Programs that render manifests: kustomize, kubectl and Helm, as far as they are on the PATH.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Nothing is rendered for so long.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often it is looked whether a program has ended.
const PAUSE: Duration = Duration::from_millis(10);
/// More is no set of manifests.
const LARGEST: u64 = 64 << 20;
/// What is repeated of an error.
const LONGEST_ERROR: usize = 300;

/// Why there is no output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The program is not on the PATH.
    Missing,
    /// What it says, or what came of it.
    Failed(String),
}

/// What kustomize makes of a directory.
///
/// # Errors
/// When there is neither kustomize nor kubectl, or it fails.
pub fn kustomize(dir: &Path) -> Result<String, Trouble> {
    let dir = named(dir);
    match run("kustomize", &["build".into(), dir.clone()]) {
        Err(Trouble::Missing) => run("kubectl", &["kustomize".into(), dir]),
        done => done,
    }
}

/// What Helm makes of a chart, with these files of values.
///
/// # Errors
/// When there is no Helm, or it fails.
pub fn helm(dir: &Path, values: &[impl AsRef<Path>], namespace: &str) -> Result<String, Trouble> {
    let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let name = whole.file_name().unwrap_or_else(|| "release".as_ref());
    let mut args: Vec<OsString> = vec!["template".into(), name.to_owned(), named(dir)];
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

/// A path that is no flag.
fn named(path: &Path) -> OsString {
    if path.is_absolute() {
        path.into()
    } else {
        Path::new(".").join(path).into()
    }
}

fn run(program: &str, args: &[OsString]) -> Result<String, Trouble> {
    let started = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Trouble::Missing),
        Err(error) => return Err(Trouble::Failed(format!("{program} cannot be run: {error}"))),
    };
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let out = thread::spawn(move || out.map(limited).unwrap_or_default());
    let err = thread::spawn(move || err.map(limited).unwrap_or_default());
    let ended = wait(&mut child);
    let (out, err) = (
        out.join().unwrap_or_default(),
        err.join().unwrap_or_default(),
    );
    match ended {
        None => Err(Trouble::Failed(format!(
            "{program} did not end within {} seconds",
            PATIENCE.as_secs()
        ))),
        Some(true) if out.len() as u64 > LARGEST => Err(Trouble::Failed(format!(
            "{program} printed more than {} MiB",
            LARGEST >> 20
        ))),
        Some(true) => String::from_utf8(out)
            .map_err(|_| Trouble::Failed(format!("what {program} printed is no text"))),
        Some(false) => Err(Trouble::Failed(said(program, &err))),
    }
}

/// Whether a program ended well; none where it had to be ended.
fn wait(child: &mut Child) -> Option<bool> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < deadline => thread::sleep(PAUSE),
            Ok(None) | Err(_) => {
                // It may have ended by itself just now.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

fn limited(from: impl io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What was read before an error is all there is.
    let _ = from.take(LARGEST + 1).read_to_end(&mut bytes);
    bytes
}

/// The first line of an error.
fn said(program: &str, err: &[u8]) -> String {
    let text = String::from_utf8_lossy(err);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("it does not say why");
    let first = first.strip_prefix("Error: ").unwrap_or(first);
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let shown: String = first.chars().take(LONGEST_ERROR).collect();
    format!("{program}: {shown}")
}
