#!/usr/bin/env bash
# version.sh [TAG]: prints the version of this tree. Fails unless the files that name it agree, and the tag with them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

expect() { # FILE LINE
  grep -qxF -- "$2" "$1" || {
    echo "version.sh: Cargo.toml says $version, but $1 has no line \"$2\"" >&2
    exit 1
  }
}

expect charts/attache/Chart.yaml "version: $version"
expect charts/attache/Chart.yaml "appVersion: $version"
expect manifests/kustomization.yaml "  newTag: $version"
expect manifests/cert-manager/kustomization.yaml "  newTag: $version"
[ -z "${1:-}" ] || [ "$1" = "v$version" ] || {
  echo "version.sh: the tag is $1, Cargo.toml says $version: tag v$version, or change the version first" >&2
  exit 1
}
echo "$version"
