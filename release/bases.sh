#!/usr/bin/env bash
# bases.sh: prints each base image of the Dockerfile with the digest that its tag has now, a line each: NAME:TAG@sha256:...
#
# The digests are not in this repository: where it is written no registry can be asked. The release asks for them once,
# builds both architectures from exactly these, and publishes the list as image-bases.txt beside the programs.
# Needs docker buildx.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sed -n 's/^FROM \([^ ]*:[^ ]*\).*/\1/p; s/^ARG [A-Z_]*=\([^ ]*:[^ ]*\)$/\1/p' Dockerfile | grep -v '\$' | sort -u | while read -r image; do
  digest=$(docker buildx imagetools inspect "$image" --format '{{.Manifest.Digest}}')
  [[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || {
    echo "bases.sh: no digest of $image: $digest" >&2
    exit 1
  }
  echo "$image@$digest"
done
