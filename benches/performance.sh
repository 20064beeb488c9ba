#!/usr/bin/env bash
# Measures everything that has a budget and writes the table of docs/reference/performance.md: `make bench`. It takes about 15
# minutes once everything is built; building needs Go too. Each bench prints rows of
# `what | measured | budget | of the budget`, with `-` where there is no budget; this script adds the command, and marks
# what misses its budget.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
page=docs/reference/performance.md
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

# NAME COMMAND...: shows what the command prints, and keeps its rows under that name.
measure() {
  local name=$1
  shift
  echo "==== $name"
  "$@" | tee >(cat >&2) | awk -v command="$name" '
    /^\| what \| measured / { in_table = 1; next }
    in_table && /^\|---/ { next }
    in_table && /^\|/ {
      split($0, cell, "|")
      if (cell[5] + 0 > 1) sub(/ \|$/, ", **missed** |")
      printf "%s `%s` |\n", $0, command
      next
    }
    { in_table = 0 }' >>"$rows"
}

bench() {
  measure "cargo bench --bench $*" cargo bench --locked --bench "$@"
}

describe() {
  local took
  took=$(tests/cluster/measure.sh | tee >(cat >&2) | awk '/describe httproute/ { print $1 }')
  echo "| what | measured | budget | of the budget |"
  echo "|---|---|---|---|"
  printf '| `describe` of a route on a real API server | %d ms | 200 ms | %.2fx |\n' "$took" \
    "$(awk -v took="$took" 'BEGIN { print took / 200 }')"
}

cargo build --release --locked
peer=$(tests/cluster/cluster.sh program webhook)
measure "cargo bench --bench load -- --peer PROGRAM" cargo bench --locked --bench load -- --peer "$peer"
bench engine -- --routes 10000 --policies 5000
bench effective -- --promised
bench resident
bench hostile
bench guardrails
measure tests/cluster/measure.sh describe

processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
{
  sed '/<!-- measured: begin -->/q' "$page"
  echo "$(nproc) cores of ${processor:-a processor that does not say its name}, $(rustc --version | cut -d' ' -f1,2)."
  echo
  echo "| what | measured | budget | of the budget | command |"
  echo "|---|---|---|---|---|"
  cat "$rows"
  sed -n '/<!-- measured: end -->/,$p' "$page"
} >"$page.new"
mv "$page.new" "$page"
