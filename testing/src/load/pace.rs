//! Makes calls at fixed times (open loop), or each after the previous answer (closed loop).
//!
//! In the open loop a call is due at its time whether or not earlier ones are answered, and its latency counts from
//! then: a server that stalls for a second is late for every call of that second.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::client::{Connection, Place};
use super::mix::Mix;

/// The precision of due times; shorter sleeps would use up a CPU.
const STEP: Duration = Duration::from_micros(150);
/// The most failures to describe; the others are only counted.
const TOLD: usize = 5;

/// The results of calls.
#[derive(Default)]
pub struct Outcome {
    /// Latencies in microseconds, from when the call was due.
    pub times: Vec<u32>,
    /// Rejected calls with `Retry-After`: how long that took in microseconds, from when they were sent.
    pub shed: Vec<u32>,
    /// Rejected calls without it.
    pub rude: usize,
    pub failed: usize,
    /// Descriptions of the first failures.
    pub why: Vec<String>,
    /// Connections opened.
    pub opened: usize,
}

/// Makes calls until it is stopped.
pub struct Load {
    shared: Arc<Shared>,
    workers: JoinSet<()>,
    pacer: Option<thread::JoinHandle<()>>,
}

struct Shared {
    outcome: Mutex<Outcome>,
    stop: AtomicBool,
    /// One permit for each call that is due.
    due: Semaphore,
    next: AtomicUsize,
    started: Instant,
    /// Calls per second; `None` in a closed loop.
    rate: Option<f64>,
    mix: Mix,
}

// === impl Outcome ===

impl Outcome {
    pub fn at(times: &mut [u32], share: f64) -> Duration {
        times.sort_unstable();
        let i = (times.len() as f64 * share) as usize;
        let time = times.get(i.min(times.len().saturating_sub(1)));
        Duration::from_micros(time.copied().unwrap_or_default().into())
    }

    pub fn absorb(&mut self, mut more: Self) {
        self.times.append(&mut more.times);
        self.shed.append(&mut more.shed);
        self.rude += more.rude;
        self.failed += more.failed;
        self.why.append(&mut more.why);
        self.why.truncate(TOLD);
        self.opened += more.opened;
    }

    fn fail(&mut self, why: String) {
        self.failed += 1;
        if self.why.len() < TOLD {
            self.why.push(why);
        }
    }
}

// === impl Load ===

impl Load {
    /// Makes calls at a rate per second at fixed times, on a limited number of connections.
    pub fn open(place: &Place, mix: &Mix, connections: usize, rate: f64) -> Self {
        let mut load = Self::start(place, mix, connections, Some(rate));
        let shared = load.shared.clone();
        // In a thread, because the runtime's timers are too coarse.
        load.pacer = Some(thread::spawn(move || {
            let mut given = 0;
            while !shared.stop.load(Relaxed) {
                let due = (shared.started.elapsed().as_secs_f64() * rate) as usize;
                shared.due.add_permits(due - given);
                given = due;
                thread::sleep(STEP);
            }
        }));
        load
    }

    /// Makes each call when the previous one is answered, for a time.
    pub async fn closed(place: &Place, mix: &Mix, connections: usize, time: Duration) -> Outcome {
        let load = Self::start(place, mix, connections, None);
        tokio::time::sleep(time).await;
        load.stop().await.0
    }

    fn start(place: &Place, mix: &Mix, connections: usize, rate: Option<f64>) -> Self {
        let shared = Arc::new(Shared {
            outcome: Mutex::default(),
            stop: AtomicBool::new(false),
            due: Semaphore::new(0),
            next: AtomicUsize::new(0),
            started: Instant::now(),
            rate,
            mix: mix.clone(),
        });
        let mut workers = JoinSet::new();
        for _ in 0..connections {
            workers.spawn(shared.clone().work(Connection::new(place.clone())));
        }
        Self {
            shared,
            workers,
            pacer: None,
        }
    }

    /// Returns the results since the last time.
    pub fn take(&self) -> Outcome {
        std::mem::take(&mut *self.shared.outcome.lock().unwrap())
    }

    /// Calls that are due but not sent yet.
    pub fn behind(&self) -> usize {
        self.shared.due.available_permits()
    }

    /// Stops sending and waits for the answers. The second value is the number of calls that were due but never sent.
    pub async fn stop(mut self) -> (Outcome, usize) {
        self.shared.stop.store(true, Relaxed);
        if let Some(pacer) = self.pacer.take() {
            pacer.join().unwrap();
        }
        let behind = self.behind();
        self.shared.due.close();
        while let Some(done) = self.workers.join_next().await {
            done.unwrap();
        }
        (self.take(), behind)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.shared.stop.store(true, Relaxed);
    }
}

// === impl Shared ===

impl Shared {
    async fn work(self: Arc<Self>, mut connection: Connection) {
        // The handshake does not count for the first call, because the API server has open connections.
        let opened = connection.ready().await;
        if let Err(why) = opened {
            self.outcome.lock().unwrap().fail(why);
        }
        while !self.stop.load(Relaxed) {
            if self.rate.is_some() {
                match self.due.acquire().await {
                    Ok(permit) => permit.forget(),
                    Err(_) => break,
                }
            }
            let n = self.next.fetch_add(1, Relaxed);
            self.call(n, &mut connection).await;
        }
        self.outcome.lock().unwrap().opened += connection.opened;
    }

    async fn call(&self, n: usize, connection: &mut Connection) {
        // A prime stride, so that calls of one sort do not come in a row.
        let call = &self.mix[n.wrapping_mul(7919) % self.mix.len()];
        let sent = Instant::now();
        let due = self.rate.map_or(sent, |rate| {
            self.started + Duration::from_secs_f64(n as f64 / rate)
        });
        let answer = connection.post(call.path, call.body(n)).await;
        let micros =
            |since: Instant| u32::try_from(since.elapsed().as_micros()).unwrap_or(u32::MAX);
        let mut outcome = self.outcome.lock().unwrap();
        match answer {
            Ok(answer) if answer.status == 200 => match call.wrong(n, &answer.body) {
                Some(why) => {
                    let text = String::from_utf8_lossy(&answer.body).into_owned();
                    outcome.fail(format!("{}: {why}: {text}", call.path));
                }
                None => outcome.times.push(micros(due)),
            },
            Ok(answer) if [429, 503].contains(&answer.status) && answer.retry_after => {
                outcome.shed.push(micros(sent));
            }
            Ok(answer) if [429, 503].contains(&answer.status) => outcome.rude += 1,
            Ok(answer) => outcome.fail(format!("{}: {}", call.path, answer.status)),
            Err(why) => outcome.fail(format!("{}: {why}", call.path)),
        }
    }
}
