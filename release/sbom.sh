#!/usr/bin/env bash
# sbom.sh OUT: writes what the program is made of, as CycloneDX, to OUT/attache-VERSION.cdx.json. Needs cargo-cyclonedx.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=${1:?OUT}
version=$(release/version.sh)
made=attache_bin.cdx.json
trap 'rm -f "$made"' EXIT
# The crates of all platforms, without those of the tests.
cargo cyclonedx --format json --spec-version 1.5 --describe binaries --target all
mkdir -p "$out"
# Where the source lay is nobody's business.
sed "s|file://$PWD|file:///attache|g" "$made" >"$out/attache-$version.cdx.json"
