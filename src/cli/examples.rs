//! The examples in each command's help. A test parses them.

pub(super) const SERVE: &str = "\
Examples:
  Answer from a directory of manifests, with a certificate made for this run:
    $ attache serve --from examples/quickstart
  Answer from the cluster:
    $ attache serve --tls-cert tls.crt --tls-key tls.key";

pub(super) const DESCRIBE: &str = "\
Examples:
  The policies that act on a route, and the values in force with their sources:
    $ attache describe httproute/cart -n shop
  One rule of it, from a directory of manifests:
    $ attache describe httproute/cart#checkout -n shop --from deploy
  What a policy does, and what overrides it:
    $ attache describe retrypolicy/edge-retries -n infra
  Several objects at once:
    $ attache describe httproute cart catalog -n shop
  What a workload lives under:
    $ attache describe deployment/cart -n shop
  From rendered manifests:
    $ kustomize build overlays/prod | attache describe httproute/cart -n shop --from -";

pub(super) const KINDS: &str = "\
Examples:
  The policy kinds of the cluster:
    $ attache kinds
  Every fact that is known of one kind, and where it came from:
    $ attache kinds BackendTLSPolicy --from deploy";

pub(super) const MANIFESTS: &str = "\
Examples:
  Ask attache about every policy kind of the cluster:
    $ attache manifests | kubectl apply --server-side -f -
  With the CA of a certificate of one's own:
    $ attache manifests --ca-bundle ca.crt --failure-policy Fail";

pub(super) const HELP: &str = "\
Examples:
  What a finding means, and what to do about it:
    $ attache help section-unknown
  What a command does:
    $ attache help check";

pub(super) const SCHEMA: &str = "\
Examples:
  For an editor that checks the configuration file:
    $ attache schema config > attache.schema.json
  What a program that reads describe -o json can rely on:
    $ attache schema description";

pub(super) const COMPLETIONS: &str = "\
Examples:
  For this shell:
    $ attache completions bash > /etc/bash_completion.d/attache
  For kubectl, where `kubectl attache` is typed:
    $ attache completions kubectl > /usr/local/bin/kubectl_complete-attache";

pub(super) const VERSION: &str = "\
Examples:
  Which attache this is:
    $ attache version
  The same for a program:
    $ attache version -o json";

pub(super) const COMPLETE: &str = "\
Examples:
  What can follow `kubectl attache desc`:
    $ attache __complete desc
  The names of routes in a directory:
    $ attache __complete -- describe --from deploy httproute/c";

pub(super) const MAN: &str = "\
Examples:
  Read the page of attache itself:
    $ attache man | man -l -
  Write all pages:
    $ attache man --out man1";

pub(super) const CERTS: &str = "\
Examples:
  For a Service of the cluster:
    $ attache certs --out certs --san attache.attache-system.svc
  For this machine:
    $ attache certs --out certs --san localhost --san 127.0.0.1";

pub(super) const IMPACT: &str = "\
Examples:
  What deleting a policy does, before it is gone:
    $ attache impact --delete retrypolicy/edge-retries -n infra
  What a pull request alters, on top of the cluster, failing when it does:
    $ kustomize build overlays/prod | attache impact - --fail-on change
  From one directory to another:
    $ attache impact -f rendered/branch --from rendered/main";

pub(super) const POLICIES: &str = "\
Examples:
  Every policy of the cluster, and what became of it:
    $ attache policies -A
  Those that act on one route:
    $ attache policies --acting-on httproute/cart -n shop
  Their names alone, or any part of the answer:
    $ attache policies -A -o jsonpath='{.policies[*].policy.name}'
  Those that do nothing, in a directory of manifests:
    $ attache policies -A --state Overridden,NoEffect,TargetNotFound --from deploy";

pub(super) const EXPLAIN: &str = "\
Examples:
  What serves a request, and what is in force on its way:
    $ attache explain https://shop.example.com/cart --from deploy
  One with a method and a header, on a cluster:
    $ attache explain --host shop.example.com --path /cart -X POST -H x-beta:1";

pub(super) const CHECK: &str = "\
Examples:
  Everything that is wrong with a directory of manifests:
    $ attache check deploy
  Rendered manifests as a change to the cluster, for code scanning:
    $ kustomize build overlays/prod | attache check - --cluster --fail-on deny -o sarif > attache.sarif
  What is in the cluster already:
    $ attache check --cluster";

pub(super) const GRAPH: &str = "\
Examples:
  The topology and its policies, in the terminal:
    $ attache graph --from deploy
  What lies above and below a Gateway, as a page to click through:
    $ attache graph gateway/edge -n infra -o html > edge.html
  For a document:
    $ attache graph -n shop -o mermaid";
