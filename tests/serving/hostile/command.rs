//! Attempts at the command line: a process in its own directory.

use std::fs;
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;

use super::attempt::Attempt;
use super::generate::{expanded, is_hidden};
use testing::reading::bytes;
use testing::run::{self, Ended};

/// The default limit of a command, in seconds of processor time. An attempt at making it wait has a limit of its own, by
/// the clock.
const SECONDS: u64 = 40;
/// A command that takes longer hangs.
const HANGS: Duration = Duration::from_mins(5);
/// The default memory limit in MiB, as promised in docs/reference/check.md.
const MEMORY: u64 = 512;

/// Runs an attempt and reports what it violates.
pub(crate) fn run(attempt: &Attempt) -> Result<(), String> {
    let dir = laid(attempt);
    let ended = end(attempt, &dir)?;
    let Output {
        status,
        stdout,
        stderr,
    } = &ended.output;
    let (out, err) = (&text(stdout), &text(stderr));
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
    if let Some(missing) = holds
        .says
        .iter()
        .find(|wanted_text| !out.contains(*wanted_text) && !err.contains(*wanted_text))
    {
        return Err(format!("it does not say {missing:?}{}", shown()));
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
    let (took, most) = match holds.seconds {
        Some(seconds) => (ended.took, seconds),
        None => (ended.worked, SECONDS),
    };
    let most = Duration::from_secs(most);
    if took > most {
        return Err(format!("it takes {took:?}, more than {most:?}{}", shown()));
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
    let arguments = attempt.run.as_deref().unwrap_or_default();
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    command
        .args(arguments.iter().map(|argument| expanded(argument)))
        .current_dir(dir.path())
        .env("HUSH", "a-secret-of-the-runner")
        .env("NO_COLOR", "1")
        .stdin(Stdio::from(input));
    run::run(&mut command, HANGS).ok_or("it does not end".to_owned())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap_or_else(|_| "(not UTF-8)\u{1}".to_owned())
}
