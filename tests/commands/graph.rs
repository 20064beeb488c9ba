//! `attache graph` in all formats: on the quickstart, on a state in which nothing fits, and on one whose names try to
//! break the formats.

mod dot;
mod mermaid;
mod namespaces;
mod page;
mod picture;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use attache::answer;
use attache::answer::graph::Graph;
use serde_json::Value;

const QUICKSTART: &str = "examples/quickstart";
const BROKEN: &str = "tests/commands/graph/broken";
const HOSTILE: &str = "tests/commands/graph/hostile";

/// The output of the command, including errors.
pub(super) fn attache(args: &[&str]) -> String {
    let ran = run(args);
    let output = String::from_utf8(ran.stderr).unwrap();
    String::from_utf8(ran.stdout).unwrap() + &output
}

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_attache"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("NO_COLOR", "1")
        .args(args)
        .output()
        .unwrap()
}

/// A state in a format, as in a file: only standard output.
fn shown(state: &str, form: &str) -> String {
    let ran = run(&["graph", "--from", state, "-o", form]);
    String::from_utf8(ran.stdout).unwrap()
}

fn as_json(state: &str) -> Value {
    serde_json::from_str(&shown(state, "json")).unwrap()
}

fn ids(graph: &Value) -> BTreeSet<&str> {
    let nodes = graph["nodes"].as_array().unwrap().iter();
    nodes.map(|node| node["id"].as_str().unwrap()).collect()
}

fn hold(name: &str, output: &str) {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/graph/golden");
    let file = folder.join(name);
    if std::env::var_os("ATTACHE_BLESS").is_some() {
        fs::write(&file, output).unwrap();
    }
    let should = fs::read_to_string(&file).unwrap_or_default();
    assert!(output == should, "{}:\n{output}", file.display());
}

#[test]
fn every_form_is_as_agreed() {
    let forms = [
        ("tree", "txt"),
        ("dot", "gv"),
        ("mermaid", "mmd"),
        ("svg", "svg"),
        ("html", "page.json"),
        ("json", "json"),
    ];
    for (form, ending) in forms {
        for (name, state) in [("quickstart", QUICKSTART), ("hostile", HOSTILE)] {
            let output = shown(state, form);
            assert_eq!(output, shown(state, form), "the same state, the same bytes");
            // For a page only its data; a browser tests how it is shown.
            let shown_form = if form == "html" {
                page::data(&output)
            } else {
                output
            };
            hold(&format!("{name}.{ending}"), &shown_form);
        }
    }
}

#[test]
fn an_unusable_graph_option_is_an_error_with_the_reason() {
    hold("broken.txt", &shown(BROKEN, "tree"));
    hold("broken.json", &shown(BROKEN, "json"));
}

/// The ancestors and descendants of an object, and the error if there is no such object.
#[test]
fn one_object_and_what_is_around_it() {
    let mut output = String::new();
    for line in [
        "graph service/cart -n shop",
        "graph httproute cart -n shop --depth 1",
        "graph gtw/edge#http -n infra",
        "graph retrypolicy/shop-retries -n shop",
        "graph ns/blog",
        "graph -n blog",
        "graph -n nowhere",
        "graph gateway/edge -n shop",
        "graph gateway/edg -n infra",
        "graph gateway/edge#htps -n infra",
        "graph gateway",
        "graph gatway/edge",
    ] {
        let args: Vec<&str> = line.split(' ').chain(["--from", QUICKSTART]).collect();
        writeln!(output, "$ attache {line}\n{}", attache(&args)).unwrap();
    }
    hold("around.txt", &output);
}

#[test]
fn ids_are_of_one_node_each_and_edges_join_nodes() {
    for state in [QUICKSTART, BROKEN, HOSTILE] {
        let graph = as_json(state);
        let ids = ids(&graph);
        assert_eq!(ids.len(), graph["nodes"].as_array().unwrap().len());
        for edge in graph["edges"].as_array().unwrap() {
            assert!(ids.contains(edge["from"].as_str().unwrap()), "{edge}");
            assert!(ids.contains(edge["to"].as_str().unwrap()), "{edge}");
        }
    }
}

#[test]
fn the_schema_is_that_of_the_answer() {
    let validator = jsonschema::validator_for(&answer::schema::<Graph>()).unwrap();
    for state in [QUICKSTART, BROKEN, HOSTILE] {
        let graph = as_json(state);
        let errors: Vec<String> = validator
            .iter_errors(&graph)
            .map(|e| e.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn dot_has_every_node_and_every_edge() {
    for state in [QUICKSTART, BROKEN, HOSTILE] {
        let graph = as_json(state);
        let read = dot::read(&shown(state, "dot"));
        let nodes: BTreeSet<&str> = read.nodes.iter().map(String::as_str).collect();
        assert_eq!(nodes, ids(&graph));
        assert_eq!(read.edges.len(), graph["edges"].as_array().unwrap().len());
    }
}

#[test]
fn mermaid_has_every_node_and_every_edge() {
    for state in [QUICKSTART, BROKEN, HOSTILE] {
        let graph = as_json(state);
        let (nodes, edges) = mermaid::read(&shown(state, "mermaid"));
        assert_eq!(nodes, graph["nodes"].as_array().unwrap().len());
        assert_eq!(edges, graph["edges"].as_array().unwrap().len());
    }
}

#[test]
fn pictures_can_be_read() {
    for state in [QUICKSTART, BROKEN, HOSTILE] {
        picture::check(&shown(state, "svg"));
    }
}

#[test]
fn pages_hold_their_data_and_nothing_else_that_runs() {
    for state in [QUICKSTART, BROKEN, HOSTILE] {
        page::check(&shown(state, "html"), &as_json(state));
    }
}
