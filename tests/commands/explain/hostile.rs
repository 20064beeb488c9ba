//! Malicious requests: none crashes the command, and none reaches the terminal unescaped.

use std::process::Command;
use std::sync::LazyLock;

use attache::answer::explanation::{at_gateways, at_service};
use attache::answer::json;
use attache::cache::directory::Loaded;
use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::engine::routing::{Matching, Request, Scheme, Url};
use proptest::prelude::*;
use proptest::sample::select;

use super::states::{CASES, loaded};

/// Inputs on which parsers fail.
const ODD: [&str; 18] = [
    "",
    "*",
    "*.",
    "*.example.com",
    ".",
    "..",
    "/",
    "//",
    "%",
    "%zz",
    "%00",
    "a%",
    "[",
    "[::1",
    ":",
    "@",
    "\u{1b}[31m",
    "\u{202e}moc.elpmaxe",
];

static STATES: LazyLock<Vec<Loaded>> = LazyLock::new(|| CASES.map(loaded).into());

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        select(ODD.to_vec()).prop_map(str::to_owned),
        ".{0,20}",
        "[a-z./*:%?#@\\[\\]-]{0,20}"
    ]
}

fn request() -> impl Strategy<Value = Request> {
    let pairs = || proptest::collection::vec((text(), text()), 0..3);
    let scheme = proptest::option::of(select(Scheme::ALL.to_vec()));
    let port = proptest::option::of(select(vec![0, 53, 80, 443, 5432, 65535]));
    let parts = (
        scheme,
        proptest::option::of(text()),
        port,
        proptest::option::of(text()),
    );
    (parts, text(), pairs(), pairs()).prop_map(
        |((scheme, host, port, method), path, query, headers)| Request {
            scheme,
            host,
            sni: None,
            port,
            method,
            path,
            query,
            headers,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_request_has_an_answer(request in request(), from in proptest::option::of(text())) {
        for loaded in STATES.iter() {
            let matching = Matching::new(&loaded.snapshot, &loaded.objects);
            let explanation = at_gateways(&matching, &request, |_| true);
            prop_assert_eq!(explanation.served, !explanation.steps.is_empty());
            prop_assert!(explanation.served || !explanation.unserved.is_empty());
            json(&explanation).unwrap();
            let service = ObjectKey::new(GroupKind::core("Service"), "shop", "cart");
            let called = at_service(&matching, &request, &service, from.as_deref());
            prop_assert!(called.served || !called.unserved.is_empty());
        }
    }

    #[test]
    fn every_text_is_a_url_or_none(text in text(), more in text()) {
        for text in [text.clone(), format!("{text}{more}"), format!("http://{text}"), format!("{text}://{more}")] {
            let _ = Url::read(&text);
        }
    }
}

#[test]
fn no_control_character_of_a_request_reaches_the_terminal() {
    let long = "a.".repeat(50_000);
    let deep = "/a".repeat(50_000);
    let odd: &[&[&str]] = &[
        &["--host", "\u{1b}[31mshop.example.com"],
        &[
            "--host",
            "\u{202e}shop.example.com",
            "--path",
            "/\u{7f}\u{9b}31m",
        ],
        &["--host", "*"],
        &[
            "--host",
            "shop.example.com",
            "--path",
            "/cart\nRoute  HTTPRoute evil/forged",
        ],
        &[
            "--host",
            "shop.example.com",
            "--method",
            "GET\r\n",
            "--path",
            "/cart",
        ],
        &[
            "--host",
            "shop.example.com",
            "--header",
            "a\u{1b}:b\u{1b}c",
            "--path",
            "/cart",
        ],
        &[
            "--host",
            "shop.example.com",
            "--query",
            "\u{1b}=\u{7}",
            "--path",
            "/cart",
        ],
        &["https://shop.example.com/cart?%1b[31m=%0a#\u{1b}"],
        &["https://\u{1b}:x/"],
        &["\u{1b}[31m://x/"],
        &["--host", "x", "--gateway", "\u{1b}[31m"],
        &[
            "--service",
            "\u{1b}[31m/x",
            "--from-namespace",
            "\u{1b}[31m",
        ],
        &["--host", &long, "--path", &deep],
    ];
    for args in odd {
        let out = Command::new(env!("CARGO_BIN_EXE_attache"))
            .args(["explain", "--from", "examples/quickstart"])
            .args(*args)
            .output()
            .unwrap();
        let code = out.status.code();
        assert!(matches!(code, Some(0..=2)), "{args:?}: {code:?}");
        for text in [&out.stdout, &out.stderr] {
            let text = String::from_utf8(text.clone()).unwrap();
            let bad = text
                .chars()
                .find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(bad, None, "{args:?}: {text}");
            assert!(!text.contains("\nRoute  HTTPRoute evil"), "{text}");
        }
    }
}
