#!/usr/bin/env bash
# A cluster to try attache on: a real API server on loopback, the Gateway API, the quickstart's
# objects, and attache registered with it.
#
#   try.sh up     start all of it in .cluster/ and leave it running
#   try.sh down   end all of it and remove .cluster/
#
# ATTACHE names another binary than the newest in target/release and target/debug, ATTACHE_CLUSTER another directory.
set -euo pipefail
shopt -s inherit_errexit

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cluster=$root/tests/cluster/cluster.sh
dir=${ATTACHE_CLUSTER:-$root/.cluster}
target=${CARGO_TARGET_DIR:-$root/target}
attache=${ATTACHE:-$(ls -t "$target"/{release,debug}/attache 2>/dev/null | head -n 1 || true)}
ready_seconds=60

die() {
  echo "try.sh: $*" >&2
  exit 1
}

# COMMAND...: until it succeeds.
wait_for() {
  local deadline=$((SECONDS + ready_seconds))
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || die "not within $ready_seconds s: $*; see $dir/attache.log"
    sleep 0.1
  done
}

apply() { "$KUBECTL" apply --server-side -f "$@" >/dev/null; }

# The port after PREFIX in what attache printed.
port_after() { sed -n "s|.*${1}127\.0\.0\.1:\([0-9]*\).*|\1|p" "$dir/attache.log" | head -n 1; }

attache_is_ready() {
  local admin
  kill -0 "$(cat "$dir/attache.pid")" || die "attache ended: $(tail -n 3 "$dir/attache.log")"
  admin=$(port_after 'admin http://')
  [ -n "$admin" ] && curl -fs "http://127.0.0.1:$admin/readyz"
}

start_attache() {
  "$attache" certs --out "$dir/attache-certs" --san 127.0.0.1 --san localhost
  setsid "$attache" serve --kubeconfig "$KUBECONFIG" --config "$root/examples/quickstart/attache.yaml" \
    --tls-cert "$dir/attache-certs/tls.crt" --tls-key "$dir/attache-certs/tls.key" \
    --listen 127.0.0.1:0 --admin 127.0.0.1:0 >"$dir/attache.log" 2>&1 </dev/null &
  echo $! >"$dir/attache.pid"
  disown
  wait_for attache_is_ready
}

# The API server refuses this only when it has read the webhook configurations.
is_registered() {
  local said
  said=$("$KUBECTL" apply --dry-run=server -f "$root/examples/requests/bad-section.yaml" 2>&1 || true)
  [[ $said == *section-unknown* ]]
}

# Registers both webhooks. If attache does not answer, the API server admits requests.
register() {
  "$attache" manifests --kubeconfig "$KUBECONFIG" --config "$root/examples/quickstart/attache.yaml" \
    --url "https://127.0.0.1:$(port_after 'https://')" --ca-bundle "$dir/attache-certs/ca.crt" | apply -
}

up() {
  [ ! -e "$dir" ] || die "$dir already exists; make cluster-stop removes it"
  [ -x "$attache" ] || die "no ${attache:-attache in $target}; build it with: cargo build"
  "$cluster" start "$dir"
  # shellcheck source=/dev/null
  . "$dir/env"
  export KUBECONFIG
  apply "$("$cluster" crds gateway-api)"
  apply "$root/examples/quickstart/10-policy-kinds.yaml"
  "$KUBECTL" wait --for=condition=Established crd --all >/dev/null
  for file in "$root"/examples/quickstart/[2-9]*.yaml; do
    apply "$file"
  done
  start_attache
  register
  wait_for is_registered
  cat <<END
attache runs next to a Kubernetes API server. In this terminal:

  export KUBECONFIG=$KUBECONFIG
  export PATH=$ASSETS:\$PATH
  kubectl apply --dry-run=server -f examples/requests/cart-route.yaml

Logs are in $dir. To end it: make cluster-stop
END
}

down() {
  [ ! -e "$dir" ] || "$cluster" stop "$dir"
  rm -rf "$dir"
}

case "${1:-}" in
  up) up ;;
  down) down ;;
  *)
    sed -n '5,6p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
