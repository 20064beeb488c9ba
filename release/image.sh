#!/usr/bin/env bash
# The image of a release. Needs docker buildx, and a login to the registry.
#
#   image.sh build IMAGE BASES       build and push the image of this machine's architecture; print its digest
#   image.sh join IMAGE DIGEST...    put them together as IMAGE:VERSION; print the digest of that
#
# IMAGE is REGISTRY/NAME without tag; BASES is what bases.sh printed.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."

verb=${1:?build or join}
image=${2:?IMAGE}
version=$(release/version.sh)

digest_in() { # FILE: of the image that buildx describes there
  sed -n 's/^ *"containerimage.digest": "\(sha256:[0-9a-f]*\)".*/\1/p' "$1"
}

build() {
  local bases=$1 base metadata contexts=()
  # The name in the Dockerfile means exactly this digest.
  while read -r base; do
    contexts+=(--build-context "${base%@*}=docker-image://$base")
  done <"$bases"
  [ ${#contexts[@]} -gt 0 ] || {
    echo "image.sh: $bases is empty" >&2
    exit 1
  }
  metadata=$(mktemp)
  docker buildx build . "${contexts[@]}" \
    --output "type=image,name=$image,push-by-digest=true,name-canonical=true,push=true" \
    --provenance mode=max --sbom true \
    --label "org.opencontainers.image.source=${SOURCE:-}" \
    --label "org.opencontainers.image.version=$version" \
    --label "org.opencontainers.image.licenses=Apache-2.0" \
    --metadata-file "$metadata" >&2
  digest_in "$metadata"
}

join() {
  local digest parts=()
  for digest in "$@"; do
    parts+=("$image@$digest")
  done
  docker buildx imagetools create --tag "$image:$version" "${parts[@]}" >&2
  docker buildx imagetools inspect "$image:$version" --format '{{.Manifest.Digest}}'
}

shift 2
case $verb in
  build) build "${1:?BASES}" ;;
  join) join "$@" ;;
  *)
    echo "image.sh: build or join, not $verb" >&2
    exit 2
    ;;
esac
