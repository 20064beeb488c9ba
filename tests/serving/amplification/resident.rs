//! The process's memory for the largest bodies, including the body itself, TLS and the allocator.

use testing::amplification::bodies;
use testing::serving::{Serving, quickstart};

/// In addition to four times the body: buffers, and the allocator's caches per thread.
const FIXED: usize = 32 << 20;

/// `attache serve --from examples/quickstart`.
struct Process(Serving);

impl Process {
    fn start() -> Self {
        Self(Serving::start(|_, mut attache| {
            attache.arg("--from").arg(quickstart());
            attache
        }))
    }

    /// The peak memory since `forget`.
    fn most(&self) -> usize {
        let path = format!("/proc/{}/status", self.0.pid());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kilobytes.unwrap().parse::<usize>().unwrap() * 1024
    }

    fn forget(&self) {
        std::fs::write(format!("/proc/{}/clear_refs", self.0.pid()), "5").unwrap();
    }
}

/// One body of each group; the kinds of the quickstart make policies of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_takes_four_times_a_body_at_most() {
    let process = Process::start();
    let groups = [
        bodies::settings,
        bodies::targets,
        bodies::metadata,
        bodies::topology,
        bodies::definitions,
    ];
    let mut beyond = Vec::new();
    for group in groups {
        for hostile in group().iter().step_by(3) {
            let body = hostile.body().replace("PlainPolicy", "RetryPolicy");
            let mut client = process.0.connect().await;
            process.forget();
            let before = process.most();
            let answer = client.post("/validate", body.as_bytes()).await;
            assert_eq!(answer.status, 200, "{}: {}", hostile.name, answer.body);
            let grown = process.most().saturating_sub(before);
            if grown > 4 * body.len() + FIXED {
                beyond.push(format!(
                    "{}: {grown} bytes for {}",
                    hostile.name,
                    body.len()
                ));
            }
        }
    }
    assert_eq!(beyond, Vec::<String>::new());
}
