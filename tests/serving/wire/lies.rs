//! Bodies that contradict the head: too short, too long, twice, compressed, in tiny chunks.

use std::time::Duration;

use attache::http::limits::Limits;
use tokio::time::interval;

use super::good::Good;
use super::process::Process;
use super::server::{ALLOWED, Setup, on_listener, start, start_with};

const MIB: usize = 1 << 20;
const BEGIN: &str = "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
const SLOW: &str = r#"{"error":"the body did not come in time"}"#;
const LARGE: &str = r#"{"error":"the body is larger than 7340032 bytes"}"#;

fn chunk(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n", body.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_length_that_is_not_true() {
    let limits = Limits {
        body_timeout: Duration::from_millis(200),
        ..Limits::default()
    };
    let server = start_with(Setup {
        limits,
        ..Setup::default()
    })
    .await;
    let body = on_listener("http");
    // Fewer bytes than promised, then silence or the end of the connection.
    let mut client = server.connect().await;
    let more = format!("{BEGIN}content-length: {}\r\n\r\n{body}", body.len() + 1);
    client.send(more.as_bytes()).await;
    let answer = client.answer().await;
    assert_eq!((answer.status, &*answer.body), (408, SLOW));
    client.closed().await;
    let mut client = server.connect().await;
    client.send(more.as_bytes()).await;
    tokio::io::AsyncWriteExt::shutdown(&mut client.stream)
        .await
        .unwrap();
    let answer = client.try_answer().await;
    assert!(answer.is_none_or(|answer| answer.status == 400));
    // More bytes than promised: the rest is not a valid request.
    let mut client = server.connect().await;
    let fewer = format!(
        "{BEGIN}content-length: {}\r\n\r\n{body}garbage\r\n\r\n",
        body.len()
    );
    client.send(fewer.as_bytes()).await;
    assert_eq!(client.answer().await.body, ALLOWED);
    assert_eq!(client.answer().await.status, 400);
    client.closed().await;
    // Not a number, negative, or too large for any integer.
    for length in ["x", "-1", "99999999999999999999999999"] {
        let mut client = server.connect().await;
        client
            .send(format!("{BEGIN}content-length: {length}\r\n\r\n{body}").as_bytes())
            .await;
        assert_eq!(client.answer().await.status, 400, "{length}");
        client.closed().await;
    }
    assert_eq!(server.metrics.panics.get(), 0);
}

