//! A well-behaved client next to an attack. Like the API server, it keeps one connection and sometimes opens a new one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use tokio::time::interval;

use super::server::{on_listener, until};
use testing::client::Tls;

/// The rate of a busy cluster to one replica.
const EVERY: Duration = Duration::from_millis(10);
/// One review in this many uses a new connection.
const FRESH: usize = 10;

/// Sends reviews until it is stopped. A wrong answer fails the test.
pub(crate) struct Good {
    task: JoinHandle<Times>,
    stop: Arc<AtomicBool>,
    served: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Times {
    kept: Vec<Duration>,
    fresh: Vec<Duration>,
}

impl Good {
    pub(crate) async fn start(addr: SocketAddr, ca_pem: &str) -> Self {
        let (stop, served) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let mut kept = Tls::connect(addr, ca_pem).await;
        ask(&mut kept).await;
        let work = {
            let (stop, served, ca_pem) = (stop.clone(), served.clone(), ca_pem.to_owned());
            async move {
                let mut times = Times::default();
                let mut ticks = interval(EVERY);
                while !stop.load(Ordering::Relaxed) {
                    ticks.tick().await;
                    let started = Instant::now();
                    let n = served.fetch_add(1, Ordering::Relaxed);
                    if n % FRESH == 0 {
                        ask(&mut Tls::connect(addr, &ca_pem).await).await;
                        times.fresh.push(started.elapsed());
                    } else {
                        ask(&mut kept).await;
                        times.kept.push(started.elapsed());
                    }
                }
                times
            }
        };
        Self {
            task: tokio::spawn(work),
            stop,
            served,
        }
    }

    /// Waits until this many more have been answered.
    pub(crate) async fn served(&self, more: usize) {
        let wanted = self.served.load(Ordering::Relaxed) + more;
        until("the good client is served", || {
            self.task.is_finished() || self.served.load(Ordering::Relaxed) > wanted
        })
        .await;
    }

    /// Stops it and prints the latencies.
    pub(crate) async fn stop(self, attack: &str) {
        self.stop.store(true, Ordering::Relaxed);
        let times = self.task.await.expect("the good client is served");
        let (kept, fresh) = (summary(times.kept), summary(times.fresh));
        println!("beside {attack}: kept connection {kept}; new connection {fresh}");
    }
}

async fn ask(client: &mut Tls) {
    let body = on_listener("http");
    let answer = client.post("/validate?timeout=5s", body.as_bytes()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json()["response"]["uid"], "u-1", "{}", answer.body);
}

fn summary(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: f64| {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss
        )]
        let i = (times.len() as f64 * share) as usize;
        times.get(i.min(times.len().saturating_sub(1)))
    };
    format!(
        "{} calls, p50 {:.1?}, p99 {:.1?}, most {:.1?}",
        times.len(),
        at(0.5).copied().unwrap_or_default(),
        at(0.99).copied().unwrap_or_default(),
        times.last().copied().unwrap_or_default()
    )
}
