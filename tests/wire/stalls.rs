//! Clients that begin and do not go on, many at once; a good client beside them is served.

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::client::Client;
use crate::good::Good;
use crate::process::Process;

const MIB: usize = 1 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_do_not_come() {
    let process = Process::start();
    let good = Good::start(process.addr, &process.ca_pem).await;
    let before = process.resident();
    let mut open = Vec::new();
    for _ in 0..500 {
        let mut client = process.connect().await;
        client.send(b"POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 7000000\r\n\r\n{").await;
        open.push(client);
    }
    good.served(500).await;
    println!(
        "{} MiB, {} fds",
        (process.resident() - before) / MIB,
        process.descriptors()
    );
    good.stop("500 bodies that do not come").await;
}
