//! The steps of the GitHub Action, the pre-commit hooks, and the script for GitLab. The job for Argo CD and the
//! recurring audit need a cluster: tests/cluster/pipelines.rs.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::run::{root, run};
use testing::git::commit;

const WRONG: &str = "tests/commands/check/faults";
const CLEAN: &str = "tests/commands/check/clean";

/// A policy without a target: refused in any state.
const REFUSED: &str = "\
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: aimless, namespace: shop}
spec:
  targetRefs: []
  validation: {hostname: shop.example.com, wellKnownCACertificates: System}
";

fn yaml(path: &str) -> Value {
    let text = fs::read_to_string(root().join(path)).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A PATH with the built program first.
fn programs() -> OsString {
    let built = Path::new(env!("CARGO_BIN_EXE_attache")).parent().unwrap();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(built.to_owned()).chain(std::env::split_paths(&others));
    std::env::join_paths(all).unwrap()
}

fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .env("PATH", programs())
        .env("HOME", folder)
        .env_remove("KUBECONFIG");
    command
}

fn printed(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8(text).unwrap()
}

/// Runs the steps of action.yml in `folder`, as a runner does, up to the first that fails.
fn act(folder: &Path, inputs: &[(&str, &str)]) -> (Option<i32>, String) {
    let action = yaml("action.yml");
    let value = |name: &str| {
        let given = inputs.iter().find(|(input, _)| *input == name);
        let default = action["inputs"][name]["default"].as_str();
        given
            .map(|(_, value)| *value)
            .or(default)
            .unwrap_or_else(|| panic!("no input {name}"))
    };
    for (name, _) in inputs {
        assert!(action["inputs"][name].is_object(), "no input {name}");
    }
    let mut log = String::new();
    for step in action["runs"]["steps"].as_array().unwrap() {
        assert_eq!(step["shell"], "bash");
        let script = step["run"].as_str().unwrap();
        // Text that is expanded into a script becomes code, so inputs may only be environment variables.
        assert!(!script.contains("${{"), "{script}");
        let mut bash = command("bash", folder);
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
            .env("GITHUB_ACTION_PATH", root())
            .env("GITHUB_PATH", folder.join(".path"))
            .env("RUNNER_TEMP", folder.join(".temp"));
        for (name, text) in step["env"].as_object().into_iter().flatten() {
            let text = text.as_str().unwrap();
            if text == "${{ github.action_repository }}" {
                bash.env(name, "OWNER/attache");
                continue;
            }
            let input = text
                .strip_prefix("${{ inputs.")
                .and_then(|t| t.strip_suffix(" }}"));
            bash.env(
                name,
                value(input.unwrap_or_else(|| panic!("{name}: {text}"))),
            );
        }
        let output = bash.output().unwrap();
        log.push_str(&printed(&output));
        if !output.status.success() {
            return (output.status.code(), log);
        }
    }
    (Some(0), log)
}

/// The annotations in the output, without the lines of earlier steps.
fn annotations(output: &str) -> Vec<&str> {
    output
        .lines()
        .filter(|line| line.starts_with("::"))
        .collect()
}

#[test]
fn the_action_annotates_and_fails_as_check_does() {
    let (code, output) = act(&root().join(WRONG), &[]);
    assert_eq!(code, Some(1), "{output}");
    assert_eq!(annotations(&output).len(), 11, "{output}");
    let (code, output) = act(&root().join(CLEAN), &[]);
    assert_eq!((code, annotations(&output).len()), (Some(0), 0), "{output}");
    let (code, output) = act(&root().join(WRONG), &[("fail-on", "never")]);
    assert_eq!(
        (code, annotations(&output).len()),
        (Some(0), 11),
        "{output}"
    );
}

#[test]
fn the_action_takes_paths_as_they_are() {
    let folder = TempDir::new().unwrap();
    let odd = "a b; touch hit $(touch hit) `touch hit` \"' *.yaml";
    fs::write(folder.path().join(odd), REFUSED).unwrap();
    fs::write(
        folder.path().join("-o"),
        REFUSED.replace("aimless", "dashed"),
    )
    .unwrap();
    fs::write(
        folder.path().join("other.yaml"),
        REFUSED.replace("aimless", "other"),
    )
    .unwrap();
    let (code, output) = act(folder.path(), &[("paths", &format!("{odd}\n\n-o\n"))]);
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("shop/aimless"), "{output}");
    assert!(output.contains("shop/dashed"), "{output}");
    assert!(!output.contains("shop/other"), "{output}");
    assert!(!folder.path().join("hit").exists());
}

#[test]
fn the_action_writes_sarif_and_still_fails() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("policy.yaml"), REFUSED).unwrap();
    let (code, output) = act(
        folder.path(),
        &[("paths", "policy.yaml"), ("sarif", "out.sarif")],
    );
    assert_eq!(code, Some(1), "{output}");
    assert_eq!(annotations(&output).len(), 1, "{output}");
    let sarif = fs::read(folder.path().join("out.sarif")).unwrap();
    let sarif: Value = serde_json::from_slice(&sarif).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 1);
}

