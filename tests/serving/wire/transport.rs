//! Connections: protocols, stalls, idle connections, and more connections than slots.

use std::time::{Duration, Instant};

use attache::http::server::Options;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use super::server::{ALLOWED, Setup, allows, on_listener, start, start_with, until};
use testing::client::{Client, tls};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http2_by_alpn_many_at_once_on_one_connection() {
    let server = start().await;
    let stream = tls(server.addr, &server.made.ca_pem, &["h2", "http/1.1"])
        .await
        .unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    let connection = tokio::spawn(connection);
    let mut answers = Vec::new();
    for _ in 0..20 {
        let request = hyper::Request::post("https://localhost/validate?timeout=10s")
            .header("content-type", "application/json")
            .body(Full::new(bytes::Bytes::from(on_listener("http"))))
            .unwrap();
        answers.push(sender.send_request(request));
    }
    for answer in futures::future::join_all(answers).await {
        let answer = answer.unwrap();
        assert_eq!(answer.status(), 200);
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, ALLOWED.as_bytes());
    }
    // At the end of a drain the client receives GOAWAY, not a cut connection.
    server
        .phase
        .send_replace(attache::http::drain::Phase::Draining);
    connection.await.unwrap().unwrap();
    server.serving.await.unwrap();
}

/// A client of HTTP/2 is told what is wrong with a request whose body nobody reads, and the connection is kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http2_clients_are_told_why_a_request_is_refused() {
    let server = start().await;
    let stream = tls(server.addr, &server.made.ca_pem, &["h2"])
        .await
        .unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    let connection = tokio::spawn(connection);
    let json = ("content-type", "application/json");
    // More than a window of HTTP/2, so that the rest of the body is still to be sent.
    let requests = [
        ("POST", "/validate", None, 20, 415),
        ("POST", "/validate", None, 1 << 20, 415),
        (
            "POST",
            "/validate",
            Some(("content-type", "text/plain")),
            20,
            415,
        ),
        (
            "POST",
            "/mutate",
            Some(("content-type", "text/plain")),
            1 << 20,
            415,
        ),
        (
            "POST",
            "/validate",
            Some(("content-encoding", "gzip")),
            1 << 20,
            415,
        ),
        ("POST", "/elsewhere", Some(json), 1 << 20, 404),
        ("PUT", "/validate", Some(json), 1 << 20, 405),
    ];
    for (method, path, header, length, status) in requests {
        let mut request = hyper::Request::builder()
            .method(method)
            .uri(format!("https://localhost{path}"));
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let body = Full::new(bytes::Bytes::from(vec![b' '; length]));
        sender.ready().await.unwrap();
        let answer = sender.send_request(request.body(body).unwrap()).await;
        let answer =
            answer.unwrap_or_else(|error| panic!("{method} {path} of {length}: {error:?}"));
        assert_eq!(answer.status(), status, "{method} {path} of {length}");
        let read = answer.into_body().collect().await;
        let body = read.unwrap_or_else(|error| panic!("{method} {path} of {length}: {error:?}"));
        assert!(
            body.to_bytes().starts_with(b"{\"error\":"),
            "{method} {path}"
        );
    }
    let request = hyper::Request::post("https://localhost/validate")
        .header(json.0, json.1)
        .body(Full::new(bytes::Bytes::from(on_listener("http"))))
        .unwrap();
    let answer = sender.send_request(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    connection.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_alpn_it_is_http1_and_the_connection_is_kept() {
    let server = start().await;
    let mut client = Client::new(tls(server.addr, &server.made.ca_pem, &[]).await.unwrap());
    for _ in 0..3 {
        allows(&mut client).await;
    }
    // Two requests at once on one connection are answered in order.
    let body = on_listener("http");
    let request = format!(
        "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    client.send(request.repeat(2).as_bytes()).await;
    for _ in 0..2 {
        assert_eq!(client.answer().await.body, ALLOWED);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handshake_that_stalls_is_ended_and_plain_http_is_too() {
    let options = Options {
        // Long enough for a client that does its part, on a busy machine too.
        handshake_timeout: Duration::from_secs(2),
        ..Options::default()
    };
    let server = start_with(Setup {
        options,
        ..Setup::default()
    })
    .await;
    let mut silent = Client::new(TcpStream::connect(server.addr).await.unwrap());
    silent.closed().await;
    let mut plain = TcpStream::connect(server.addr).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut plain, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let errors = |reason: &str| {
        server
            .metrics
            .connection_errors
            .with_label_values(&[reason])
            .get()
    };
    until("both are counted", || {
        errors("tls-timeout") == 1 && errors("tls") == 1
    })
    .await;
    server.allows().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_connection_is_kept_for_its_time_and_not_longer() {
    assert!(
        Options::default().idle_timeout >= Duration::from_secs(100),
        "the API server keeps them for 90 s"
    );
    let idle_timeout = Duration::from_millis(600);
    let options = Options {
        idle_timeout,
        ..Options::default()
    };
    let server = start_with(Setup {
        options,
        ..Setup::default()
    })
    .await;
    let mut client = server.connect().await;
    allows(&mut client).await;
    let answered = Instant::now();
    client.closed().await;
    let idle = answered.elapsed();
    assert!(
        idle + Duration::from_millis(50) >= idle_timeout && idle < idle_timeout * 10,
        "{idle:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_the_limit_the_longest_idle_connection_makes_room() {
    let options = Options {
        max_connections: 2,
        ..Options::default()
    };
    let server = start_with(Setup {
        options,
        ..Setup::default()
    })
    .await;
    let mut used = server.connect().await;
    let mut idle = server.connect().await;
    allows(&mut used).await;
    let mut third = server.connect().await;
    idle.closed().await;
    for client in [&mut used, &mut third] {
        allows(client).await;
    }
    until("two are open", || server.metrics.connections.get() == 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_away_leaves_nothing_behind() {
    let server = start().await;
    for _ in 0..20 {
        let mut client = server.connect().await;
        client
            .send(b"POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{")
            .await;
    }
    let metrics = &server.metrics;
    until("all are gone", || {
        metrics.in_flight.get() == 0 && metrics.connections.get() == 0
    })
    .await;
    assert_eq!(metrics.panics.get(), 0);
}
