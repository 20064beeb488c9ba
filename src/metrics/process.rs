//! Standard process metrics of Prometheus clients, read from `/proc` at each scrape. Systems without `/proc` do not
//! have them.
//!
//! The collector of the `prometheus` crate (its feature `process`) is not used: it counts CPU time in whole seconds, too
//! coarse for a process that uses a few hundredths of a core. It also builds on Linux only.

use std::sync::{Mutex, PoisonError};

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{Counter, Gauge};

use super::described::MetricRegistry;

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
    /// Serializes reads, because each one advances the counter to the value it read.
    reading: Mutex<()>,
}

// === impl Process ===

impl Process {
    pub(super) fn register(m: &mut MetricRegistry) -> prometheus::Result<()> {
        let process = Self {
            cpu: m.count_of_process(
                "process_cpu_seconds_total",
                "CPU time of the process, in user and system mode.",
                "its rate is the number of cores in use: near the CPU limit of the pod, reviews wait",
            )?,
            resident: m.of_process(
                "process_resident_memory_bytes",
                "Memory in use.",
                "it grows with the number of objects; at the memory limit, the kernel kills the pod",
            )?,
            virtual_memory: m.of_process(
                "process_virtual_memory_bytes",
                "Memory reserved.",
                "rarely: the allocator reserves more than it uses",
            )?,
            open_fds: m.of_process(
                "process_open_fds",
                "Open file descriptors.",
                "when connections fail: it is about the number of connections plus fifty",
            )?,
            max_fds: m.of_process(
                "process_max_fds",
                "File descriptors that may be open.",
                "together with `process_open_fds`",
            )?,
            threads: m.of_process(
                "process_threads",
                "Threads.",
                "when it grows: normally it is constant",
            )?,
            start: m.of_process(
                "process_start_time_seconds",
                "When the process started, in seconds since 1970.",
                "a change is a restart",
            )?,
            reading: Mutex::new(()),
        };
        m.registry.register(Box::new(process))
    }

    #[cfg(target_os = "linux")]
    fn read(&self) -> procfs::ProcResult<()> {
        use procfs::process::{LimitValue, Process};
        let _one = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let process = Process::myself()?;
        let (stat, status) = (process.stat()?, process.status()?);
        let ticks = procfs::ticks_per_second();
        let cpu = as_f64(stat.utime + stat.stime) / as_f64(ticks);
        self.cpu.inc_by((cpu - self.cpu.get()).max(0.0));
        let bytes = |kibibytes: Option<u64>| as_f64(kibibytes.unwrap_or_default()) * 1024.0;
        self.resident.set(bytes(status.vmrss));
        self.virtual_memory.set(bytes(status.vmsize));
        self.threads.set(as_f64(status.threads));
        self.start
            .set(as_f64(procfs::boot_time_secs()?) + as_f64(stat.starttime) / as_f64(ticks));
        if let LimitValue::Value(most) = process.limits()?.max_open_files.soft_limit {
            self.max_fds.set(as_f64(most));
        }
        // A process without free file descriptors cannot count them; the last count stays.
        if let Ok(open) = process.fd_count() {
            // One of them is the open directory itself.
            self.open_fds.set(as_f64(open.saturating_sub(1) as u64));
        }
        Ok(())
    }

    /// Other systems have no `/proc`.
    #[cfg(not(target_os = "linux"))]
    fn read(&self) -> Result<(), &'static str> {
        let _one = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        Err("there is no /proc here")
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
            Ok(()) => self
                .all()
                .into_iter()
                .flat_map(Collector::collect)
                .collect(),
            Err(_) => Vec::new(),
        }
    }
}

/// These values are far below 2^53, so a float represents them exactly.
#[cfg(target_os = "linux")]
#[allow(clippy::cast_precision_loss)]
fn as_f64(value: u64) -> f64 {
    value as f64
}
