//! Replicas answer with equal bytes: separate processes with different hash seeds and numbers of worker threads, which
//! received the same objects in different orders.

mod objects;
mod replica;

use std::time::{Duration, Instant};

use objects::{order, requests, state};
use replica::{Api, Replica};
use testing::eventually::becomes;

/// Longer than any replica takes to see the whole state.
const LONG: Duration = Duration::from_mins(1);

/// A replica's answers to all requests.
async fn answers(replica: &Replica, requests: &[(&'static str, String)]) -> Vec<String> {
    let mut client = replica.connect().await;
    let mut answers = Vec::new();
    for (path, body) in requests {
        let answer = client.post(path, body.as_bytes()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answers.push(answer.body);
    }
    answers
}

/// The answers once no question of access has missed its time, as happens on a busy machine: users may read everything here.
async fn complete(replica: &Replica, requests: &[(&'static str, String)]) -> Vec<String> {
    becomes("answers by all that is known", async || {
        let replies = answers(replica, requests).await;
        let short = replies
            .iter()
            .find(|answer| answer.contains("you may not read"));
        short.cloned().map_or(Ok(replies), Err)
    })
    .await
}

/// Asks until the answers are as expected; gives up after a long time.
async fn converged(
    replica: &Replica,
    requests: &[(&'static str, String)],
    to: &[String],
) -> Vec<String> {
    let start = Instant::now();
    loop {
        let answer = answers(replica, requests).await;
        if answer == to || start.elapsed() > LONG {
            return answer;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_that_saw_other_orders_answer_with_the_same_bytes() {
    let requests = requests();
    // One replica lists a complete state.
    let first = Api::start().await;
    for object in state() {
        first.put(&object);
    }
    let listed = Replica::start(&first, 4).await;
    let expected = complete(&listed, &requests).await;
    let warned = expected
        .iter()
        .filter(|answer| answer.contains("warnings"))
        .count();
    let refused = expected
        .iter()
        .filter(|answer| answer.contains(r#""allowed":false"#))
        .count();
    assert!(
        warned > 20 && refused > 2,
        "{warned} warned, {refused} refused of {}",
        expected.len()
    );

    // Other processes with the same API server: other seeds, other numbers of threads.
    for threads in [1, 2] {
        let other = Replica::start(&first, threads).await;
        // On a busy machine a live read may miss its time.
        assert_eq!(
            converged(&other, &requests, &expected).await,
            expected,
            "{threads} threads"
        );
    }

    // Others watch the state from the beginning, each in another order and with detours.
    for seed in [1, 2] {
        let api = Api::start().await;
        let replica = Replica::start(&api, 2).await;
        api.until_watched().await;
        for event in order(state(), seed) {
            api.take(&event);
        }
        let replies = converged(&replica, &requests, &expected).await;
        for (i, (reply, expected)) in replies.iter().zip(&expected).enumerate() {
            assert_eq!(reply, expected, "seed {seed}: {}", requests[i].1);
        }
        // In parallel on all its threads, too.
        let all = (0..8).map(|_| answers(&replica, &requests));
        for replies in futures::future::join_all(all).await {
            assert_eq!(replies, expected, "seed {seed}, side by side");
        }
    }
}
