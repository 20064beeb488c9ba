#!/usr/bin/env bash
# What of the Gateway API's conformance suite can be asked offline: prints the folder that holds it, and makes it once.
# The suite is a Go module: only its archive is fetched, nothing of it is built. Exit status 3: this machine cannot.
set -euo pipefail

version=v1.7.0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${XDG_CACHE_HOME:-$HOME/.cache}/attache/conformance/$version

go=$(command -v go || { [ -x /usr/local/go/bin/go ] && echo /usr/local/go/bin/go; }) || {
  echo "record.sh: Go is not installed" >&2
  exit 3
}
stamp=$(cat "$here"/record/*.go | sha256sum | cut -d' ' -f1)
if [ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ]; then
  # The module asks for a newer Go than may be here. Its archive is there all the same.
  found=$(cd "$here/record" && GOFLAGS=-mod=mod GOTOOLCHAIN=local "$go" mod download -json "sigs.k8s.io/gateway-api/conformance@$version" || true)
  zip=$(sed -n 's/^[[:space:]]*"Zip": "\(.*\)",*$/\1/p' <<<"$found")
  [ -f "$zip" ] || {
    echo "record.sh: the conformance suite cannot be fetched: $found" >&2
    exit 3
  }
  rm -rf "$folder.new"
  mkdir -p "$folder.new"
  (cd "$here/record" && GOTOOLCHAIN=local "$go" run . "$zip" "$folder.new") >&2
  echo "$stamp" >"$folder.new/stamp"
  rm -rf "$folder"
  mv "$folder.new" "$folder"
fi
echo "$folder"
