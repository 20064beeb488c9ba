//! Arguments that users type because kubectl and curl accept them.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::run::{holds, root, run, session};

const ESTATE: &str = "tests/commands/estate";

fn on_the_estate(lines: &[&str]) -> String {
    let lines: Vec<String> = lines
        .iter()
        .map(|line| {
            let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
            format!("{command} --from {ESTATE} {rest}")
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    session(&lines)
}

#[test]
fn kinds_names_and_namespaces_are_those_of_kubectl() {
    let output = on_the_estate(&[
        "describe httproute cart catalog -n shop -o name",
        "describe httproute/cart gateway/public sp/public-jwt -o name",
        "describe httproute,grpcroute -A -o name",
        "describe httproute/cart catalog",
        "describe httproute/cart -A",
        "describe btp/cart-traffic -n shop -o name",
        "policies sp -n infra",
        "policies ctp -o name",
        "policies -n nowhere",
        "policies --acting-on httproute/cart -o name",
        "policies RatePolicy",
        "describe gw/public",
        "describe configmaps/x",
        "describe listener/https",
        "describe rules/checkout",
        "graph --depth 1",
        "graph httproute/ledger-admin",
        "graph grpcroute/ledger-admin --depth 1",
        "impact",
        "impact --delete httproute cart catalog -o name",
        "impact --delete httproute",
        "explain https://shop.example.com/cart/checkout?x=1#top -X POST -H x-canary:1 -n infra -o jsonpath={.steps[0].rule.section}",
        "explain https://shop.example.com/cart -n tools",
        "kinds -o name",
        "kinds -o nonsense",
    ]);
    holds("habits/names.txt", &output);
}

#[test]
fn answers_are_had_in_all_forms_of_kubectl() {
    let output = on_the_estate(&[
        "policies -n infra -o jsonpath={.policies[*].policy.name}",
        "policies -A -o jsonpath={.policies[?(@.state==\"Invalid\")].policy.name}",
        "policies -A -o jsonpath={.summary.total}",
        "policies -A -o jsonpath={.policies[",
        "policies securitypolicies -n shop -o yaml",
        "describe httproute/search -o jsonpath={.problems[0].reason}",
        "impact --delete sp/public-jwt -o jsonpath={.summary.objects}",
    ]);
    holds("habits/forms.txt", &output);
    let arguments = ["policies", "-A", "--from", ESTATE, "-o"];
    let run_with = |form: &str| run(&[&arguments[..], &[form]].concat());
    let yaml: Value = serde_saphyr::from_str(&run_with("yaml").clean()).unwrap();
    assert_eq!(yaml, run_with("json").json());
}

#[test]
fn manifests_are_named_with_f_or_without() {
    let change = format!("{ESTATE}/50-payments.yaml");
    for command in ["check", "impact"] {
        let without_flag = run(&[command, &change, "--from", ESTATE]).all();
        let with_f = run(&[command, "-f", &change, "--from", ESTATE]).all();
        assert_eq!(without_flag, with_f);
    }
    // Only objects in the namespace are checked, with or without named manifests.
    let all = run(&["check", ESTATE, "-o", "jsonpath={.summary.objects}"]).all();
    let some = run(&["check", ESTATE, "-n", "shop"]).stdout;
    assert!(!some.contains("payments"), "{all}{some}");
    assert!(some.contains("40-shop.yaml"), "{some}");
}

#[test]
fn version_is_a_command_and_an_option() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(run(&["version"]).clean(), format!("attache {version}\n"));
    assert_eq!(run(&["--version"]).clean(), format!("attache {version}\n"));
    assert_eq!(run(&["version", "-o", "json"]).json()["version"], version);
}

#[test]
fn colours_are_had_where_they_are_asked_for() {
    let words = ["policies", "-A", "--from", ESTATE, "--color"];
    let run_with = |when: &str| run(&[&words[..], &[when]].concat()).clean();
    assert!(run_with("always").contains("\u{1b}[32mEnforced"));
    assert!(!run_with("never").contains('\u{1b}'));
    assert_eq!(run_with("auto"), run_with("never"));
}

/// The completions that a shell offers for a line.
fn offered(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let output = run(&[&["__complete", "--"], &words[..]].concat()).clean();
    let mut lines: Vec<String> = output.lines().map(str::to_owned).collect();
    assert_eq!(lines.pop().as_deref(), Some(":4"), "{output}");
    lines
}

#[test]
fn kinds_names_and_namespaces_are_completed() {
    let at = |line: &str| offered(&line.replace('@', &format!("--from {ESTATE}")));
    assert_eq!(
        at("describe @ httproute/c"),
        ["httproute/cart", "httproute/catalog", "httproute/comments"]
    );
    assert_eq!(
        at("describe @ -n shop httproute/c"),
        ["httproute/cart", "httproute/catalog"]
    );
    assert_eq!(at("describe @ -n shop httproute ca"), ["cart", "catalog"]);
    assert_eq!(at("describe @ grpc"), ["grpcroutes"]);
    assert_eq!(
        at("policies @ back"),
        ["backendtlspolicies", "backendtrafficpolicies"]
    );
    assert_eq!(at("policies @ -n p"), ["payments"]);
    assert_eq!(
        at("impact @ --delete gateway/p"),
        ["gateway/partner", "gateway/public"]
    );
    assert_eq!(at("describe @ -o y"), ["yaml"]);
    // Options that precede their values, and what is attached to them.
    assert_eq!(
        at("describe -l a=b --request-timeout=5s @ -nshop httproute ca"),
        ["cart", "catalog"]
    );
    assert_eq!(at("graph --depth 2 @ httproute ca -o s"), ["svg"]);
    assert_eq!(at("graph --depth 2 @ gateway par"), ["partner"]);
    assert_eq!(
        at("impact changes.yaml --full @ --delete gateway/p"),
        ["gateway/partner", "gateway/public"]
    );
    assert_eq!(
        at("impact changes.yaml @ --delete gatewayc"),
        ["gatewayclasses"]
    );
    assert_eq!(
        at("policies btp @ --acting-on httproute/ca"),
        ["httproute/cart", "httproute/catalog"]
    );
    assert_eq!(at("policies btp @ --acting-on grpc"), ["grpcroutes"]);
    // Words that cannot be understood are passed over.
    assert_eq!(at("describe --no-such @ httproute/ca"), [""; 0]);
    assert_eq!(at("desc"), ["describe"]);
}

#[test]
fn shells_and_kubectl_are_given_what_they_ask_for() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]).clean();
        assert!(
            script.contains("COMPLETE") && script.contains("attache"),
            "{script}"
        );
    }
    let script = run(&["completions", "kubectl"]).clean();
    assert!(
        script.ends_with("exec attache __complete -- \"$@\"\n"),
        "{script}"
    );
    // As fish asks, and as kubectl does.
    let asked = Command::new(env!("CARGO_BIN_EXE_attache"))
        .args(["--", "attache", "describe", "--from", ESTATE, "gateway/"])
        .env("COMPLETE", "fish")
        .current_dir(root())
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(asked.stdout).unwrap(),
        "gateway/internal\ngateway/partner\ngateway/public\n"
    );
    let folder = TempDir::new().unwrap();
    let plugin = folder.path().join("kubectl_complete-attache");
    symlink(env!("CARGO_BIN_EXE_attache"), &plugin).unwrap();
    let asked = Command::new(&plugin)
        .args(["describe", "--from", ESTATE, "gatewayclass/"])
        .current_dir(root())
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(asked.stdout).unwrap(),
        "gatewayclass/eg\ngatewayclass/istio\n:4\n"
    );
}

