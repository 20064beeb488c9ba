//! A process with a twentieth of a processor, as with a limit of `50m`.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use futures::future::join_all;

use super::process::{Process, Setup, ask, review};

/// The running time that a limit of `50m` leaves a process in each tenth of a second; the rests are
/// the starvation.
const RUNS: Duration = Duration::from_millis(5);
const RESTS: Duration = Duration::from_millis(95);
const CLIENTS: usize = 12;
const EACH: usize = 5;

/// Pauses a process most of the time, until it is stopped.
struct Throttle {
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Throttle {
    fn start(pid: u32) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let ends = stop.clone();
        let pid = pid.to_string();
        let thread = thread::spawn(move || {
            let send = |name: &str| Command::new("kill").args([name, &pid]).status().unwrap();
            while !ends.load(Ordering::Relaxed) {
                send("-STOP");
                thread::sleep(RESTS);
                send("-CONT");
                thread::sleep(RUNS);
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_twentieth_of_a_cpu_it_answers_or_sheds_and_recovers() {
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/quickstart/attache.yaml"
    );
    let example = std::fs::read_to_string(example).unwrap();
    let mut process = Process::start(&Setup {
        // One review at a time, so that others have to wait.
        files: vec![("attache.yaml", format!("{example}limits: {{reviews: 1}}\n"))],
        more: vec!["--config={dir}/attache.yaml".to_owned()],
        ..Setup::default()
    });
    process.ready().await;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(process.connect().await);
    }
    let throttle = Throttle::start(process.pid());
    let asked = clients.iter_mut().map(|client| async {
        let mut sent_away = 0;
        for _ in 0..EACH {
            let body = review("http");
            let answer = client.post("/validate?timeout=2s", body.as_bytes()).await;
            match (answer.status, answer.header("retry-after")) {
                (200, _) => assert_eq!(answer.json()["response"]["allowed"], true),
                (503, Some("1")) => sent_away += 1,
                other => panic!("{other:?}: {}", answer.body),
            }
        }
        sent_away
    });
    let sent_away: usize = join_all(asked).await.into_iter().sum();
    // New clients are served too, and so are probes.
    ask(&mut process.connect().await).await;
    assert_eq!(process.get("/livez").await.status, 200);
    assert_eq!(process.get("/readyz").await.status, 200);
    drop(throttle);
    println!("{sent_away} of {} sent away", CLIENTS * EACH);
    for client in &mut clients {
        ask(client).await;
    }
    assert!(process.runs());
    let metrics = process.get("/metrics").await.body;
    for line in ["attache_panics_total 0\n", "attache_in_flight 0\n"] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}
