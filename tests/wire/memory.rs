//! What hostile bodies leave behind in a process of its own.

use crate::input::{cases, odd_objects, too_large_by_length, too_large_in_chunks};
use crate::process::Process;
use crate::server::review;

const MIB: usize = 1 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_bodies_again_and_again_leave_no_memory_behind() {
    let mut process = Process::start();
    let mut bodies: Vec<Vec<u8>> = cases().into_iter().map(|case| case.body).collect();
    bodies.extend(odd_objects().into_iter().map(|(_, body)| body.into_bytes()));
    let entries = vec![r#"{"a":0}"#; MIB / 32].join(",");
    bodies.push(review(&format!(r#"{{"targetRef":[{entries}]}}"#)).into_bytes());
    let round = async |process: &Process| {
        let mut client = process.connect().await;
        for body in &bodies {
            client.post("/validate", body).await;
        }
        too_large_by_length(process.connect().await).await;
        too_large_in_chunks(process.connect().await).await;
    };
    // The first rounds fill the allocator's caches.
    for _ in 0..3 {
        round(&process).await;
    }
    let before = process.resident();
    for _ in 0..50 {
        round(&process).await;
    }
    let grown = process.resident().saturating_sub(before);
    assert!(grown < 24 * MIB, "grew by {grown} bytes in 50 rounds");
    assert!(process.runs(), "it ended");
}
