#!/usr/bin/env bash
# The tests of SKEW_TESTS on other versions of Kubernetes and of the Gateway API, as cluster.sh builds them. Prints a
# table of what ran. All versions run, also after one failed.
#
#   skew.sh kubernetes     each Kubernetes with the newest Gateway API, experimental channel
#   skew.sh gateway-api    each Gateway API in both channels, with the newest Kubernetes
#   skew.sh all            both
#   skew.sh one            the versions that the environment names
#
# Environment: that of cluster.sh, and
#   SKEW_TESTS    modules or tests of tests/cluster, as arguments of the test program
#   WAITING       how many tests run at once
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${SKEW_TESTS:?names no tests: run make skew}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
rows=()
failed=0

kubernetes() { (cd "$here/kubernetes" && printf '%s\n' *) | sort -V; }

gateway_apis() { sed -n 's/^\([0-9][^ ]*\) .*/\1/p' "$here/gateway-api.txt" | sort -V; }

kubernetes_version() { sed -n 's|^[[:space:]]*k8s.io/kubernetes \(v[^ ]*\).*|\1|p' "$here/kubernetes/$1/go.mod"; }

gateway_api_version() { sed -n "s/^$1 \([^ ]*\) .*/\1/p" "$here/gateway-api.txt"; }

# KUBERNETES GATEWAY-API CHANNEL: both as minor versions.
run() {
  local counts without status=0
  echo
  echo "==== Kubernetes $1, Gateway API $2, $3 channel"
  export K8S_VERSION=$1 GATEWAY_API_VERSION=$2 GATEWAY_API_CHANNEL=$3 ATTACHE_REQUIRE_CLUSTER=1
  # Before the tests: a build takes every core, and tests have deadlines.
  "$here/cluster.sh" build >/dev/null
  "$here/cluster.sh" crds gateway-api >/dev/null
  # The list of tests is a list of words.
  # shellcheck disable=SC2086
  cargo test --locked --test cluster -- --test-threads="${WAITING:-6}" $SKEW_TESTS 2>&1 | tee "$log" || status=$?
  counts=$(sed -n 's/^test result: .* \([0-9]* passed\); \([0-9]* failed\);.*/\1, \2/p' "$log")
  without=$(grep -c '^WITHOUT: ' "$log" || true)
  [ "$status" -eq 0 ] || failed=1
  rows+=("| $(kubernetes_version "$1") | $(gateway_api_version "$2") $3 | ${counts:-not run} | $without | $(date -u +%F) |")
}

each_kubernetes() {
  local version newest
  newest=$(gateway_apis | tail -n 1)
  for version in $(kubernetes); do
    run "$version" "$newest" experimental
  done
}

each_gateway_api() {
  local version channel newest
  newest=$(kubernetes | tail -n 1)
  for version in $(gateway_apis); do
    for channel in standard experimental; do
      run "$newest" "$version" "$channel"
    done
  done
}

case "${1:-}" in
  kubernetes) each_kubernetes ;;
  gateway-api) each_gateway_api ;;
  all)
    each_kubernetes
    each_gateway_api
    ;;
  one) run "${K8S_VERSION:-$(kubernetes | tail -n 1)}" "${GATEWAY_API_VERSION:-$(gateway_apis | tail -n 1)}" "${GATEWAY_API_CHANNEL:-experimental}" ;;
  *)
    sed -n '5,8p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac

echo
echo '| Kubernetes | Gateway API | tests | shown without a kind | date |'
echo '|---|---|---|---|---|'
printf '%s\n' "${rows[@]}"
exit "$failed"
