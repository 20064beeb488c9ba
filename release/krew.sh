#!/usr/bin/env bash
# krew.sh DIST REPOSITORY: prints plugins/attache.yaml with the version and the checksums of DIST/SHA256SUMS. REPOSITORY is
# OWNER/NAME on GitHub; its release of this version has the archives.
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

dist=${1:?DIST}
repository=${2:?REPOSITORY}
version=$("$here/release/version.sh")

manifest=$(<"$here/plugins/attache.yaml")
fill() { manifest=${manifest//"\${$1}"/"$2"}; }

fill VERSION "$version"
fill REPOSITORY "$repository"
for platform in linux-amd64 linux-arm64 darwin-amd64 darwin-arm64; do
  archive=attache-$version-$platform.tar.gz
  sum=$(awk -v file="$archive" '$2 == file { print $1 }' "$dist/SHA256SUMS")
  [ -n "$sum" ] || {
    echo "krew.sh: $dist/SHA256SUMS has no $archive" >&2
    exit 1
  }
  name=${platform^^}
  name=${name//-/_}
  fill "URL_$name" "https://github.com/$repository/releases/download/v$version/$archive"
  fill "SHA256_$name" "$sum"
done
# The comment is about the template.
printf '%s\n' "$manifest" | sed '/^#/d'