/// An API server for one request: returns that request, and sends this answer.
fn api_server(answer: Option<&'static str>) -> (TempDir, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
            head.push(byte[0]);
        }
        match answer {
            Some(answer) => stream.write_all(answer.as_bytes()).unwrap(),
            // Waits until the client disconnects.
            None => while stream.read(&mut byte).unwrap_or(0) == 1 {},
        }
        String::from_utf8(head).unwrap().to_lowercase()
    });
    let folder = TempDir::new().unwrap();
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
         clusters: [{{name: c, cluster: {{server: \"http://127.0.0.1:{port}\"}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
    );
    fs::write(folder.path().join("config"), kubeconfig).unwrap();
    (folder, asked)
}

#[test]
fn a_cluster_is_read_as_somebody_else() {
    let answer = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let (folder, asked) = api_server(Some(answer));
    let config = folder.path().join("config");
    let config = config.to_str().unwrap();
    let output = run(&[
        "policies",
        "--kubeconfig",
        config,
        "--as",
        "ana",
        "--as-group",
        "team-shop",
        "--as-group",
        "eu",
    ]);
    let asked = asked.join().unwrap();
    assert_eq!(output.code, 2, "{}", output.all());
    for header in [
        "impersonate-user: ana",
        "impersonate-group: team-shop",
        "impersonate-group: eu",
    ] {
        assert!(asked.contains(header), "{asked}");
    }
}

#[test]
fn a_silent_api_server_is_waited_for_as_long_as_is_said() {
    let (folder, asked) = api_server(None);
    let config = folder.path().join("config");
    let start = Instant::now();
    let output = run(&[
        "policies",
        "--kubeconfig",
        config.to_str().unwrap(),
        "--request-timeout",
        "1s",
    ]);
    assert!(output.failure().contains("does not answer"));
    // The default is twenty seconds.
    assert!(
        start.elapsed() < Duration::from_secs(18),
        "{:?}",
        start.elapsed()
    );
    asked.join().unwrap();
}

#[test]
fn an_interrupt_ends_a_try_out_at_once() {
    let mut serving = Command::new(env!("CARGO_BIN_EXE_attache"))
        .args([
            "serve",
            "--from",
            ESTATE,
            "--listen",
            "127.0.0.1:0",
            "--admin",
            "127.0.0.1:0",
        ])
        .current_dir(root())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(serving.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("/validate") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "it ended");
    }
    let start = Instant::now();
    let interrupted = Command::new("kill")
        .args(["-INT", &serving.id().to_string()])
        .status();
    assert!(interrupted.unwrap().success());
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert!(serving.wait().unwrap().success(), "{rest}");
    assert!(
        start.elapsed() < Duration::from_secs(8),
        "{:?}: {rest}",
        start.elapsed()
    );
}

/// A directory with a kustomization, and a program that counts how often it is asked to build it.
fn counted_builds() -> (TempDir, Box<dyn Fn() -> usize>) {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    file("k/kustomization.yaml", "resources: [route.yaml]\n");
    let route = file(
        "k/route.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: built, namespace: shop}\nspec: {}\n",
    );
    let log = dir.path().join("log");
    let script = format!(
        "#!/bin/sh\necho >> {}\n/bin/cat {}\n",
        log.display(),
        route.display()
    );
    let program = file("bin/kustomize", &script);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let builds = move || fs::read_to_string(&log).map_or(0, |text| text.lines().count());
    (dir, Box::new(builds))
}

/// Nobody waits for a program while typing.
#[test]
fn completion_builds_nothing() {
    let (dir, builds) = counted_builds();
    let offered = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_attache"))
            .args(["__complete", "--", "describe"])
            .args(words)
            .current_dir(dir.path())
            .env("PATH", dir.path().join("bin"))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for from in ["--from", "-k"] {
        assert_eq!(offered(&[from, "k", "httproute/"]), "httproute/built\n:4\n");
    }
    assert_eq!(builds(), 0);
}

/// A kustomization is built once when it is watched, and again when one of its files changes.
#[test]
fn what_is_watched_is_built_when_it_changes() {
    let (dir, builds) = counted_builds();
    for from in ["--from", "-k"] {
        let before = builds();
        let mut child = Command::new(env!("CARGO_BIN_EXE_attache"))
            .args([
                "describe",
                "httproute",
                "-A",
                "-o",
                "name",
                "--watch",
                from,
                "k",
            ])
            .current_dir(dir.path())
            .env("PATH", dir.path().join("bin"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = || lines.next().unwrap().unwrap();
        assert_eq!(next(), "httproute.gateway.networking.k8s.io/built");
        assert_eq!(builds(), before + 1);
        let route = dir.path().join("k/route.yaml");
        let text = fs::read_to_string(&route).unwrap();
        fs::write(&route, text.replace("name: built", "name: changed")).unwrap();
        assert_eq!(next(), "---");
        assert_eq!(next(), "httproute.gateway.networking.k8s.io/changed");
        assert_eq!(builds(), before + 2);
        fs::write(&route, text).unwrap();
        drop(lines);
        child.wait().unwrap();
    }
}

/// Templates that kubectl and attache fill in the same way.
const TEMPLATES: [&str; 33] = [
    "{.policies[*].policy.name}",
    "{$.policies[0].actsOn}",
    "{.policies[-1].policy.name}",
    "{.policies[?(@.actsOn==2)].policy.name}",
    "{.policies[?(2==@.actsOn)].policy.name}",
    "{.policies[?(@.actsOn>=2)].policy.name}",
    "{.policies[?(@.state==\"Enforced\")].policy.name}",
    "{.policies[?(@.state!='Enforced')].policy.name}",
    "{.policies[?(@.none!='Enforced')].policy.name}",
    "{.policies[?(@.none.deep!=1)].policy.name}",
    "{.policies[?(@.created)].policy.name}",
    "{.policies[0]['actsOn']}",
    "{.policies[*]['actsOn','state']}",
    "{.policies[0:3:2].policy.name}",
    "{.policies[1:].policy.name}",
    "{.policies[:1].policy.name}",
    "{.policies[0,2].policy.name}",
    "{.policies.*.policy.name}",
    "{.policies.policy}",
    "{.policies[0].policy}",
    "{.policies[0].created}",
    "{.policies[*].targets[*].target.name}",
    "{range .policies[*]}{.policy.name}{\"\\t\"}{.state}{\"\\n\"}{end}",
    "{range .policies[*]}{range .targets[*]}{@.accepted},{end};{end}",
    "{range .policies}{[0].state}{end}",
    "{range .policies[?(@.actsOn==2)]}{.policy.name} {end}",
    "{range .none[*]}x{end}y",
    "names: {.policies[*].policy.name}!",
    "{.none}{.none.deep}{.kind}",
    "{ .kind } {@.kind} {['kind']}",
    "{'a\"b'}",
    "{\"}\"}",
    "{.summary.total}",
];

#[test]
fn templates_are_filled_as_kubectl_fills_them() {
    let there = Command::new("kubectl")
        .args(["version", "--client"])
        .output();
    if !there.is_ok_and(|output| output.status.success()) {
        assert!(
            std::env::var_os("ATTACHE_REQUIRE_KUSTOMIZE").is_none(),
            "kubectl is not on the PATH"
        );
        eprintln!("SKIPPED: kubectl is not on the PATH");
        return;
    }
    let quick = ["policies", "--from", "examples/quickstart", "-A"];
    let document = run(&[&quick[..], &["-o", "json"]].concat()).clean();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("policies.json");
    fs::write(&file, document).unwrap();
    let mut wrong = Vec::new();
    for template in TEMPLATES {
        let format = format!("jsonpath={template}");
        let ours = run(&[&quick[..], &["-o", &format]].concat()).clean();
        // A command that prints a file and asks no API server.
        let kubectl = Command::new("kubectl")
            .args(["label", "--local", "x=y", "-o", &format, "-f"])
            .arg(&file)
            .env("HOME", folder.path())
            .env_remove("KUBECONFIG")
            .output()
            .unwrap();
        assert!(kubectl.status.success(), "{template}: {kubectl:?}");
        let theirs = String::from_utf8(kubectl.stdout).unwrap();
        if ours.trim_end_matches('\n') != theirs.trim_end_matches('\n') {
            wrong.push(format!(
                "{template}\n  attache: {ours}\n  kubectl: {theirs}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
