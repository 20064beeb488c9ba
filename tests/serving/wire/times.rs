//! The default time limits of a client, to the second, in virtual time, which advances when all tasks are idle.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, split};
use tokio::net::TcpStream;
use tokio::time::{Instant, interval, pause};

use super::server::{Running, allows, start};

const BEGIN: &str = "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
/// The time between two bytes of a slow client.
const DRIP: Duration = Duration::from_secs(1);

/// The server's output for these bytes followed by a space every second, and the time until it closes the connection.
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
    let mut answer = Vec::new();
    tokio::select! {
        // Any end counts; what was received before is kept.
        _ = from.read_to_end(&mut answer) => {}
        () = drips => {}
    }
    let took = since.elapsed();
    (String::from_utf8(answer).unwrap(), took)
}

/// Virtual time runs on while bytes are under way between two tasks, a drip for each if the machine is busy: so a limit may be seen late,
/// but never early.
fn is_about(took: Duration, expected: Duration) {
    let near = expected.saturating_sub(DRIP)..=expected + expected / 2 + DRIP;
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
async fn a_request_head_has_two_minutes() {
    let server = start().await;
    let (answer, took) = ended(&server, &format!("{BEGIN}x-long: a")).await;
    assert_eq!(answer, "");
    is_about(took, Duration::from_mins(2));
}

#[tokio::test]
async fn a_body_has_five_seconds() {
    let server = start().await;
    let (answer, took) = ended(
        &server,
        &format!("{BEGIN}content-length: 7000000\r\n\r\n{{"),
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    is_about(took, Duration::from_secs(5));
}
