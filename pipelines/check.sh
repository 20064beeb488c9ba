#!/usr/bin/env bash
# `attache check` as a step of a pipeline that shows annotations as GitHub does. What to check comes in
# the environment: inputs of a workflow must not become words of a shell command.
set -euo pipefail

mapfile -t paths < <(grep -v '^[[:space:]]*$' <<<"${ATTACHE_PATHS:-.}" || true)
arguments=(--fail-on "${ATTACHE_FAIL_ON:-deny}")
[ -z "${ATTACHE_FROM:-}" ] || arguments+=(--from "$ATTACHE_FROM")
[ -z "${ATTACHE_BASELINE:-}" ] || arguments+=(--baseline "$ATTACHE_BASELINE")

if [ -n "${ATTACHE_SARIF:-}" ]; then
  # 1 says that there are findings: the annotations below say so too, and the step ends with that.
  attache check "${arguments[@]}" -o sarif -- "${paths[@]}" >"$ATTACHE_SARIF" || [ $? -eq 1 ]
fi
exec attache check "${arguments[@]}" -o github -- "${paths[@]}"
