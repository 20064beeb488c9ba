//! Only a client with the token gets an answer, from the page itself.

use testing::page::{Answer, Page};

use super::page;

/// The headers that every answer has, whatever it is.
fn is_guarded(answer: &Answer) {
    let policy = answer.header("content-security-policy");
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    assert_eq!(answer.header("cache-control"), "no-store");
}

#[tokio::test]
async fn the_printed_url_gives_a_cookie_and_the_cookie_the_page() {
    let page = page();
    let path = format!("/?token={}", page.token);
    let welcome = page.send(page.request("GET", &path), "").await;
    is_guarded(&welcome);
    assert_eq!(welcome.status, 303);
    assert_eq!(welcome.header("location"), "./");
    let cookie = welcome.header("set-cookie").to_owned();
    let port = page.address.port();
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(pair, format!("attache_{port}={}", page.token));
    assert_eq!(attributes, "HttpOnly; SameSite=Strict; Path=/");
    for path in ["/", "/app.js", "/app.css", "/api/state"] {
        let request = page.request("GET", path).header("cookie", pair);
        let answer = page.send(request, "").await;
        is_guarded(&answer);
        assert_eq!(answer.status, 200, "{path}");
    }
}

#[tokio::test]
async fn without_the_token_there_is_nothing() {
    let page = page();
    let port = page.address.port();
    let wrong = format!("attache_{port}=wrong");
    for path in [
        "/",
        "/app.js",
        "/api/state",
        "/api/graph",
        "/api/events",
        "/nothing",
    ] {
        for cookie in ["", &*wrong, &*format!("attache_1={}", page.token)] {
            let request = page.request("GET", path).header("cookie", cookie);
            let answer = page.send(request, "").await;
            is_guarded(&answer);
            assert_eq!(answer.status, 401, "{path} with {cookie}");
            assert!(!answer.body.contains(&page.token));
        }
        let request = page
            .request("GET", path)
            .header("authorization", "Bearer wrong");
        assert_eq!(page.send(request, "").await.status, 401, "{path}");
    }
    let change = page.send(page.request("POST", "/api/change"), "a: 1").await;
    assert_eq!(change.status, 401);
    for path in ["/?token=wrong", "/?token=", "/?token=a&token=b"] {
        let answer = page.send(page.request("GET", path), "").await;
        assert_eq!(answer.status, 401, "{path}");
        assert!(answer.body.contains("attache ui"), "it says what to do");
        assert_eq!(answer.header("set-cookie"), "");
    }
    // Only the page itself takes a token from the URL: other URLs would stay in histories and logs.
    let path = format!("/api/state?token={}", page.token);
    assert_eq!(page.send(page.request("GET", &path), "").await.status, 401);
}

/// A request with one header changed.
async fn with(page: &Page, name: &str, value: &str) -> Answer {
    let mut request = page.own("GET", "/api/state");
    let headers = request.headers_mut().unwrap();
    let name: hyper::http::HeaderName = name.parse().unwrap();
    headers.insert(name, value.parse().unwrap());
    page.send(request, "").await
}

#[tokio::test]
async fn a_name_that_points_to_this_machine_is_not_enough() {
    let page = page();
    let port = page.address.port();
    for host in [
        format!("evil.example.com:{port}"),
        "evil.example.com".to_owned(),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("127.0.0.1.evil.example.com:{port}"),
        format!("localhost.evil.example.com:{port}"),
        format!("user@127.0.0.1:{port}"),
        format!("127.0.0.2:{port}"),
        String::new(),
    ] {
        let answer = with(&page, "host", &host).await;
        is_guarded(&answer);
        assert_eq!(answer.status, 403, "{host}");
        assert!(answer.error().contains("another host"));
    }
    for host in [format!("127.0.0.1:{port}"), format!("LOCALHOST:{port}")] {
        assert_eq!(with(&page, "host", &host).await.status, 200, "{host}");
    }
    // Not even the right token in the URL helps.
    let path = format!("/?token={}", page.token);
    let request = hyper::Request::builder()
        .uri(path)
        .header("host", "evil.example.com");
    assert_eq!(page.send(request, "").await.status, 403);
}

#[tokio::test]
async fn the_page_of_another_site_gets_no_answer() {
    let page = page();
    let port = page.address.port();
    for origin in [
        "https://evil.example.com",
        "null",
        "http://127.0.0.1",
        &*format!("https://127.0.0.1:{port}"),
        &*format!("http://127.0.0.1:{}", port ^ 1),
    ] {
        let answer = with(&page, "origin", origin).await;
        is_guarded(&answer);
        assert_eq!(answer.status, 403, "{origin}");
    }
    for site in ["cross-site", "same-site", "anything"] {
        assert_eq!(
            with(&page, "sec-fetch-site", site).await.status,
            403,
            "{site}"
        );
    }
    for (name, value) in [
        ("origin", format!("http://127.0.0.1:{port}")),
        ("origin", format!("http://localhost:{port}")),
        ("sec-fetch-site", "same-origin".to_owned()),
        ("sec-fetch-site", "none".to_owned()),
    ] {
        assert_eq!(
            with(&page, name, &value).await.status,
            200,
            "{name}: {value}"
        );
    }
}

#[tokio::test]
async fn only_the_files_of_the_page_are_files() {
    let page = page();
    for path in [
        "/../Cargo.toml",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/app.js/",
        "/app.js%00",
        "/./app.js",
        "/ui/dist/app.js",
        "/api/../app.js",
        "/api/",
        "/api/state/",
        "/api/%73tate",
    ] {
        let answer = page.get(path).await;
        is_guarded(&answer);
        assert_eq!(answer.status, 404, "{path}: {}", answer.body);
        assert_eq!(answer.header("content-type"), "application/json");
    }
    for (method, path) in [
        ("POST", "/"),
        ("POST", "/api/state"),
        ("PUT", "/api/change"),
        ("GET", "/api/change"),
        ("DELETE", "/api/object"),
        ("POST", "/api/events"),
    ] {
        let answer = page.send(page.own(method, path), "").await;
        is_guarded(&answer);
        assert_eq!(answer.status, 405, "{method} {path}");
    }
}

#[tokio::test]
async fn the_page_stays_on_this_machine() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let mut command = std::process::Command::new(testing::program());
        command.args(["ui", "--no-open", "--address", address, "--from"]);
        let output = command
            .arg(testing::serving::quickstart())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{address}");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("127.0.0.1:0"), "{text}");
        assert!(output.stdout.is_empty());
    }
}