#[test]
fn the_action_compares_with_a_baseline_and_a_state() {
    let folder = TempDir::new().unwrap();
    let policy = folder.path().join("policy.yaml");
    fs::write(&policy, REFUSED).unwrap();
    let known = run(&["check", policy.to_str().unwrap(), "-o", "json"]);
    fs::write(folder.path().join("known.json"), &known.stdout).unwrap();
    let known = [("paths", "policy.yaml"), ("baseline", "known.json")];
    let (code, output) = act(folder.path(), &known);
    assert_eq!((code, annotations(&output).len()), (Some(0), 0), "{output}");
    let state = [("paths", "policy.yaml"), ("from", "not-there")];
    let (code, output) = act(folder.path(), &state);
    assert_eq!(code, Some(2), "{output}");
    assert!(output.contains("not-there"), "{output}");
}

/// Whether pre-commit is available. With `ATTACHE_REQUIRE_PRE_COMMIT=1`, as in CI, it must be.
fn has_pre_commit() -> bool {
    let found = command("pre-commit", root()).arg("--version").output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        assert!(
            std::env::var_os("ATTACHE_REQUIRE_PRE_COMMIT").is_none(),
            "no pre-commit"
        );
        eprintln!("SKIPPED: no pre-commit on the search path");
    }
    found
}

#[test]
fn a_commit_with_a_policy_that_cannot_take_effect_is_stopped() {
    if !has_pre_commit() {
        return;
    }
    let (hooks, work) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let definition = ".pre-commit-hooks.yaml";
    fs::copy(root().join(definition), hooks.path().join(definition)).unwrap();
    commit(hooks.path());
    fs::write(work.path().join("policy.yaml"), REFUSED).unwrap();
    commit(work.path());
    let hook = || {
        let mut pre_commit = command("pre-commit", work.path());
        let repository = hooks.path().to_str().unwrap();
        pre_commit.args([
            "try-repo",
            repository,
            "attache-check-system",
            "--all-files",
        ]);
        pre_commit.output().unwrap()
    };
    let output = hook();
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    assert!(
        printed(&output).contains("shop/aimless"),
        "{}",
        printed(&output)
    );
    fs::remove_file(work.path().join("policy.yaml")).unwrap();
    fs::write(
        work.path().join("namespace.yaml"),
        "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n",
    )
    .unwrap();
    commit(work.path());
    let output = hook();
    assert!(output.status.success(), "{}", printed(&output));
    assert!(printed(&output).contains("Passed"), "{}", printed(&output));
}

/// Both hooks run the same command, whether Rust builds the program or it is installed.
#[test]
fn both_hooks_run_the_program_of_this_package() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let hooks = hooks.as_array().unwrap();
    assert_eq!(hooks.len(), 2);
    for hook in hooks {
        assert_eq!(hook["entry"], "attache check");
        assert_eq!(hook["args"], serde_json::json!(["."]));
        assert_eq!(hook["pass_filenames"], false);
    }
    assert_eq!(env!("CARGO_PKG_NAME"), "attache");
}

/// The first YAML block below a heading of docs/how-to/check-pull-requests.md.
fn snippet(heading: &str) -> Value {
    let text = fs::read_to_string(root().join("docs/how-to/check-pull-requests.md")).unwrap();
    let (_, under) = text.split_once(&format!("\n## {heading}\n")).unwrap();
    let (_, block) = under.split_once("```yaml\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    serde_saphyr::from_str(block).unwrap()
}

#[test]
fn the_script_for_gitlab_leaves_a_report() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("deploy")).unwrap();
    fs::write(folder.path().join("deploy/policy.yaml"), REFUSED).unwrap();
    let job = &snippet("GitLab")["attache"];
    let lines: Vec<&str> = job["script"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let mut bash = command("bash", folder.path());
    let output = bash
        .args(["-eo", "pipefail", "-c", &lines.join("\n")])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    let report = job["artifacts"]["reports"]["junit"].as_str().unwrap();
    let report = fs::read_to_string(folder.path().join(report)).unwrap();
    let report = roxmltree::Document::parse(&report).unwrap();
    let failures = report
        .descendants()
        .filter(|node| node.has_tag_name("failure"));
    assert_eq!(failures.count(), 1);
}

#[test]
fn the_github_workflow_uses_existing_inputs() {
    let steps = &snippet("GitHub")["jobs"]["policies"]["steps"];
    let action = yaml("action.yml");
    let used: Vec<&Value> = steps
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| {
            step["uses"]
                .as_str()
                .is_some_and(|uses| uses.contains("/attache@"))
        })
        .collect();
    assert_eq!(used.len(), 1);
    for name in used[0]["with"].as_object().unwrap().keys() {
        assert!(action["inputs"][name].is_object(), "no input {name}");
    }
}
