#!/usr/bin/env bash
# notes.sh REPOSITORY: prints the notes of this release: its section of CHANGELOG.md, and how to install and verify it.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."

repository=${1:?REPOSITORY}
version=$(release/version.sh)
section=$(awk -v head="## [$version]" 'index($0, "## ") == 1 { inside = index($0, head) == 1; next } inside' CHANGELOG.md)
[ -n "${section//[[:space:]]/}" ] || {
  echo "notes.sh: CHANGELOG.md has no section \"## [$version]\"" >&2
  exit 1
}
image=ghcr.io/${repository,,}
# Links are relative to CHANGELOG.md.
sed -E "s#\]\(([A-Za-z][^):]*)\)#](https://github.com/$repository/blob/v$version/\1)#g" <<<"$section"
cat <<END

## Install

    helm install attache oci://$image/charts/attache --version $version --namespace attache-system --create-namespace
    kubectl krew install attache

SECURITY.md says how to verify programs, image and chart. Programs and image come with the list of the crates in them
(attache-$version.cdx.json); image-bases.txt names the images that the image was built from.
END
