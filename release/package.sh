#!/usr/bin/env bash
# package.sh BIN OUT: makes an archive of each BIN/attache-OS-ARCH in the folder OUT, and OUT/SHA256SUMS of all files there.
#
# The same programs give the same archives. Needs GNU tar.
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

bin=${1:?BIN}
out=${2:?OUT}
version=$("$here/release/version.sh")
time=$(git -C "$here" log -1 --format=%ct)

mkdir -p "$out"
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
cp "$here/LICENSE" "$here/README.md" "$staging"
for program in "$bin"/attache-*; do
  install -m 0755 "$program" "$staging/attache"
  tar --create --gzip --file "$out/attache-$version-${program##*/attache-}.tar.gz" \
    --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --directory "$staging" attache LICENSE README.md
done
cd "$out"
mapfile -d "" -t files < <(find . -maxdepth 1 -type f ! -name SHA256SUMS -printf "%P\0" | LC_ALL=C sort -z)
sha256sum "${files[@]}" >SHA256SUMS
