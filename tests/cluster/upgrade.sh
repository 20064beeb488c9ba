#!/usr/bin/env bash
# Builds an older version of attache and goes from it to this one under load (upgrade.rs).
#
#   upgrade.sh build    build the older version once; print the folder with attache and manifests/
#   upgrade.sh test     build it and run the test
#
# Environment:
#   UPGRADE_FROM    the revision to begin with; by default the newest release before this commit
set -euo pipefail
shopt -s inherit_errexit

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${CARGO_TARGET_DIR:-$root/target}/upgrade

die() {
  echo "upgrade.sh: $*" >&2
  exit 1
}

# Of a commit that is itself a release, the release before it.
release() { git -C "$root" describe --tags --abbrev=0 --match 'v*' HEAD^ 2>/dev/null; }

# The first commit that `kubectl apply -k manifests` installs, with certificates of its own: nobody upgrades from one before.
first=d6101f720b7bd24a77c65a132312535fcded3ddd

older() {
  local name=${UPGRADE_FROM:-}
  [ -n "$name" ] || name=$(release) || true
  if [ -z "$name" ]; then
    name=$first
    echo "!!!! NO RELEASE before this commit: going from $name, the first that could be installed." >&2
  fi
  git -C "$root" rev-parse --verify --quiet "$name^{commit}" || die "no revision $name: fetch it, or set UPGRADE_FROM to another"
}

build() {
  local revision to
  revision=$(older)
  to=$folder/$revision
  if [ ! -x "$to/attache" ]; then
    mkdir -p "$to/source"
    # With the time of now (-m): by the time of the commit, Cargo would take what it built of another revision.
    git -C "$root" archive "$revision" | tar -x -m -C "$to/source"
    echo "upgrade.sh: building attache of $revision; minutes, once" >&2
    # One folder for all revisions, so that they share what they depend on. What debuggers need is large.
    (cd "$to/source" && CARGO_PROFILE_DEV_DEBUG=0 cargo build --locked --bin attache --target-dir "$folder/build") >&2
    rm -rf "$to/manifests"
    mv "$to/source/manifests" "$to/manifests"
    cp "$folder/build/debug/attache" "$to/attache"
    rm -rf "$to/source"
  fi
  echo "$to"
}

case "${1:-}" in
  build) build ;;
  test)
    ATTACHE_UPGRADE_FROM=$(build)
    export ATTACHE_UPGRADE_FROM ATTACHE_REQUIRE_CLUSTER=1
    cd "$root"
    exec cargo test --locked --test cluster -- --nocapture upgrade::
    ;;
  *)
    sed -n '4,5p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
