//! Runs a program to its end, with a deadline, and measures this one process.

use std::fs::{File, read_link, read_to_string};
use std::io::{Read as _, Seek as _};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The pause between two looks at a process. Its peak ends with it, so it is read while the process
/// runs. The result of wait4 for a child is of no use: it counts the memory of the process that
/// started it.
const LOOK: Duration = Duration::from_millis(2);

/// A process that has ended.
pub struct Ended {
    pub output: Output,
    /// The most memory that it had at a time, in MiB.
    pub peak: u64,
    pub took: Duration,
    /// Its processor time, which depends little on what else the machine does.
    pub worked: Duration,
}

/// Runs a command. `None` if it did not end before the deadline, when it is killed.
pub fn run(command: &mut Command, deadline: Duration) -> Option<Ended> {
    let (mut out, mut err) = (file(), file());
    command.stdout(Stdio::from(out.try_clone().unwrap()));
    command.stderr(Stdio::from(err.try_clone().unwrap()));
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    let pid = child.id();
    let (done, ended) = mpsc::channel();
    let waiter = thread::spawn(move || {
        let _ = done.send(child.wait().unwrap());
    });
    let (mut peak, mut worked) = (0, Duration::ZERO);
    let status = loop {
        peak = peak.max(memory(pid).unwrap_or_default());
        worked = worked.max(processor_time(pid).unwrap_or_default());
        match ended.recv_timeout(LOOK) {
            Ok(status) => break Some(status),
            Err(_) if started.elapsed() > deadline => {
                let _ = Command::new("kill")
                    .args(["-KILL", &pid.to_string()])
                    .status();
                break None;
            }
            Err(_) => {}
        }
    };
    waiter.join().unwrap();
    Some(Ended {
        output: Output {
            status: status?,
            stdout: all(&mut out),
            stderr: all(&mut err),
        },
        peak,
        took: started.elapsed(),
        worked,
    })
}

/// `VmHWM` in MiB. `None` of a process that has ended, and of one that still has the memory of
/// this test: the kernel lets the parent go on a moment before the child has memory of its own.
fn memory(pid: u32) -> Option<u64> {
    let own = read_link("/proc/self/exe").ok()?;
    if read_link(format!("/proc/{pid}/exe")).ok()? == own {
        return None;
    }
    let status = read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib >> 10)
}

/// The processor time so far, which the kernel counts in hundredths of a second. `None` of a process that has ended.
fn processor_time(pid: u32) -> Option<Duration> {
    let stat = read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = |at: usize| -> Option<u64> { fields.get(at)?.parse().ok() };
    Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}

fn file() -> File {
    tempfile::tempfile().unwrap()
}

fn all(file: &mut File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}
