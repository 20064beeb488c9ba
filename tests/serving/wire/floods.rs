//! Several HTTP/2 clients flood the server at once; a good client next to them is served.

use futures::future::join_all;

use super::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, Ended, HEADERS, PING, RST_STREAM, SETTINGS, flood,
    frame, open, post, settle,
};
use super::good::Good;
use super::process::Process;
use super::server::start;

const MIB: usize = 1 << 20;
const CLIENTS: usize = 4;

/// The limit of memory growth under each flood.
const GROWTH: usize = 32 * MIB;

/// Runs the flood from several clients next to the good one, and checks memory and processor time.
async fn run<F>(name: &str, reads: bool, frames: impl Fn() -> F) -> Vec<Ended>
where
    F: FnMut() -> Vec<u8> + Send + 'static,
{
    let mut process = Process::start();
    let good = Good::start(process.addr, &process.ca_pem).await;
    good.served(20).await;
    let (before, ticks) = (process.resident(), process.ticks());
    let floods = (0..CLIENTS).map(|_| {
        let (addr, ca_pem, frames) = (process.addr, process.ca_pem.clone(), frames());
        tokio::spawn(async move {
            let stream = open(addr, &ca_pem).await;
            flood(stream, reads, 256 * MIB, frames).await
        })
    });
    let ended = join_all(floods).await;
    let ended: Vec<Ended> = ended.into_iter().map(Result::unwrap).collect();
    good.served(50).await;
    let grown = process.resident().saturating_sub(before);
    let ends: Vec<_> = ended.iter().map(|end| (end.after, end.code)).collect();
    println!(
        "{name}: bytes sent and error codes {ends:?}; {} KiB more, {} ms of processor",
        grown / 1024,
        (process.ticks() - ticks) * 10
    );
    good.stop(name).await;
    assert!(grown < GROWTH, "{name}: {grown} bytes more");
    assert!(process.runs());
    for end in &ended {
        assert!(end.after.is_some(), "{name}: the server never had enough");
    }
    ended
}

/// The stream ids of a client, in order.
fn streams() -> impl FnMut() -> u32 {
    let mut next = 1;
    move || {
        let stream = next;
        next += 2;
        stream
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_are_taken_back_at_once() {
    let ended = run("rapid reset", true, || {
        let mut stream = streams();
        move || {
            let stream = stream();
            let headers = frame(HEADERS, END_HEADERS, stream, &post());
            [headers, frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])].concat()
        }
    })
    .await;
    for end in ended {
        assert!(end.after < Some(MIB), "{end:?}");
    }
}

/// One by one, each after the server has begun to work on it; no library limits this.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_are_taken_back_later() {
    let server = start().await;
    let mut client = open(server.addr, &server.made.ca_pem).await;
    let mut stream = streams();
    let mut begun = 0;
    loop {
        let stream = stream();
        let headers = frame(HEADERS, END_HEADERS, stream, &post());
        let reset = frame(RST_STREAM, 0, stream, &[0, 0, 0, 8]);
        if !settle(&mut client, &headers).await || !settle(&mut client, &reset).await {
            break;
        }
        begun += 1;
        assert!(begun < 100, "the server never has enough");
    }
    assert!(begun > 10, "a few timeouts must not end a connection");
    let errors = &server.metrics.connection_errors;
    assert_eq!(errors.with_label_values(&["flood"]).get(), 1);
    assert_eq!(server.metrics.in_flight.get(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_request_head() {
    run("CONTINUATION", true, || {
        let mut first = true;
        move || {
            if std::mem::take(&mut first) {
                return frame(HEADERS, 0, 1, &post());
            }
            // Unknown fields of 64 bytes each.
            let field = [&[0, 30][..], &[b'a'; 30], &[31], &[b'b'; 31]].concat();
            frame(CONTINUATION, 0, 1, &field.repeat(100))
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_in_frames_of_nothing() {
    run("empty CONTINUATION", true, || {
        let mut first = true;
        move || {
            if std::mem::take(&mut first) {
                return frame(HEADERS, 0, 1, &post());
            }
            frame(CONTINUATION, 0, 1, &[])
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_and_pings_without_a_request() {
    run("PING", true, || || frame(PING, 0, 0, &[7; 8])).await;
    run("SETTINGS", true, || {
        || frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0])
    })
    .await;
    run("PING, answers unread", false, || {
        || frame(PING, 0, 0, &[7; 8])
    })
    .await;
    run("SETTINGS, answers unread", false, || {
        || frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0])
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_in_frames_of_nothing() {
    run("empty DATA", true, || {
        let mut first = true;
        move || {
            if std::mem::take(&mut first) {
                return frame(HEADERS, END_HEADERS, 1, &post());
            }
            frame(DATA, 0, 1, &[])
        }
    })
    .await;
}

/// A few bytes that decode to 40 MB of header fields, on stream after stream.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heads_that_unpack_to_megabytes() {
    run("HPACK bomb", true, || {
        let mut stream = streams();
        move || {
            let stream = stream();
            let mut block = post();
            // A value of 4,000 bytes enters the table and is then referenced repeatedly.
            block.extend([0x40, 1, b'a', 0x7f, 0xa1, 0x1e]);
            block.extend([b'b'; 4000]);
            block.extend([0xbe; 10_000]);
            frame(HEADERS, END_HEADERS | END_STREAM, stream, &block)
        }
    })
    .await;
}
