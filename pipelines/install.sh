#!/usr/bin/env bash
# Puts `attache` on the PATH of the next steps of a workflow.
#
#   ATTACHE_VERSION    X.Y.Z: the released program of that version; `source`: built from the action's own source (minutes,
#                      needs Rust); empty: what is on the PATH already, else the release that the action belongs to
#   ATTACHE_CHECKSUM   the SHA-256 that the archive must have; empty: that of SHA256SUMS in the release
#   ATTACHE_REPOSITORY OWNER/NAME of the action at GitHub
#   ATTACHE_RELEASES   where releases are, if not at GitHub
set -euo pipefail

version=${ATTACHE_VERSION:-}
source=$GITHUB_ACTION_PATH
to=$RUNNER_TEMP/attache

die() {
  echo "::error title=attache::$*"
  exit 1
}

sha256() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1; }

if [ -z "$version" ] && command -v attache; then
  exit 0
fi
if [ "$version" = source ]; then
  cargo install --locked --path "$source" --root "$to"
  echo "$to/bin" >>"$GITHUB_PATH"
  exit 0
fi

version=${version#v}
[ -n "$version" ] || version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$source/Cargo.toml" | head -n 1)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || die "version: '$version' is not like 0.1.0"
case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) die "there is no attache for $(uname -s); there is one for Linux and macOS" ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=amd64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) die "there is no attache for $(uname -m); there is one for amd64 and arm64" ;;
esac

archive=attache-$version-$system-$machine.tar.gz
releases=${ATTACHE_RELEASES:-${GITHUB_SERVER_URL:-https://github.com}/${ATTACHE_REPOSITORY:?}/releases/download}
mkdir -p "$to/bin"
fetch() { # FILE
  curl --fail --silent --show-error --location --retry 3 --output "$to/$1" "$releases/v$version/$1" ||
    die "cannot fetch $releases/v$version/$1; with 'version: source' the action builds attache instead"
}
fetch "$archive"
wanted=${ATTACHE_CHECKSUM:-}
if [ -z "$wanted" ]; then
  fetch SHA256SUMS
  wanted=$(awk -v file="$archive" '$2 == file { print $1 }' "$to/SHA256SUMS")
  [ -n "$wanted" ] || die "SHA256SUMS of $version has no $archive"
fi
found=$(sha256 "$to/$archive")
[ "$found" = "$wanted" ] || die "$archive has the checksum $found instead of $wanted"
tar -xzf "$to/$archive" -C "$to/bin" attache
echo "$to/bin" >>"$GITHUB_PATH"
