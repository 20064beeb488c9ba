#!/usr/bin/env bash
# How long commands take on a real API server with 1,000 routes and 300 policies: one Gateway with ten
# listeners, every route on all of them, a Service for each policy. Prints medians of 15 runs.
#
#   measure.sh     needs target/release/attache (make build)
set -euo pipefail
shopt -s inherit_errexit

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cluster=$root/tests/cluster/cluster.sh
attache=${ATTACHE:-${CARGO_TARGET_DIR:-$root/target}/release/attache}
runs=15
dir=$(mktemp -d)
trap '"$cluster" stop "$dir" >/dev/null 2>&1; rm -rf "$dir"' EXIT

state() {
  printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: peers}\n---\n'
  printf 'apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: made}\nspec: {controllerName: example.com/made}\n---\n'
  printf 'apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: gw, namespace: peers}\nspec:\n  gatewayClassName: made\n  listeners:\n'
  for i in {0..9}; do printf '  - {name: l%s, protocol: HTTP, port: %s}\n' "$i" $((8000 + i)); done
  for i in {0..299}; do
    printf -- '---\napiVersion: v1\nkind: Service\nmetadata: {name: s%s, namespace: peers}\nspec: {clusterIP: None, ports: [{port: 80}]}\n' "$i"
  done
  for i in {0..149}; do
    printf -- '---\napiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {name: p%s, namespace: peers}\nspec:\n  targetRefs: [{group: "", kind: Service, name: s%s}]\n  validation: {hostname: s.example.com, wellKnownCACertificates: System}\n' "$i" "$i"
    printf -- '---\napiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XBackendTrafficPolicy\nmetadata: {name: p%s, namespace: peers}\nspec:\n  targetRefs: [{group: "", kind: Service, name: s%s}]\n  sessionPersistence: {sessionName: s}\n' "$i" $((i + 150))
  done
  for i in {0..999}; do
    printf -- '---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r%s, namespace: peers}\nspec:\n  parentRefs: [{name: gw}]\n  rules: [{backendRefs: [{name: s%s, port: 80}]}]\n' "$i" $((i % 300))
  done
}

# COMMAND...: the median of its times, in ms.
median() {
  local started ended
  "$@" >/dev/null
  for ((i = 0; i < runs; i++)); do
    started=${EPOCHREALTIME/./}
    "$@" >/dev/null
    ended=${EPOCHREALTIME/./}
    echo $(((ended - started) / 1000))
  done | sort -n | sed -n "$((runs / 2 + 1))p"
}

"$cluster" start "$dir" >/dev/null
# shellcheck source=/dev/null
. "$dir/env"
export KUBECONFIG
"$KUBECTL" apply --server-side -f "$("$cluster" crds gateway-api)" >/dev/null
"$KUBECTL" wait --for=condition=Established crd --all >/dev/null
state | "$KUBECTL" apply --server-side -f - >/dev/null
for command in 'describe httproute/r7 -n peers' 'describe service/s7 -n peers' 'describe gateway/gw -n peers' \
  'policies -A' 'impact --delete backendtlspolicy/p7 -n peers' 'explain http://a.example.com:8000/' 'graph -A' 'check --cluster --fail-on never'; do
  read -ra words <<<"$command"
  printf '%6s ms  attache %s\n' "$(median "$attache" "${words[@]}" --kubeconfig "$KUBECONFIG")" "$command"
done
