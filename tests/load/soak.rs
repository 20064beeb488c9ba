//! A short soak test: properties that do not depend on the speed of the machine.

use std::time::Duration;

use testing::load::cluster::Api;
use testing::load::mix::{mixed, unsure};
use testing::load::overload::Overload;
use testing::load::pace::Load;
use testing::load::process::{Process, pair};
use testing::load::sample::{HEAD, Sampler};

const ROUTES: usize = 300;
const POLICIES: usize = 90;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_load_and_change_no_call_fails_and_nothing_grows() {
    let api = Api::start(ROUTES, POLICIES).await;
    let process = Process::start(&pair(), &api.kubeconfig(), crate::CONFIG, &[]);
    process.ready().await;
    let churn = api.churn(100);
    // Few enough for a debug build on a busy machine.
    let load = Load::open(&process.place, &mixed(ROUTES, POLICIES), 8, 40.0);
    let mut taken = Sampler::new(&process, &load).await;
    println!("{HEAD}");
    for _ in 0..12 {
        println!("{}", taken.next(Duration::from_secs(1)).await);
    }
    let (samples, mut all) = (taken.samples, taken.all);
    let (rest, _) = load.stop().await;
    all.absorb(rest);
    crate::all_answered(&all);
    assert!(all.times.len() > 100, "{} calls", all.times.len());
    assert!(samples.iter().all(|sample| sample.is_ready));
    assert_eq!(all.opened, 8, "connections are kept");

    // Half of the changes that are due, for slow machines: the cluster changes all the time, and the changes arrive.
    let made = churn.made();
    assert!(made > 12 * 100 / 2, "{made} changes");
    drop(churn);
    let changing = samples.iter().filter(|sample| sample.applied > 0.0).count();
    assert!(changing > samples.len() / 2, "in {changing} seconds of 12");
    let (early, last) = (&samples[3], samples.last().unwrap());
    let more = last.resident.saturating_sub(early.resident);
    assert!(more < 16 * 1024, "{more} KiB more, of {}", early.resident);
    // Watches are renewed now and then, and metrics are scraped on separate connections.
    let more = last.descriptors.saturating_sub(early.descriptors);
    assert!(
        more <= 8,
        "{more} descriptors more, of {}",
        early.descriptors
    );
}

/// Two reviews at once, an API server whose live reads hang for 300 ms, and ten times the load that this allows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_times_the_limit_is_shed_with_retry_after_and_then_served() {
    const REVIEWS: f64 = 2.0;
    let api = Api::start(ROUTES, POLICIES).await;
    let config = format!("{}limits: {{reviews: {REVIEWS}}}\n", crate::CONFIG);
    let process = Process::start(&pair(), &api.kubeconfig(), &config, &[]);
    process.ready().await;
    let (slow, calm) = (
        unsure(ROUTES, "/validate?timeout=4s"),
        mixed(ROUTES, POLICIES),
    );
    let mut outcome = Load::closed(&process.place, &slow, 1, Duration::from_millis(500)).await;
    assert_eq!(outcome.failed, 0, "{:?}", outcome.why);

    api.hold_reads(true);
    let rate = REVIEWS / 0.3 * 10.0;
    let time = Duration::from_secs(6);
    let seen = Overload::run(&process, (&slow, &calm), 40, rate, time).await;
    outcome.absorb(seen.outcome);
    assert_eq!((outcome.failed, outcome.rude), (0, 0), "{:?}", outcome.why);
    assert!(!outcome.times.is_empty(), "some are answered");
    assert!(!outcome.shed.is_empty(), "some are sent away");
    assert!(seen.queued > 0.0, "some wait");
    assert!(seen.queued <= REVIEWS * 3.0, "{} wait", seen.queued);
    assert!(seen.asked > 0);
    assert_eq!(seen.unready, 0, "of {}", seen.asked);
    println!(
        "{} answered, {} sent away, at most {} in flight and {} queued; served again after {:?}",
        outcome.times.len(),
        outcome.shed.len(),
        seen.in_flight,
        seen.queued,
        seen.over_after
    );
}
