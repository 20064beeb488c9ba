//! Attempts at the command line: a process in its own directory.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;

use super::attempt::Attempt;
use super::generate::{expanded, is_hidden};
use testing::reading::bytes;

/// The default time limit of a command, in seconds.
const SECONDS: u64 = 40;
/// The default memory limit in MiB, as promised in docs/reference/check.md.
const MEMORY: u64 = 512;

/// The result of a command.
struct Ended {
    status: ExitStatus,
    out: String,
    err: String,
    /// Its peak memory in MiB.
    peak: u64,
    took: Duration,
}

/// Runs an attempt and reports what it violates.
pub(crate) fn run(attempt: &Attempt) -> Result<(), String> {
    let dir = laid(attempt);
    let ended = end(attempt, &dir)?;
    let Ended {
        status, out, err, ..
    } = &ended;
    let shown = || {
        let cut = |text: &str| text.chars().take(2000).collect::<String>();
        format!("\n--- {status}\n{}\n--- stderr\n{}", cut(out), cut(err))
    };
    let holds = &attempt.holds;
    let code = status.code().unwrap_or(-1);
    if status.signal().is_some() || !holds.exit.contains(&code) {
        return Err(format!(
            "it ends with {status}, not {:?}{}",
            holds.exit,
            shown()
        ));
    }
    if err.contains("panicked") {
        return Err(format!("it panics{}", shown()));
    }
    if let Some(says) = holds
        .says
        .iter()
        .find(|says| !out.contains(*says) && !err.contains(*says))
    {
        return Err(format!("it does not say {says:?}{}", shown()));
    }
    if let Some(never) = holds
        .never
        .iter()
        .find(|never| out.contains(*never) || err.contains(*never))
    {
        return Err(format!("it says {never:?}{}", shown()));
    }
    seen(attempt, out, err).map_err(|why| why + &shown())?;
    let most = holds.memory.unwrap_or(MEMORY);
    if ended.peak > most {
        return Err(format!(
            "it takes {} MiB, more than {most}{}",
            ended.peak,
            shown()
        ));
    }
    let most = Duration::from_secs(holds.seconds.unwrap_or(SECONDS));
    if ended.took > most {
        return Err(format!(
            "it takes {:?}, more than {most:?}{}",
            ended.took,
            shown()
        ));
    }
    Ok(())
}

/// Checks that all output is visible and no line is a workflow command. Output for programs may contain any data of
/// objects.
fn seen(attempt: &Attempt, out: &str, err: &str) -> Result<(), String> {
    let arguments = attempt.run.as_deref().unwrap_or_default();
    let is = |word: &str| arguments.iter().any(|argument| argument == word);
    let shown = if is("html") {
        err.to_owned()
    } else {
        format!("{out}\n{err}")
    };
    if let Some(c) = shown.chars().find(|c| is_hidden(*c)) {
        return Err(format!("it prints {}", c.escape_unicode()));
    }
    let commands = shown
        .lines()
        .filter(|line| line.trim_start().starts_with("::"));
    let own = ["::error ", "::warning ", "::notice "];
    let odd = commands
        .clone()
        .find(|line| !is("github") || !own.iter().any(|own| line.starts_with(own)));
    match odd {
        Some(line) => Err(format!("it prints a command: {line}")),
        None => Ok(()),
    }
}

fn laid(attempt: &Attempt) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (name, text) in &attempt.files {
        let file = dir.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes(&expanded(text))).unwrap();
    }
    for (name, to) in &attempt.links {
        symlink(to, dir.path().join(name)).unwrap();
    }
    for name in &attempt.pipes {
        mkfifo(&dir.path().join(name), Mode::S_IRWXU).unwrap();
    }
    dir
}

fn end(attempt: &Attempt, dir: &TempDir) -> Result<Ended, String> {
    let mut input = tempfile::tempfile().unwrap();
    input.write_all(&bytes(&expanded(&attempt.stdin))).unwrap();
    input.rewind().unwrap();
    let (mut out, mut err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    let arguments = attempt.run.as_deref().unwrap_or_default();
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_attache"))
        .args(arguments.iter().map(|argument| expanded(argument)))
        .current_dir(dir.path())
        .env("HUSH", "a-secret-of-the-runner")
        .env("NO_COLOR", "1")
        .stdin(Stdio::from(input))
        .stdout(out.try_clone().unwrap())
        .stderr(err.try_clone().unwrap())
        .spawn()
        .unwrap();
    let mut peak = 0;
    // The peak is read while the process runs: the kernel drops it with the process.
    let status = loop {
        if let Ok(text) = fs::read_to_string(format!("/proc/{}/status", child.id())) {
            peak = peak.max(high_water(&text));
        }
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if started.elapsed() > Duration::from_secs(2 * SECONDS) => {
                child.kill().unwrap();
                child.wait().unwrap();
                return Err("it does not end".to_owned());
            }
            None => std::thread::yield_now(),
        }
        std::thread::park_timeout(Duration::from_millis(2));
    };
    Ok(Ended {
        status,
        out: all(&mut out),
        err: all(&mut err),
        peak,
        took: started.elapsed(),
    })
}

/// `VmHWM` in MiB.
fn high_water(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0) >> 10
}

fn all(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap_or_else(|_| "(not UTF-8)\u{1}".to_owned())
}
