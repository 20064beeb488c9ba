//! Overload: what happens to the calls, the queue and readiness, and how soon service is normal again.

use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::client::{Connection, Place};
use super::mix::Mix;
use super::pace::{Load, Outcome};
use super::process::{LONG, Process};

/// The interval between checks of the server.
const LOOK: Duration = Duration::from_millis(100);
/// Service is normal again after this many answers in a row.
const NORMAL: usize = 20;

/// The result of an overload.
pub struct Overload {
    pub outcome: Outcome,
    /// Calls that were due but had no free connection.
    pub unsent: usize,
    /// The highest observed values.
    pub queued: f64,
    pub in_flight: f64,
    pub resident: u64,
    /// The number of checks of readiness, and of those that failed.
    pub asked: usize,
    pub unready: usize,
    /// From the last call of the overload to the first of several normal answers in a row.
    pub over_after: Duration,
}

impl Overload {
    /// Overloads a server with `mix`, then calls it with `calm`.
    pub async fn run(
        process: &Process,
        (mix, calm): (&Mix, &Mix),
        connections: usize,
        rate: f64,
        time: Duration,
    ) -> Self {
        let load = Load::open(&process.place, mix, connections, rate);
        let mut seen = Self {
            outcome: Outcome::default(),
            unsent: 0,
            queued: 0.0,
            in_flight: 0.0,
            resident: 0,
            asked: 0,
            unready: 0,
            over_after: Duration::ZERO,
        };
        let started = Instant::now();
        while started.elapsed() < time {
            sleep(LOOK).await;
            seen.asked += 1;
            seen.unready += usize::from(!process.is_ready().await);
            let most = |a: f64, b: Option<f64>| a.max(b.unwrap_or_default());
            seen.queued = most(seen.queued, process.metric("attache_queued").await);
            seen.in_flight = most(seen.in_flight, process.metric("attache_in_flight").await);
            seen.resident = seen.resident.max(process.resident());
        }
        // The API server stays slow, and the calls in progress are still answered.
        let over = Instant::now();
        let (stopped, again) = tokio::join!(load.stop(), served(&process.place, calm));
        (seen.outcome, seen.unsent) = stopped;
        seen.over_after = again.duration_since(over);
        seen
    }
}

/// Waits until service is normal: makes one call after another on a new connection until enough are answered.
async fn served(place: &Place, mix: &Mix) -> Instant {
    let began = Instant::now();
    let mut connection = Connection::new(place.clone());
    let (mut first, mut in_a_row) = (began, 0);
    for n in 0.. {
        let asked = Instant::now();
        let call = &mix[n % mix.len()];
        match connection.post(call.path, call.body(n)).await {
            Ok(answer) if answer.status == 200 => {
                if in_a_row == 0 {
                    first = Instant::now();
                }
                in_a_row += 1;
            }
            _ => in_a_row = 0,
        }
        if in_a_row == NORMAL {
            break;
        }
        assert!(began.elapsed() < LONG, "it is never served again");
        // At most a hundred calls a second, so that the calls themselves are no load.
        sleep(Duration::from_millis(10).saturating_sub(asked.elapsed())).await;
    }
    first
}
