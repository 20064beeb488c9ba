//! Hostile input: what attackers and broken programs put into objects, files and arguments.
//!
//! The attempts are files in `attempts/`, each with its expected result; `generate.rs` has the lists of values. Every
//! attempt must also have: no panic, an answer within limits of time and memory, nothing invisible on a terminal, and
//! the `uid` of the review in its answer.

mod attempt;
mod command;
mod generate;
mod reading;
mod review;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use attempt::{Attempt, attempts};

/// The minimum number of attempts.
const LEAST: usize = 300;

#[test]
fn there_are_as_many_attempts_as_promised() {
    let all = attempts();
    assert!(all.len() >= LEAST, "{} attempts", all.len());
    println!("{} attempts", all.len());
}

#[test]
fn no_command_is_hurt() {
    let all = attempts();
    let commands: Vec<&Attempt> = all.iter().filter(|attempt| attempt.run.is_some()).collect();
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    // Most of the time goes into starting processes, and some attempts wait.
    let threads = 2 * thread::available_parallelism().map_or(1, std::num::NonZero::get);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(attempt) = commands.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = command::run(attempt) {
                        failed
                            .lock()
                            .unwrap()
                            .push(format!("{}: {why}", attempt.name));
                    }
                }
            });
        }
    });
    report(&failed.into_inner().unwrap());
}

#[tokio::test]
async fn no_review_is_hurt() {
    let all = attempts();
    let reviews = all.iter().filter(|attempt| attempt.review.is_some());
    report(&review::run(reviews).await);
}

fn report(failed: &[String]) {
    assert!(
        failed.is_empty(),
        "{} attempts:\n\n{}",
        failed.len(),
        failed.join("\n\n")
    );
}
