//! The process as the kernel sees it, under the names that all Prometheus clients use. Read from `/proc` when
//! somebody asks; where there is no `/proc` nothing is told.

use std::fs;
use std::sync::{Mutex, PoisonError};

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{Counter, Gauge};

use super::described::Maker;

/// Ticks of the kernel's clock in a second, as it shows them to programs: 100 on everything that it runs on today.
const TICKS: f64 = 100.0;

/// The metrics of the process.
#[derive(Debug)]
pub(super) struct Process {
    cpu: Counter,
    resident: Gauge,
    virtual_memory: Gauge,
    open_fds: Gauge,
    max_fds: Gauge,
    threads: Gauge,
    start: Gauge,
    /// One reads at a time: the counter is brought up to what was read.
    reading: Mutex<()>,
}

/// What was read of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Facts {
    cpu_seconds: f64,
    resident: f64,
    virtual_memory: f64,
    threads: f64,
    /// Since the machine started.
    start_seconds: f64,
}

// === impl Process ===

impl Process {
    pub(super) fn register(m: &mut Maker) -> prometheus::Result<()> {
        let process = Self {
            cpu: m.count_of_process(
                "process_cpu_seconds_total",
                "CPU time, of users and of the system.",
                "its rate is the number of cores in use: near the limit of the pod, reviews wait",
            )?,
            resident: m.of_process(
                "process_resident_memory_bytes",
                "Memory that is in use.",
                "it grows with the objects known; near the limit of the pod, the pod will be killed",
            )?,
            virtual_memory: m.of_process(
                "process_virtual_memory_bytes",
                "Memory that is reserved.",
                "hardly ever: the allocator reserves more than it uses",
            )?,
            open_fds: m.of_process(
                "process_open_fds",
                "Open file descriptors.",
                "when connections fail: it is about the connections plus fifty",
            )?,
            max_fds: m.of_process(
                "process_max_fds",
                "File descriptors that may be open.",
                "together with `process_open_fds`",
            )?,
            threads: m.of_process(
                "process_threads",
                "Threads.",
                "when it grows: it is constant in health",
            )?,
            start: m.of_process(
                "process_start_time_seconds",
                "When the process started, in seconds since 1970.",
                "its changes are restarts",
            )?,
            reading: Mutex::new(()),
        };
        m.registry.register(Box::new(process))
    }

    fn read(&self) -> Option<()> {
        let _one = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let facts = Facts::of(&stat, &status)?;
        self.cpu
            .inc_by((facts.cpu_seconds - self.cpu.get()).max(0.0));
        self.resident.set(facts.resident);
        self.virtual_memory.set(facts.virtual_memory);
        self.threads.set(facts.threads);
        if let Ok(open) = fs::read_dir("/proc/self/fd") {
            // The folder itself is one of them while it is read.
            let open = u32::try_from(open.count().saturating_sub(1));
            self.open_fds.set(open.map_or(0.0, f64::from));
        }
        if let Some(limit) = fs::read_to_string("/proc/self/limits")
            .ok()
            .as_deref()
            .and_then(max_fds)
        {
            self.max_fds.set(limit);
        }
        let machine = fs::read_to_string("/proc/stat").ok()?;
        let booted = machine
            .lines()
            .find_map(|line| line.strip_prefix("btime "))?;
        let booted: f64 = booted.trim().parse().ok()?;
        self.start.set(booted + facts.start_seconds);
        Some(())
    }

    fn all(&self) -> [&dyn Collector; 7] {
        [
            &self.cpu,
            &self.resident,
            &self.virtual_memory,
            &self.open_fds,
            &self.max_fds,
            &self.threads,
            &self.start,
        ]
    }
}

impl Collector for Process {
    fn desc(&self) -> Vec<&Desc> {
        self.all().into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        match self.read() {
            Some(()) => self
                .all()
                .into_iter()
                .flat_map(Collector::collect)
                .collect(),
            None => Vec::new(),
        }
    }
}

// === impl Facts ===

impl Facts {
    /// Of `stat` and `status`; see proc(5).
    fn of(stat: &str, status: &str) -> Option<Self> {
        // The name of the program may hold anything, spaces and parentheses too.
        let (_, after_name) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        // The first of them is the third of proc(5).
        let ticks = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
        let of_status = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name))?;
            value.split_whitespace().next()?.parse::<f64>().ok()
        };
        Some(Self {
            cpu_seconds: (ticks(14)? + ticks(15)?) / TICKS,
            start_seconds: ticks(22)? / TICKS,
            resident: of_status("VmRSS:")? * 1024.0,
            virtual_memory: of_status("VmSize:")? * 1024.0,
            threads: of_status("Threads:")?,
        })
    }
}

/// The soft limit; none where there is no limit.
fn max_fds(limits: &str) -> Option<f64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Facts, max_fds};

    #[test]
    fn a_name_with_spaces_and_parentheses_is_skipped() {
        let stat = "7 (a ) (b) S 1 2 3 4 5 6 7 8 9 10 150 50 13 14 15 16 9 0 1200 19 20\n";
        let status = "Name:\ta\nVmSize:\t  2048 kB\nVmRSS:\t 1024 kB\nThreads:\t9\n";
        let facts = Facts {
            cpu_seconds: 2.0,
            resident: 1_048_576.0,
            virtual_memory: 2_097_152.0,
            threads: 9.0,
            start_seconds: 12.0,
        };
        assert_eq!(Facts::of(stat, status), Some(facts));
        assert_eq!(Facts::of("7 (a) S", status), None);
        assert_eq!(Facts::of(stat, ""), None);
    }

    #[test]
    fn the_soft_limit_counts_and_none_is_none() {
        let limits =
            "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024  4096  files\n";
        assert_eq!(max_fds(limits), Some(1024.0));
        assert_eq!(max_fds("Max open files  unlimited unlimited files\n"), None);
    }
}
