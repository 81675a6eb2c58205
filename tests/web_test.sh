#!/usr/bin/env bash
# The report page: rebuilt from source it is byte for byte the committed one, and in a real browser
# it shows the numbers of a real evaluation.
#   web_test.sh AEROCAST_PROGRAM SCRATCH_DIRECTORY
set -euo pipefail
program=$1
scratch=$2
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root/web"

# node_modules is as good as the lock file it was made from; a second run needs no network.
stamp=node_modules/.lock-sha256
lock=$(sha256sum package-lock.json | cut -d' ' -f1)
if [ "$(cat "$stamp" 2>/dev/null)" != "$lock" ]; then
  npm ci --no-audit --no-fund
  echo "$lock" >"$stamp"
fi

committed=$(mktemp)
trap 'rm -f "$committed"' EXIT
cp dist/report.html "$committed"
npm run --silent check
npm run --silent build
if ! cmp -s dist/report.html "$committed"; then
  cp "$committed" dist/report.html
  echo "web/dist/report.html is not what 'npm run build' makes from web/src; build and commit it" >&2
  exit 1
fi

rm -rf "$scratch"
mkdir -p "$scratch"
"$program" generate --flights 6 --duration 14 --seed 3 --out "$scratch/corpus"
"$program" evaluate "$scratch/corpus" --stride 5 --replicates 200 \
  --json "$scratch/results.json" --report "$scratch/report.html" >/dev/null
node tests/report.spec.mjs
node tests/report.spec.mjs "$scratch/report.html" "$scratch/results.json"
