#!/usr/bin/env bash
# Builds AeroCast with and without sanitizers and runs every test. Installs what is missing first.
#   scripts/test.sh          everything
#   scripts/test.sh dev      only the build with AddressSanitizer and UndefinedBehaviorSanitizer
#   scripts/test.sh tsan     only the flying library, with ThreadSanitizer (not part of everything)
#   scripts/test.sh release  only the optimised build (with the browser and formatting tests)
# Real flights are looked for in $AEROCAST_DATA, by default ../shared/data; tests that need them
# skip with a line that says so when they are not there.
set -euo pipefail
cd "$(dirname "$0")/.."

presets=("${1:-dev}")
[ $# -eq 0 ] && presets=(dev release)
scripts/setup.sh test
if [ -z "${AEROCAST_DATA:-}" ] && [ -d ../shared/data ]; then
  AEROCAST_DATA=$(cd ../shared/data && pwd)
  export AEROCAST_DATA
fi
echo "test: real flights: ${AEROCAST_DATA:-none (set AEROCAST_DATA to run the tests that need them)}"

for preset in "${presets[@]}"; do
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" -j "$(nproc)"
  ctest --preset "$preset" -j "$(nproc)"
done
