#!/usr/bin/env bash
# Installs what is missing, builds AeroCast, generates a small corpus, evaluates the classical
# forecasters on flights they were not fitted on, and writes the report page.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
cmake --preset release -DAEROCAST_TESTS=OFF -DAEROCAST_BENCH=OFF -DAEROCAST_EXAMPLES=OFF \
  -DAEROCAST_TRAIN=OFF -B build/demo >/dev/null
cmake --build build/demo -j "$(nproc)"
aerocast=build/demo/aerocast

echo
echo "== Flights: nine categories, 12 of each, 40 s, noise from 0.05 mm to 5 cm"
"$aerocast" generate --flights 12 --duration 40 --out demo/corpus --force
"$aerocast" stats demo/corpus
echo
echo "== How well can their next five seconds be told from the last two?"
"$aerocast" evaluate demo/corpus --json demo/results.json --report demo/report.html
echo
echo "Open demo/report.html in a browser: one file, needs nothing else."