/// An ambiguous request is read in one way or not at all; there is never a second request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_lengths_never_make_two_requests() {
    let server = start().await;
    let body = on_listener("http");
    let inner = format!("{BEGIN}content-length: {}\r\n\r\n{body}", body.len());
    let chunked = "transfer-encoding: chunked\r\n";
    let cases = [
        format!(
            "{BEGIN}content-length: {}\r\ncontent-length: 3\r\n\r\n{body}",
            body.len()
        ),
        format!(
            "{BEGIN}content-length: {}\r\n{chunked}\r\n0\r\n\r\n{inner}",
            body.len()
        ),
        format!("{BEGIN}{chunked}content-length: 5\r\n\r\n0\r\n\r\n{inner}"),
        format!("{BEGIN}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n{inner}"),
        format!("{BEGIN}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n{inner}"),
        format!("{BEGIN}transfer-encoding : chunked\r\n\r\n0\r\n\r\n{inner}"),
    ];
    for case in cases {
        let mut client = server.connect().await;
        client.send(case.as_bytes()).await;
        let answer = client.answer().await;
        assert_eq!(answer.status, 400, "{case}: {}", answer.body);
        client.closed().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chunks_that_are_no_chunks() {
    let server = start().await;
    let body = on_listener("http");
    let start = format!("{BEGIN}transfer-encoding: chunked\r\n\r\n");
    // Valid ones first: extensions and trailers are ignored.
    let (left, right) = body.split_at(100);
    let good = format!(
        "{}{}0\r\nx-trailer: a\r\n\r\n",
        chunk(left),
        chunk(right).replacen("\r\n", ";a=b\r\n", 1)
    );
    let mut client = server.connect().await;
    client.send(format!("{start}{good}").as_bytes()).await;
    assert_eq!(client.answer().await.body, ALLOWED);
    for garbage in [
        format!("{}zz\r\n", chunk(left)),
        format!("{}garbage", chunk(left)),
        format!("{:x}\r\n{left}xx", left.len()),
        "-1\r\n".to_owned(),
        "ffffffffffffffffff\r\n".to_owned(),
        format!("1;{}\r\n", "a".repeat(MIB)),
        format!("{}0\r\n{}\r\n", chunk(&body), "x: y\r\n".repeat(100_000)),
    ] {
        let mut client = server.connect().await;
        client.send(format!("{start}{garbage}").as_bytes()).await;
        if let Some(answer) = client.try_answer().await {
            assert_eq!(answer.status, 400, "{}", answer.body);
        }
        client.closed().await;
    }
    // Bytes after the last chunk are not part of the body and not a valid request.
    let mut client = server.connect().await;
    client
        .send(format!("{start}{}0\r\n\r\ngarbage\r\n\r\n", chunk(&body)).as_bytes())
        .await;
    assert_eq!(client.answer().await.body, ALLOWED);
    assert_eq!(client.answer().await.status, 400);
    client.closed().await;
    assert_eq!(server.metrics.panics.get(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crumbs_without_an_end_are_cut() {
    // However fast the machine sends, the time is over before the limit of bytes on a connection is reached.
    let limits = Limits {
        body_timeout: Duration::from_millis(200),
        ..Limits::default()
    };
    let server = start_with(Setup {
        limits,
        ..Setup::default()
    })
    .await;
    let mut client = server.connect().await;
    client
        .send(format!("{BEGIN}transfer-encoding: chunked\r\n\r\n").as_bytes())
        .await;
    let crumbs = "1\r\n \r\n".repeat(16 * 1024);
    // Three times the largest allowed body in whole chunks, if the machine sends fast enough.
    for _ in 0..(24 * MIB / crumbs.len()) {
        client.send(crumbs.as_bytes()).await;
    }
    let answer = client.try_answer().await;
    assert!(answer.is_none_or(|answer| answer.status == 408));
    server.allows().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compressed_body_is_not_unpacked() {
    let process = Process::start();
    let before = process.resident();
    // The head of a gzip stream; the server does not read what follows.
    let bomb = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0xaa; 10_000]].concat();
    for encoding in ["gzip", "deflate", "br", "zstd", "identity", "gzip, gzip"] {
        let mut client = process.connect().await;
        let head = format!(
            "{BEGIN}content-encoding: {encoding}\r\ncontent-length: {}\r\n\r\n",
            bomb.len()
        );
        client.send(&[head.as_bytes(), &bomb].concat()).await;
        let answer = client.answer().await;
        assert_eq!(
            (answer.status, &*answer.body),
            (415, r#"{"error":"Content-Encoding is not supported"}"#),
            "{encoding}"
        );
    }
    assert!(process.resident().saturating_sub(before) < 8 * MIB);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_than_the_largest_body_at_once_and_in_drips() {
    let server = start().await;
    let good = Good::start(server.addr, &server.made.ca_pem).await;
    let start = format!("{BEGIN}transfer-encoding: chunked\r\n\r\n");
    let large = chunk(&" ".repeat(MIB)).repeat(8);
    let mut client = server.connect().await;
    client.send(format!("{start}{large}").as_bytes()).await;
    let answer = client.answer().await;
    assert_eq!((answer.status, &*answer.body), (413, LARGE));
    // A length over the limit is rejected at once.
    let mut client = server.connect().await;
    client
        .send(format!("{BEGIN}content-length: 7340033\r\n\r\n").as_bytes())
        .await;
    let answer = client.answer().await;
    assert_eq!((answer.status, &*answer.body), (413, LARGE));
    client.closed().await;
    // With `Expect: 100-continue`, the body is never requested.
    let mut client = server.connect().await;
    let expect = "expect: 100-continue\r\n";
    client
        .send(format!("{BEGIN}{expect}content-length: 7340033\r\n\r\n").as_bytes())
        .await;
    assert_eq!(client.answer().await.status, 413);
    // Within the limit, it is.
    let body = on_listener("http");
    let mut client = server.connect().await;
    client
        .send(format!("{BEGIN}{expect}content-length: {}\r\n\r\n", body.len()).as_bytes())
        .await;
    assert_eq!(client.answer().await.status, 100);
    client.send(body.as_bytes()).await;
    assert_eq!(client.answer().await.body, ALLOWED);
    // In pieces of 64 KiB, which would take half a minute.
    let mut client = server.connect().await;
    client.send(start.as_bytes()).await;
    let drip = chunk(&" ".repeat(64 * 1024));
    let mut ticks = interval(Duration::from_millis(250));
    for _ in 0..24 {
        ticks.tick().await;
        client.send(drip.as_bytes()).await;
    }
    let answer = client.try_answer().await;
    assert!(answer.is_none_or(|answer| (answer.status, &*answer.body) == (408, SLOW)));
    good.stop("bodies over the limit").await;
}
