#!/usr/bin/env bash
# Runs `attache check` in a pipeline that shows annotations as GitHub does. The inputs come from the environment, because
# inputs of a workflow must not become part of a shell command.
set -euo pipefail

mapfile -t paths < <(grep -v '^[[:space:]]*$' <<<"${ATTACHE_PATHS:-.}" || true)
arguments=(--fail-on "${ATTACHE_FAIL_ON:-deny}")
[ -z "${ATTACHE_FROM:-}" ] || arguments+=(--from "$ATTACHE_FROM")
[ -z "${ATTACHE_BASELINE:-}" ] || arguments+=(--baseline "$ATTACHE_BASELINE")

if [ -n "${ATTACHE_SARIF:-}" ]; then
  # 1 means findings. The annotations below report them too, and the step ends with their exit code.
  attache check "${arguments[@]}" -o sarif -- "${paths[@]}" >"$ATTACHE_SARIF" || [ $? -eq 1 ]
fi
exec attache check "${arguments[@]}" -o github -- "${paths[@]}"
