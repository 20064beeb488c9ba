#!/usr/bin/env bash
# Counts the instructions of a review with valgrind, over 100 reviews of each case of benches/engine.rs; unlike times,
# they do not depend on the machine's load. Prints the change against benches/instructions.tsv; `--record` writes it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
recorded=benches/instructions.tsv
times=100
state=(--routes 200 --policies 60)

bench=$(cargo bench --locked --profile count --bench engine --no-run --message-format=json |
  sed -n 's/.*"executable":"\([^"]*\/engine-[^"]*\)".*/\1/p')
[ -x "$bench" ] || { echo "benches/engine.rs was not built" >&2; exit 1; }
counted=$(mktemp)
trap 'rm -f "$counted"' EXIT

"$bench" "${state[@]}" --list | while read -r case; do
  total=$(valgrind --tool=callgrind --toggle-collect='engine::once' --callgrind-out-file=/dev/null \
    "$bench" "${state[@]}" --case "$case" --times "$times" 2>&1 | sed -n 's/.*Collected : //p')
  printf '%s\t%d\n' "$case" $((total / times))
done >"$counted"
[ -s "$counted" ] || { echo "nothing was counted" >&2; exit 1; }

echo "| review | instructions | recorded | change |"
echo "|---|---|---|---|"
awk -F '\t' 'FILENAME == ARGV[1] { was[$1] = $2; next }
  { change = was[$1] ? sprintf("%+.1f %%", 100 * ($2 / was[$1] - 1)) : "new"
    printf "| %s | %d | %s | %s |\n", $1, $2, was[$1] ? was[$1] : "", change }' \
  <(cat "$recorded" 2>/dev/null || true) "$counted"
[ "${1:-}" != --record ] || cp "$counted" "$recorded"
