#!/usr/bin/env bash
# build.sh TARGET OUT: builds the program for one Rust target into the folder OUT, as attache-OS-ARCH.
#
# `cargo auditable` puts the list of crates into the program: `cargo audit bin attache` finds known vulnerabilities in it.
# PROFILE chooses another profile than `release`, for trials. SOURCE is the address of the repository on the web: rules of SARIF
# lead to their pages there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=${1:?TARGET}
out=${2:?OUT}
profile=${PROFILE:-release}
folder=$profile
[ "$profile" != dev ] || folder=debug

case $target in
  x86_64-unknown-linux-musl) platform=linux-amd64 ;;
  aarch64-unknown-linux-musl) platform=linux-arm64 ;;
  x86_64-apple-darwin) platform=darwin-amd64 ;;
  aarch64-apple-darwin) platform=darwin-arm64 ;;
  *)
    echo "build.sh: no release for $target" >&2
    exit 2
    ;;
esac

# Paths of this machine are no part of the program, so that others can build the same.
export RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$PWD=/attache --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
export CFLAGS="${CFLAGS:-} -ffile-prefix-map=${CARGO_HOME:-$HOME/.cargo}=/cargo"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export ATTACHE_SOURCE="${SOURCE:-}"
rustup target add "$target"
cargo auditable build --locked --profile "$profile" --target "$target" --bin attache

mkdir -p "$out"
cp "target/$target/$folder/attache" "$out/attache-$platform"
case $platform in
  linux-*)
    # One file that runs on every Linux: nothing is loaded at its start.
    if readelf --program-headers "$out/attache-$platform" | grep -q INTERP; then
      echo "build.sh: attache-$platform is not static" >&2
      exit 1
    fi
    ;;
esac
