//! Two replicas behind a load balancer, restarted one after the other under load; and one that is killed.

use std::process::Command;

use tokio::time::timeout;

use testing::balancer::Balancer;
use testing::eventually::until;
use testing::load::client::Place;
use testing::load::cluster::Api;
use testing::load::mix::mixed;
use testing::load::pace::{Load, Outcome};
use testing::load::process::{LONG, Process, pair};
use testing::serving::ended;

const RESTARTS: usize = 20;
/// Calls per second, low enough for any machine: each connection is used many times while a replica drains.
const RATE: f64 = 40.0;
const CONNECTIONS: usize = 8;
/// Longer than the balancer's delay, and than the time between two calls on a connection.
const DRAIN: &str = "--drain-delay=1500ms";

async fn terminated(process: &mut Process) -> Option<i32> {
    let pid = process.child.id().to_string();
    let sent = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(sent.unwrap().success());
    ended(&mut process.child).await.code()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_restarts_behind_a_balancer_fail_no_call() {
    let api = Api::start(100, 30).await;
    let made = pair();
    let start = || Process::start(&made, &api.kubeconfig(), crate::CONFIG, &[DRAIN]);
    let balancer = Balancer::start().await;
    let mut replicas = [start(), start()];
    for replica in &replicas {
        balancer.add(replica.replica());
        balancer.until_given(replica.replica()).await;
    }
    let place = Place::new(balancer.addr, &made.ca_pem);
    let _churn = api.churn(20);
    let load = Load::open(&place, &mixed(100, 30), CONNECTIONS, RATE);

    for replica in &replicas {
        asked(&place, replica).await;
    }
    let mut all = Outcome::default();
    for n in 0..RESTARTS {
        let replica = &mut replicas[n % 2];
        assert_eq!(
            terminated(replica).await,
            Some(0),
            "restart {n}: {}",
            replica.log()
        );
        balancer.forget(replica.replica());
        *replica = start();
        balancer.add(replica.replica());
        balancer.until_given(replica.replica()).await;
        // The other replica is restarted next, so connections must have moved here before.
        asked(&place, replica).await;
        let came = load.take();
        assert_eq!((came.failed, &came.why), (0, &Vec::new()), "restart {n}");
        assert!(!came.times.is_empty(), "restart {n}: no calls");
        all.absorb(came);
    }
    let (rest, _) = load.stop().await;
    all.absorb(rest);
    crate::all_answered(&all);
    assert_eq!(balancer.lost(), 0, "connections for which nobody was ready");
    // Each connection had to move when its replica stopped.
    assert!(all.opened > CONNECTIONS, "{} connections", all.opened);
    println!(
        "{} calls on {} connections over {RESTARTS} restarts",
        all.times.len(),
        all.opened
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_one_is_killed_the_other_answers() {
    let api = Api::start(100, 30).await;
    let made = pair();
    let start = || Process::start(&made, &api.kubeconfig(), crate::CONFIG, &[]);
    let balancer = Balancer::start().await;
    let [mut killed, stays] = [start(), start()];
    for replica in [&killed, &stays] {
        balancer.add(replica.replica());
        balancer.until_given(replica.replica()).await;
    }
    let place = Place::new(balancer.addr, &made.ca_pem);
    let load = Load::open(&place, &mixed(100, 30), CONNECTIONS, RATE);
    for replica in [&killed, &stays] {
        asked(&place, replica).await;
    }
    crate::all_answered(&load.take());

    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    balancer.until_spared(killed.replica()).await;
    balancer.forget(killed.replica());
    let meanwhile = answered(&load, 2 * CONNECTIONS).await;
    // Lost are only its open connections and those that it received before the balancer noticed; no answer was wrong,
    // and no call was rejected.
    let lost = |why: &String| {
        let of_connection = ["ask: ", "connect: ", "handshake: ", "open: "];
        of_connection.iter().any(|fault| why.contains(fault))
    };
    assert!(meanwhile.why.iter().all(lost), "{:?}", meanwhile.why);
    assert_eq!(meanwhile.rude + meanwhile.shed.len(), 0);

    crate::all_answered(&answered(&load, 5 * CONNECTIONS).await);
    let replacement = start();
    balancer.add(replacement.replica());
    balancer.until_given(replacement.replica()).await;
    asked(&place, &replacement).await;
    let (rest, _) = load.stop().await;
    crate::all_answered(&rest);
    assert_eq!(balancer.lost(), 0, "connections for which nobody was ready");
}

/// The outcome of the load until this many more calls are answered.
async fn answered(load: &Load, calls: usize) -> Outcome {
    let mut all = Outcome::default();
    until("calls are answered", || {
        all.absorb(load.take());
        all.times.len() >= calls
    })
    .await;
    all
}

/// Opens connections until a replica has been asked; the balancer alternates.
async fn asked(place: &Place, replica: &Process) {
    let asked = async {
        while replica
            .metric("attache_requests_total")
            .await
            .unwrap_or_default()
            == 0.0
        {
            let mut new = testing::load::client::Connection::new(place.clone());
            let call = &mixed(100, 30)[0];
            let answer = new.post(call.path, call.body(0)).await.unwrap();
            assert_eq!(answer.status, 200);
        }
    };
    timeout(LONG, asked).await.expect("it is asked");
}
