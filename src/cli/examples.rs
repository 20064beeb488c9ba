//! The examples in each command's help. A test parses them.

pub(super) const SERVE: &str = "\
Examples:
  Serve a directory of manifests, with a temporary certificate:
    $ attache serve --from examples/quickstart
  Serve the cluster:
    $ attache serve --tls-cert tls.crt --tls-key tls.key";

pub(super) const DESCRIBE: &str = "\
Examples:
  Show the policies that apply to a route, and the values in force with their sources:
    $ attache describe httproute/cart -n shop
  Describe one rule, from a directory of manifests:
    $ attache describe httproute/cart#checkout -n shop --from deploy
  Show the effect of a policy, and what overrides it:
    $ attache describe retrypolicy/edge-retries -n infra
  Describe several objects:
    $ attache describe httproute cart catalog -n shop
  Show the policies that apply to a workload:
    $ attache describe deployment/cart -n shop
  Read rendered manifests:
    $ kustomize build overlays/prod | attache describe httproute/cart -n shop --from -";

pub(super) const GUARDRAILS: &str = "\
Examples:
  Show which targets break the guardrails in the configuration:
    $ attache guardrails --config attache.yaml
  Show what a new guardrail would find, before it is in use:
    $ attache guardrails -f new.yaml --from deploy";

pub(super) const TEST: &str = "\
Examples:
  Run all tests in a repository:
    $ attache test .
  Write what is in force on a route now as a test, to start from:
    $ attache test --record httproute/cart -n shop --from deploy > shop.attache.yaml
  Run the tests with a name again whenever a file changes:
    $ attache test tests --filter authentication --watch";

pub(super) const UI: &str = "\
Examples:
  Show the cluster of the current context:
    $ attache ui
  Show a directory of manifests, on a port of your choice:
    $ attache ui --from deploy --address 127.0.0.1:8080";

pub(super) const KINDS: &str = "\
Examples:
  List the policy kinds of the cluster:
    $ attache kinds
  Show all facts about one kind, with their sources:
    $ attache kinds BackendTLSPolicy --from deploy";

pub(super) const HEALTH: &str = "\
Examples:
  Let Argo CD show the health of the policy kinds of the cluster:
    $ attache health argocd --cluster | kubectl apply --server-side -f -
  Let Flux wait for two kinds; put the output into a Kustomization:
    $ attache health flux SecurityPolicy BackendTrafficPolicy.gateway.envoyproxy.io";

pub(super) const MANIFESTS: &str = "\
Examples:
  Register attache for every policy kind of the cluster:
    $ attache manifests | kubectl apply --server-side -f -
  Use the CA of your own certificate:
    $ attache manifests --ca-bundle ca.crt --failure-policy Fail";

pub(super) const HELP: &str = "\
Examples:
  Explain a finding and how to fix it:
    $ attache help section-unknown
  Explain a command:
    $ attache help check";

pub(super) const SCHEMA: &str = "\
Examples:
  Let an editor check the configuration file:
    $ attache schema config > attache.schema.json
  Show the format of describe -o json:
    $ attache schema description";

pub(super) const COMPLETIONS: &str = "\
Examples:
  Complete in bash:
    $ attache completions bash > /etc/bash_completion.d/attache
  Complete `kubectl attache`:
    $ attache completions kubectl > /usr/local/bin/kubectl_complete-attache";

pub(super) const PROBE: &str = "\
Examples:
  Send a review to a server on this machine, whose certificate comes from `attache certs`:
    $ attache probe https://127.0.0.1:8443/validate --ca-cert certs/ca.crt
  Wait up to a minute in the cluster until the server is ready:
    $ attache probe http://attache.attache-system.svc:9090/readyz --timeout 1m";

pub(super) const VERSION: &str = "\
Examples:
  Print the version:
    $ attache version
  Print it for a program:
    $ attache version -o json";

pub(super) const COMPLETE: &str = "\
Examples:
  Complete `kubectl attache desc`:
    $ attache __complete desc
  Complete names of routes in a directory:
    $ attache __complete -- describe --from deploy httproute/c";

pub(super) const MAN: &str = "\
Examples:
  Read the page of attache itself:
    $ attache man | man -l -
  Write all pages:
    $ attache man --out man1";

pub(super) const CERTS: &str = "\
Examples:
  Create a certificate for a Service in the cluster:
    $ attache certs --out certs --san attache.attache-system.svc
  Create a certificate for this machine:
    $ attache certs --out certs --san localhost --san 127.0.0.1";

pub(super) const IMPACT: &str = "\
Examples:
  Show the effect of deleting a policy:
    $ attache impact --delete retrypolicy/edge-retries -n infra
  Show what a pull request changes in the cluster, and fail if it changes something:
    $ kustomize build overlays/prod | attache impact - --fail-on change
  Show what one changed file does to a directory of manifests (attache diff compares two directories):
    $ attache impact changed.yaml --from deploy";

pub(super) const DIFF: &str = "\
Examples:
  Show what a branch changes, in one directory of the repository:
    $ attache diff main...HEAD deploy/prod
  Compare a cluster with what should be in it:
    $ attache diff cluster:prod deploy/prod
  Compare two releases in which a Gateway has another name, and fail if something differs:
    $ attache diff v1:deploy v2:deploy --map gateway/infra/old=gateway/infra/new --exit-code";

pub(super) const POLICIES: &str = "\
Examples:
  List all policies of the cluster with their states:
    $ attache policies -A
  List the policies that apply to one route:
    $ attache policies --acting-on httproute/cart -n shop
  Print only their names, or any part of the answer:
    $ attache policies -A -o jsonpath='{.policies[*].policy.name}'
  List the policies without effect, in a directory of manifests:
    $ attache policies -A --state Overridden,NoEffect,TargetNotFound --from deploy";

pub(super) const EXPLAIN: &str = "\
Examples:
  Show what serves a request, and which policies apply to it:
    $ attache explain https://shop.example.com/cart --from deploy
  Use a method and a header, on a cluster:
    $ attache explain --host shop.example.com --path /cart -X POST -H x-beta:1";

pub(super) const CHECK: &str = "\
Examples:
  Check a directory of manifests:
    $ attache check deploy
  Check rendered manifests as a change to the cluster, for code scanning:
    $ kustomize build overlays/prod | attache check - --cluster --fail-on deny -o sarif > attache.sarif
  Check the cluster as it is:
    $ attache check --cluster";

pub(super) const GRAPH: &str = "\
Examples:
  Show the topology and its policies, in the terminal:
    $ attache graph --from deploy
  Show what is above and below a Gateway, as an interactive page:
    $ attache graph gateway/edge -n infra -o html > edge.html
  Create a diagram for a document:
    $ attache graph -n shop -o mermaid";
