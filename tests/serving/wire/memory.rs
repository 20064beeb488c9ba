//! The memory that hostile bodies leave behind, in a separate process.

use super::input::{cases, odd_objects, too_large_by_length, too_large_in_chunks};
use super::process::Process;
use super::server::review;

const MIB: usize = 1 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeated_hostile_bodies_leave_no_memory_behind() {
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
    // Memory at one moment depends on the last body, and on what the allocator has not yet given back: the minimum
    // of 40 rounds still varies by 20 MiB without growing. Half a MiB kept in each round would be twice that here.
    let least = async |process: &Process| {
        let mut least = usize::MAX;
        for _ in 0..40 {
            round(process).await;
            least = least.min(process.resident());
        }
        least
    };
    // The first rounds fill the allocator's caches.
    for _ in 0..3 {
        round(&process).await;
    }
    let before = least(&process).await;
    for _ in 0..65 {
        round(&process).await;
    }
    let grown = least(&process).await.saturating_sub(before);
    assert!(grown < 48 * MIB, "grew by {grown} bytes in 105 rounds");
    assert!(process.runs(), "it ended");
}
