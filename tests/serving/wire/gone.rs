//! When a client disconnects before its answer, the server stops working for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use attache::http::dependencies::Confirm;
use futures::FutureExt;

use super::server::{Setup, on_listener, start_with, until};

const CLIENTS: usize = 10;

/// Counts each dropped piece of work.
struct Ends(Arc<AtomicUsize>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_wait_for_its_answer_ends_the_work_for_it() {
    let ended = Arc::new(AtomicUsize::new(0));
    let count = ended.clone();
    // A live read that never finishes.
    let confirm: Confirm = Arc::new(move |_| {
        let ends = Ends(count.clone());
        async move {
            let _ends = ends;
            std::future::pending().await
        }
        .boxed()
    });
    let server = start_with(Setup {
        confirm: Some(confirm),
        ..Setup::default()
    })
    .await;
    let body = on_listener("htpp");
    let head = format!(
        "POST /validate?timeout=10s HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let mut client = server.connect().await;
        client.send(format!("{head}{body}").as_bytes()).await;
        clients.push(client);
    }
    let metrics = &server.metrics;
    let under_way = || usize::try_from(metrics.in_flight.get()).unwrap();
    until("all are under way", || under_way() == CLIENTS).await;
    assert_eq!(ended.load(Ordering::Relaxed), 0);
    let left = Instant::now();
    drop(clients);
    until("all are gone", || {
        under_way() == 0 && metrics.connections.get() == 0
    })
    .await;
    assert_eq!(ended.load(Ordering::Relaxed), CLIENTS);
    assert!(
        left.elapsed() < Duration::from_secs(8),
        "not because their time was up"
    );
    assert_eq!(metrics.panics.get(), 0);
    server.allows().await;
}
