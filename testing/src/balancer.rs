//! A load balancer between the API server and the replicas, like kube-proxy: a connection stays with its replica, a new
//! one goes to a ready replica, and readiness is known with a delay.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::eventually::until;
use crate::load::client::get;

/// The interval of readiness checks.
const PERIOD: Duration = Duration::from_millis(50);
/// The delay of readiness, like that of an `EndpointSlice` on its way to all nodes.
const LATE: Duration = Duration::from_millis(250);

/// The addresses of a replica.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Replica {
    /// The port that the API server calls.
    pub webhook: SocketAddr,
    /// The port that says whether it is ready.
    pub admin: SocketAddr,
}

#[derive(Default)]
struct Table {
    replicas: Vec<Replica>,
    /// The replicas that receive new connections.
    ready: Vec<SocketAddr>,
    next: usize,
    /// Connections that found no ready replica.
    lost: usize,
}

/// A Service with two replicas; it stops with the test.
pub struct Balancer {
    pub addr: SocketAddr,
    table: Arc<Mutex<Table>>,
    _tasks: JoinSet<()>,
}

impl Balancer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let table = Arc::<Mutex<Table>>::default();
        let mut tasks = JoinSet::new();
        tasks.spawn(follow(table.clone()));
        tasks.spawn(accept(listener, table.clone()));
        Self {
            addr,
            table,
            _tasks: tasks,
        }
    }

    /// Adds a new replica, as when its Pod gets an address.
    pub fn add(&self, replica: Replica) {
        self.table.lock().unwrap().replicas.push(replica);
    }

    /// Waits until a replica receives connections.
    pub async fn until_given(&self, replica: Replica) {
        self.until(replica, true).await;
    }

    /// Waits until a replica receives no more connections.
    pub async fn until_spared(&self, replica: Replica) {
        self.until(replica, false).await;
    }

    async fn until(&self, replica: Replica, given: bool) {
        let is_given = || {
            let table = self.table.lock().unwrap();
            table.ready.contains(&replica.webhook)
        };
        until(&format!("given connections: {given}"), || {
            is_given() == given
        })
        .await;
    }

    /// Removes a replica that has stopped.
    pub fn forget(&self, replica: Replica) {
        let mut table = self.table.lock().unwrap();
        table.replicas.retain(|known| *known != replica);
        assert!(
            !table.ready.contains(&replica.webhook),
            "it ended before that was known"
        );
    }

    /// The number of connections that found no ready replica.
    pub fn lost(&self) -> usize {
        self.table.lock().unwrap().lost
    }
}

/// Applies each check after a delay, in order. Measured by the clock, because a check takes long on a busy machine.
async fn follow(table: Arc<Mutex<Table>>) {
    let mut looks = std::collections::VecDeque::new();
    let mut period = interval(PERIOD);
    period.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        period.tick().await;
        let looked = Instant::now();
        let replicas = table.lock().unwrap().replicas.clone();
        let mut ready = Vec::new();
        for replica in replicas {
            if get(replica.admin, "/readyz")
                .await
                .is_ok_and(|(status, _)| status == 200)
            {
                ready.push(replica.webhook);
            }
        }
        looks.push_back((looked, ready));
        while looks
            .front()
            .is_some_and(|(when, _)| when.elapsed() >= LATE)
        {
            table.lock().unwrap().ready = looks.pop_front().unwrap().1;
        }
    }
}

async fn accept(listener: TcpListener, table: Arc<Mutex<Table>>) {
    let mut open = JoinSet::new();
    loop {
        let (mut client, _) = listener.accept().await.unwrap();
        let to = {
            let mut table = table.lock().unwrap();
            table.next += 1;
            let chosen = table
                .ready
                .get(table.next % table.ready.len().max(1))
                .copied();
            table.lost += usize::from(chosen.is_none());
            chosen
        };
        open.spawn(async move {
            let Some(to) = to else { return };
            client.set_nodelay(true).unwrap();
            // A failure on one side closes the other.
            if let Ok(mut server) = TcpStream::connect(to).await {
                server.set_nodelay(true).unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            }
        });
    }
}
