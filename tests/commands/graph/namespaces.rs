//! Pictures of many objects: Gateways, and the other objects counted by namespace.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use roxmltree::Document;
use tempfile::TempDir;

use super::picture;
use super::run;

/// The width at which a picture is looked at, and the smallest text there.
const SCREEN: f64 = 1600.0;
const SMALLEST: f64 = 11.0;

/// Two Gateways; routes of every namespace on one of them, each with a Service. Every third namespace has a policy on
/// its first route, every fifth one a backend that does not exist.
fn state(namespaces: usize, routes: usize) -> TempDir {
    let mut text = String::from(GATEWAYS);
    for i in 0..namespaces {
        for j in 0..routes {
            let gateway = if i % 4 == 3 { "internal" } else { "public" };
            let backend = if i % 5 == 0 && j == 0 {
                "nowhere"
            } else {
                "app"
            };
            let _ = write!(
                text,
                "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: r{j}, namespace: team-{i:02}}}\n\
                 spec: {{hostnames: [r{j}.t{i}.example.com], parentRefs: [{{name: {gateway}, namespace: infra}}], \
                 rules: [{{backendRefs: [{{name: {backend}{j}, port: 80}}]}}]}}\n\
                 ---\napiVersion: v1\nkind: Service\nmetadata: {{name: app{j}, namespace: team-{i:02}}}\nspec: {{ports: [{{port: 80}}]}}\n"
            );
        }
        if i % 3 == 0 {
            let _ = write!(
                text,
                "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {{name: own, namespace: team-{i:02}}}\n\
                 spec: {{targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r0}}], retry: {{numRetries: 3}}}}\n"
            );
        }
    }
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("state.yaml"), text).unwrap();
    folder
}

const GATEWAYS: &str = "apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: infra}
spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP, hostname: '*.example.com', allowedRoutes: {namespaces: {from: All}}}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: internal, namespace: infra}
spec: {gatewayClassName: eg, listeners: [{name: http, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]}
";

/// The picture and what is said beside it.
fn drawn(folder: &TempDir, more: &[&str]) -> (String, String) {
    let from = folder.path().to_str().unwrap();
    let args: Vec<&str> = ["graph", "-o", "svg", "--from", from]
        .iter()
        .chain(more)
        .copied()
        .collect();
    let ran = run(&args);
    assert!(ran.status.success());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(ran.stdout), text(ran.stderr))
}

/// The texts of a picture in the order of the file.
fn texts(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let texts = document
        .descendants()
        .filter(|n| n.tag_name().name() == "text");
    texts.filter_map(|n| n.text().map(str::to_owned)).collect()
}

fn width(svg: &str) -> f64 {
    let document = Document::parse(svg).unwrap();
    document
        .root_element()
        .attribute("width")
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn a_few_objects_are_drawn() {
    let (svg, output) = drawn(&state(2, 2), &[]);
    picture::check(&svg);
    assert!(texts(&svg).contains(&"r1".to_owned()), "{svg}");
    assert!(!output.contains("--full"), "{output}");
}

#[test]
fn many_objects_are_counted_by_namespace_and_can_be_read() {
    for (namespaces, routes) in [(13, 12), (40, 25)] {
        let folder = state(namespaces, routes);
        let (svg, output) = drawn(&folder, &[]);
        picture::check(&svg);
        assert!(output.contains("--full draws all of them"), "{output}");
        let smallest = picture::sizes(&svg).into_iter().fold(f64::MAX, f64::min);
        let at = smallest * (SCREEN / width(&svg)).min(1.0);
        assert!(at >= SMALLEST, "{at} pixels for {namespaces} namespaces");

        let texts = texts(&svg);
        let rows: BTreeMap<&str, &str> = texts
            .iter()
            .enumerate()
            .filter(|(_, text)| text.starts_with("team-"))
            .map(|(i, name)| {
                let counts = texts[i..].iter().find(|text| text.contains(" routes ·"));
                (&**name, &**counts.unwrap())
            })
            .collect();
        assert_eq!(rows.len(), namespaces, "every namespace has a row");
        for (name, counts) in rows {
            let number: usize = name.trim_start_matches("team-").parse().unwrap();
            let policy = if number.is_multiple_of(3) {
                " · 1 policy"
            } else {
                ""
            };
            // A Service that no route names is not in the topology.
            let backends = routes - usize::from(number.is_multiple_of(5));
            assert_eq!(
                counts,
                format!("{routes} routes · {backends} backends{policy}")
            );
        }
        // A backend that does not exist, and the rule that names it.
        let problems = texts.iter().filter(|text| *text == "2 problems").count();
        assert_eq!(problems, namespaces.div_ceil(5));
        // One box for the namespaces of each Gateway, below their sum.
        let internal = namespaces / 4;
        let public = namespaces - internal;
        for count in [internal, public] {
            let start = format!("{count} namespaces: {} routes", count * routes);
            assert!(
                texts.iter().any(|text| text.starts_with(&start)),
                "{start}: {texts:?}"
            );
        }
    }
}

#[test]
fn all_are_drawn_if_somebody_asks() {
    let folder = state(13, 12);
    let (svg, output) = drawn(&folder, &["--full"]);
    picture::check(&svg);
    let routes = texts(&svg).iter().filter(|text| *text == "r11").count();
    assert_eq!(routes, 13);
    assert!(!output.contains("--full"), "{output}");
}

#[test]
fn one_namespace_is_drawn_with_its_objects() {
    let (svg, _) = drawn(&state(13, 12), &["-n", "team-03"]);
    picture::check(&svg);
    assert!(texts(&svg).contains(&"r11".to_owned()));
}

#[test]
fn other_forms_leave_nothing_out() {
    let ran = run(&[
        "graph",
        "-o",
        "dot",
        "--full",
        "--from",
        "examples/quickstart",
    ]);
    assert!(!ran.status.success());
    let output = String::from_utf8(ran.stderr).unwrap();
    assert!(
        output.contains("--full: only -o svg leaves objects out"),
        "{output}"
    );
}
