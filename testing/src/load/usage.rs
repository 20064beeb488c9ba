//! The resources that a process uses, from the kernel.

use std::fs::read_to_string;
use std::time::Duration;

/// A value of its status, in KiB: `VmRSS` is resident memory.
pub fn kib(pid: u32, name: &str) -> u64 {
    let status = read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// CPU time so far. The kernel counts in hundredths of a second.
pub fn worked(pid: u32) -> Duration {
    let stat = read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}
