#!/usr/bin/env bash
# chart.sh OUT [REPOSITORY DIGEST]: packages the chart into the folder OUT. With the repository and the digest of the
# released image, the chart installs that image by default.
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

out=${1:?OUT}
version=$("$here/release/version.sh")
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
# With the files that the link manifests/ points to.
cp -RL "$here/charts/attache" "$staging/attache"
if [ $# -gt 1 ]; then
  repository=${2:?REPOSITORY}
  digest=${3:?DIGEST}
  sed -i -e "s|^  repository: attache$|  repository: $repository|" -e "s|^  digest: \"\"$|  digest: $digest|" "$staging/attache/values.yaml"
  cat >>"$staging/attache/Chart.yaml" <<END
  artifacthub.io/images: |
    - name: attache
      image: $repository:$version@$digest
      platforms: [linux/amd64, linux/arm64]
END
  "${HELM:-helm}" template attache "$staging/attache" | grep -qF "image: $repository:$version@$digest" || {
    echo "chart.sh: the chart does not install $repository:$version@$digest" >&2
    exit 1
  }
fi
"${HELM:-helm}" package "$staging/attache" --destination "$out"
