#!/usr/bin/env bash
# Records what the controllers' own code says of generated scenarios: slow, by hand, needs Go, a Go proxy and git.
#
#   record.sh [PROJECT…]    write ../PROJECT/*.yaml anew; without arguments: of every project
#
# The code that decides is internal to each project. So the source of the release in PROJECT/go.mod, or of the commit in
# PROJECT/source, is copied to the cache, our program is put beside it and built there. Nothing of it is committed.
# What must be in a package of the project itself is below PROJECT/inside.
#
# Environment:
#   ATTACHE_CONTROLLERS_CACHE   where sources and programs are kept (default ~/.cache/attache/controllers)
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ATTACHE_CONTROLLERS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/attache/controllers}

record() { # project
  local project=$1 module version source program tree
  if [ -e "$here/$project/source" ]; then
    read -r module version <"$here/$project/source"
  else
    read -r module version < <(sed -n 's/^require \(.*\) \(v.*\)$/\1 \2/p' "$here/$project/go.mod")
  fi
  tree=$cache/$project-$version
  if [ ! -e "$tree/go.mod" ]; then
    mkdir -p "$cache"
    rm -rf "$tree.part"
    if [ -e "$here/$project/source" ]; then
      git clone --quiet "$module" "$tree.part"
      git -C "$tree.part" checkout --quiet "$version"
    else
      source=$(cd "$cache" && go mod download -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
      cp -r "$source" "$tree.part"
      chmod -R u+w "$tree.part"
    fi
    mv "$tree.part" "$tree"
  fi
  rm -rf "$tree/cmd/attache-record"
  mkdir -p "$tree/cmd/attache-record"
  cp "$here/common"/*.go "$here/$project"/*.go "$tree/cmd/attache-record/"
  if [ -d "$here/$project/inside" ]; then
    cp -r "$here/$project/inside/." "$tree/"
  fi
  program=$cache/record-$project-$version
  (cd "$tree" && GOTOOLCHAIN=auto nice -n 10 go build -tags "$project" -o "$program" ./cmd/attache-record)
  mkdir -p "$here/../$project"
  # Some read CRDs of their tree.
  (cd "$tree" && "$program" "$here/../$project" "$version")
}

if [ $# -eq 0 ]; then
  for file in "$here"/*/go.mod "$here"/*/source; do
    record "$(basename "$(dirname "$file")")"
  done
else
  for project in "$@"; do
    record "$project"
  done
fi
