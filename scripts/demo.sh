#!/usr/bin/env bash
# Installs what is missing, builds AeroCast, generates flights nobody has seen, forecasts them with
# the bundled network beside two filters: error, coverage, latency, and a report page.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
cmake --preset release -DAEROCAST_TESTS=OFF -DAEROCAST_BENCH=OFF -DAEROCAST_EXAMPLES=OFF \
  -DAEROCAST_TRAIN=OFF -B build/demo >/dev/null
cmake --build build/demo -j "$(nproc)"
aerocast=build/demo/aerocast

echo
echo "== Flights: nine categories, 12 of each, 40 s, noise from 0.05 mm to 5 cm"
"$aerocast" generate --flights 12 --duration 40 --seed 2026 --out demo/corpus --force
"$aerocast" stats demo/corpus
echo
echo "== Where will they be in the next five seconds? By up to ten seconds of each track"
"$aerocast" evaluate demo/corpus --models plus,imm,cv --history 10 --min-history 2 \
  --json demo/results.json --report demo/report.html
echo
echo "== One track, live: what its tracker has seen after 12 s, and the next seconds from there"
flight=$(find demo/corpus -name '*figure-8*.csv' | sort | head -n 1)
"$aerocast" predict "$flight" --at 12 --format csv | head -n 4
echo "..."
echo
echo "== How long does a forecast take?"
"$aerocast" bench plus --calls 500 --threads 1 --batches 1
echo
echo "Open demo/report.html in a browser: one file, needs nothing else."
