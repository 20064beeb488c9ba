#!/usr/bin/env bash
# try-krew.sh TOOLS: makes what a release gives to krew, of a stand-in for the program; has krew judge the manifest and
# install the archive for this machine. TOOLS has krew and validate-krew-manifest. Asks nobody on the network.
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

tools=${1:?TOOLS}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/bin"
for platform in linux-amd64 linux-arm64 darwin-amd64 darwin-arm64; do
  printf '#!/bin/sh\necho "attache for %s"\n' "$platform" >"$work/bin/attache-$platform"
done
"$here/package.sh" "$work/bin" "$work/dist"
"$here/krew.sh" "$work/dist" OWNER/attache >"$work/attache.yaml"
"$tools/validate-krew-manifest" -manifest "$work/attache.yaml" -skip-install

machine=amd64
[ "$(uname -m)" != aarch64 ] || machine=arm64
export KREW_ROOT=$work/krew
"$tools/krew" install --manifest "$work/attache.yaml" --archive "$(echo "$work"/dist/attache-*-linux-$machine.tar.gz)" </dev/null
said=$("$KREW_ROOT/bin/kubectl-attache")
[ "$said" = "attache for linux-$machine" ] || {
  echo "try-krew.sh: the installed plugin says \"$said\"" >&2
  exit 1
}
