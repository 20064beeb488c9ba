//! How long a client has by default, to the second: in virtual time, which passes when nobody has anything to do.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, split};
use tokio::net::TcpStream;
use tokio::time::{Instant, interval, pause};

use crate::server::{Running, allows, start};

const BEGIN: &str = "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
/// Between two bytes of a client that goes on.
const DRIP: Duration = Duration::from_secs(1);

/// What a client is sent after these bytes and a blank every second, and how long it takes until the connection ends.
async fn ended(server: &Running, begin: &str) -> (String, Duration) {
    let mut client = server.connect().await;
    allows(&mut client).await;
    client.send(begin.as_bytes()).await;
    pause();
    let since = Instant::now();
    let (mut from, mut to) = split(client.stream);
    let drips = async {
        let mut ticks = interval(DRIP);
        loop {
            ticks.tick().await;
            if to.write_all(b" ").await.is_err() || to.flush().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    };
    let mut said = Vec::new();
    tokio::select! {
        // However it ends: what was said before counts.
        _ = from.read_to_end(&mut said) => {}
        () = drips => {}
    }
    let took = since.elapsed();
    (String::from_utf8(said).unwrap(), took)
}

fn is_about(took: Duration, expected: Duration) {
    let near = expected.saturating_sub(DRIP)..=expected + DRIP;
    assert!(near.contains(&took), "{took:?}, not {expected:?}");
}

#[tokio::test]
async fn a_handshake_has_ten_seconds() {
    let server = start().await;
    let mut silent = TcpStream::connect(server.addr).await.unwrap();
    pause();
    let since = Instant::now();
    assert_eq!(silent.read(&mut [0; 64]).await.unwrap(), 0);
    is_about(since.elapsed(), Duration::from_secs(10));
}

#[tokio::test]
async fn a_head_has_two_minutes_however_it_comes() {
    let server = start().await;
    let (said, took) = ended(&server, &format!("{BEGIN}x-long: a")).await;
    assert_eq!(said, "");
    is_about(took, Duration::from_mins(2));
}

#[tokio::test]
async fn a_body_has_five_seconds_however_it_comes() {
    let server = start().await;
    let (said, took) = ended(
        &server,
        &format!("{BEGIN}content-length: 7000000\r\n\r\n{{"),
    )
    .await;
    assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
    is_about(took, Duration::from_secs(5));
}
