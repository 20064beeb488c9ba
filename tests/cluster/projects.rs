//! The policy kinds of projects that implement Gateway API, used as their documentation shows, and with mistakes that
//! their CRDs accept.
//!
//! Each project has a directory: `policies.yaml` is accepted without findings; `expected.yaml` has the warnings about
//! these policies, and the refusals of other files. All of them use `fixtures/storefront.yaml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::harness::{Said, TestSetup, eventually, soon};

/// Expected texts by file.
type Words = BTreeMap<String, Vec<String>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// The controller of the Gateway; one that attache does not know if absent.
    #[serde(default)]
    controller: Option<String>,
    told: Words,
    #[serde(default)]
    refused: Words,
}

/// The beginnings of findings against a policy.
const COMPLAINTS: [&str; 4] = ["target-", "section-", "strategy-", "spec-empty"];

#[test]
fn gateway_api() {
    check("gateway-api");
}

#[test]
fn envoy_gateway() {
    check("envoy-gateway");
}

#[test]
fn kuadrant() {
    check("kuadrant");
}

#[test]
fn nginx_gateway_fabric() {
    check("nginx-gateway-fabric");
}

#[test]
fn kgateway() {
    check("kgateway");
}

#[test]
fn istio() {
    check("istio");
}

#[test]
fn linkerd() {
    check("linkerd");
}

#[test]
fn apisix() {
    check("apisix");
}

#[test]
fn kong() {
    check("kong");
}

#[test]
fn aws_vpc_lattice() {
    check("aws-vpc-lattice");
}

#[test]
fn gke() {
    check("gke");
}

/// No label, no profile, no configuration: the CRD is enough.
#[test]
fn a_kind_that_nobody_has_heard_of() {
    check("unheard-of");
}

fn check(project: &str) {
    let Some(setup) = TestSetup::of_project(project) else {
        return;
    };
    let expected: Expected = serde_saphyr::from_str(&setup.read("expected.yaml")).expect("words");
    if let Some(controller) = &expected.controller {
        run_gateways_by(&setup, project, controller);
    }
    // kubectl learns of new kinds after a delay.
    eventually("the kinds are served", || {
        setup.apply("storefront.yaml").succeeded()?;
        dry_run(&setup, "policies.yaml").succeeded()
    });
    let before = soon(|| {
        let complaints = uncomplaining(&dry_run(&setup, "policies.yaml"));
        all([complaints, each(&setup, &expected.refused, refused_with)])
    });
    setup.apply("policies.yaml").ok();
    let after = soon(|| each(&setup, &expected.told, told_of));
    if let Err(wrong) = all([before, after]) {
        panic!("{project}:\n{wrong}");
    }
}

/// Gives the Gateways in the files of a project a class of its controller.
fn run_gateways_by(setup: &TestSetup<'_>, project: &str, controller: &str) {
    let class = format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {{name: {project}}}\nspec: {{controllerName: {controller}}}\n"
    );
    setup.apply_text(&class).ok();
    for file in ["storefront.yaml", "storefront-gateway.yaml"] {
        let of_project = format!("gatewayClassName: {project}");
        let text = setup
            .read(file)
            .replace("gatewayClassName: example", &of_project);
        setup.write(file, &text);
    }
}

fn each(
    setup: &TestSetup<'_>,
    words: &Words,
    test: fn(&Said, &str) -> Result<(), String>,
) -> Result<(), String> {
    let of_file = |(file, words): (&String, &Vec<String>)| {
        let output = dry_run(setup, file);
        all(words.iter().map(|words| test(&output, words)))
    };
    all(words.iter().map(of_file))
}

fn dry_run(setup: &TestSetup<'_>, file: &str) -> Said {
    setup.kubectl(["apply", "--dry-run=server", "-f", file])
}

fn uncomplaining(output: &Said) -> Result<(), String> {
    output.succeeded()?;
    let mut words = COMPLAINTS.iter();
    match words.find(|word| output.err.contains(&format!("Warning: {word}"))) {
        Some(word) => Err(format!("{word:?} in\n{output}")),
        None => Ok(()),
    }
}

fn told_of(output: &Said, words: &str) -> Result<(), String> {
    output.succeeded()?;
    if output.err.contains(&format!("Warning: {words}")) {
        Ok(())
    } else {
        Err(format!("no {words:?} in\n{output}"))
    }
}

fn refused_with(output: &Said, words: &str) -> Result<(), String> {
    if output.code == 1 && output.err.contains("\" is invalid: ") && output.err.contains(words) {
        Ok(())
    } else {
        Err(format!("not refused with {words:?}:\n{output}"))
    }
}

/// All errors.
fn all(results: impl IntoIterator<Item = Result<(), String>>) -> Result<(), String> {
    let wrong: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}
