#!/usr/bin/env bash
# The Python package as a stranger gets it: installed by pip from a copy of the sources into a fresh
# environment, without a network; then its tests, its example and its types.
#   python_test.sh BUILD_DIRECTORY
# Needs tests/print_forecast and tiny.safetensors in the build directory.
set -euo pipefail
build=$1
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-/usr/bin/python3}  # Debian's, which has Debian's numpy
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "python: $*" >&2; exit 1; }

mkdir "$scratch/source"
(cd "$root" && cp -r CMakeLists.txt LICENSE cmake include models src python pyproject.toml setup.py \
  "$scratch/source")
"$python" -m venv --system-site-packages "$scratch/venv"
venv=$scratch/venv/bin/python
# The base directory lets a compiler cache know the copy again.
CCACHE_BASEDIR=$scratch CMAKE_ARGS="-DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-}" \
  "$venv" -m pip install --no-index --no-build-isolation "$scratch/source" \
  >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"

rm -rf "$scratch/source"  # from here on only what pip installed
cp "$root/python/tests/test_aerocast.py" "$root/python/examples/01_forecast.py" "$scratch"
cp "$root/pyproject.toml" "$scratch"  # mypy's settings
cd "$scratch"
export AEROCAST_PRINT_FORECAST=$build/tests/print_forecast AEROCAST_MODEL=$build/tiny.safetensors
export AEROCAST_FLIGHT=$root/examples/flight.csv
"$venv" -W error -m unittest test_aerocast
"$venv" 01_forecast.py "$AEROCAST_FLIGHT"
"$venv" 01_forecast.py "$AEROCAST_FLIGHT" "$AEROCAST_MODEL"

if "$venv" -c 'import mypy' 2>/dev/null; then
  "$venv" -m mypy test_aerocast.py 01_forecast.py
  "$venv" -m mypy.stubtest --allowlist "$root/python/tests/stubtest_allowlist.txt" aerocast
else
  echo "python: SKIPPED the check of the types: mypy is not installed"
fi
