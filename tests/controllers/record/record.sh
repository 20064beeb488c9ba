#!/usr/bin/env bash
# Records what the controllers' own code says of generated scenarios: slow, by hand, needs Go and a Go proxy.
#
#   record.sh [PROJECT…]    write ../PROJECT/*.yaml anew; without arguments: of every project
#
# The code that decides is internal to each project. So the source of the release in PROJECT/go.mod is copied to the
# cache, our program is put beside it and built there. Nothing of it is committed.
#
# Environment:
#   ATTACHE_CONTROLLERS_CACHE   where sources and programs are kept (default ~/.cache/attache/controllers)
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ATTACHE_CONTROLLERS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/attache/controllers}

record() { # project
  local project=$1 module version source program tree
  read -r module version < <(sed -n 's/^require \(.*\) \(v.*\)$/\1 \2/p' "$here/$project/go.mod")
  tree=$cache/$project-$version
  if [ ! -e "$tree/go.mod" ]; then
    mkdir -p "$cache"
    source=$(cd "$cache" && go mod download -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
    rm -rf "$tree.part"
    cp -r "$source" "$tree.part"
    chmod -R u+w "$tree.part"
    mv "$tree.part" "$tree"
  fi
  rm -rf "$tree/cmd/attache-record"
  mkdir -p "$tree/cmd/attache-record"
  cp "$here/common"/*.go "$here/$project"/*.go "$tree/cmd/attache-record/"
  program=$cache/record-$project-$version
  (cd "$tree" && GOTOOLCHAIN=auto nice -n 10 go build -o "$program" ./cmd/attache-record)
  mkdir -p "$here/../$project"
  # Some read CRDs of their tree.
  (cd "$tree" && "$program" "$here/../$project" "$version")
}

if [ $# -eq 0 ]; then
  for file in "$here"/*/go.mod; do
    record "$(basename "$(dirname "$file")")"
  done
else
  for project in "$@"; do
    record "$project"
  done
fi
