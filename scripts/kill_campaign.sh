#!/usr/bin/env bash
# Trains once undisturbed and once with SIGKILL at random moments, resuming each time, and compares
# the two model files. A short version is in the test suite.
#   scripts/kill_campaign.sh CORPUS [KILLS [CONFIG [WINDOWS [LONGEST_S]]]]
set -euo pipefail
cd "$(dirname "$0")/.."

corpus=${1:?usage: scripts/kill_campaign.sh CORPUS [KILLS [CONFIG [WINDOWS [LONGEST_S]]]]}
kills=${2:-10} config=${3:-configs/small.toml} windows=${4:-60000} longest=${5:-4}
aerocast=build/release/aerocast
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

start=(--config "$config" --corpus "$corpus" --windows "$windows" --out)
"$aerocast" train "${start[@]}" "$work/whole" >/dev/null
arguments=("${start[@]}" "$work/torn")
killed=0
while [ "$killed" -lt "$kills" ] && [ ! -e "$work/torn/model.safetensors" ]; do
  "$aerocast" train "${arguments[@]}" --checkpoint-every 1s >/dev/null 2>"$work/err" &
  process=$!
  sleep "$((RANDOM % longest)).$((RANDOM % 10))"
  if kill -KILL "$process" 2>/dev/null; then killed=$((killed + 1)); fi
  wait "$process" 2>/dev/null || true
  [ -e "$work/torn/run.json" ] && arguments=(--resume "$work/torn")
done
"$aerocast" train "${arguments[@]}" >/dev/null
sha256sum "$work/whole/model.safetensors" "$work/torn/model.safetensors" | sed "s|$work/||"
cmp "$work/whole/model.safetensors" "$work/torn/model.safetensors"
echo "killed $killed times, the same file"
