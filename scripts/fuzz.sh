#!/usr/bin/env bash
# Throws changed inputs at the readers of foreign bytes (fuzz/README.md). Needs clang:
# scripts/setup.sh test.
#   scripts/fuzz.sh [SECONDS] [NAME]  each fuzzer, or the one named, for so long (60 s by default)
#   scripts/fuzz.sh --planted [NAME]  fuzzers whose reader lacks one check must fail within a minute
#   scripts/fuzz.sh --check           the same few thousand inputs every time, and the planted bugs:
#                                     what the test suite runs
# New inputs are kept in build/fuzz/corpus/NAME, those that end in a failure in build/fuzz/crashes.
set -euo pipefail
cd "$(dirname "$0")/.."

names=(model_file recording forecast_lines)
build=build/fuzz

usage() {
  echo "usage: scripts/fuzz.sh [SECONDS] [NAME] | --planted [NAME] | --check; names: ${names[*]}" >&2
  exit 2
}

choose() {
  [ $# -eq 0 ] && return
  [[ " ${names[*]} " == *" $1 "* ]] || usage
  names=("$1")
}

prepare() {
  command -v clang++ >/dev/null || {
    echo "fuzz: needs clang, scripts/setup.sh test installs it" >&2
    exit 1
  }
  cmake --preset fuzz >/dev/null
  cmake --build --preset fuzz -j "$(nproc)" >"$build/build.log" || {
    cat "$build/build.log" >&2
    exit 1
  }
  rm -rf "$build/seeds"
  "$build/fuzz/make_seeds" tests/golden "$build/seeds"
  mkdir -p "$build/crashes"
}

# run PROGRAM LENGTH LOG DIRECTORY...: the fuzzer's exit code. LENGTH is options of libFuzzer.
run() {
  local program=$1 log=$3 length
  read -ra length <<<"$2"
  shift 3
  local name=${program#fuzz_} dictionary=()
  name=${name%_planted}
  [ -f "fuzz/$name.dict" ] && dictionary=("-dict=fuzz/$name.dict")
  # A file may take its own size and 16 MB; inputs are at most 64 KiB of header and some data.
  "$build/fuzz/$program" "${length[@]}" -max_len=100000 -timeout=10 \
    -malloc_limit_mb=17 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/crashes/$program-" "${dictionary[@]}" "$@" >"$log" 2>&1
}

# fuzz LENGTH CORPUS: what the fuzzers discover goes into CORPUS/NAME.
fuzz() {
  local name
  for name in "${names[@]}"; do
    local log=$build/$name.log directories=("$2/$name" "$build/seeds/$name")
    mkdir -p "$2/$name"
    [ -d "fuzz/corpus/$name" ] && directories+=("fuzz/corpus/$name")
    [ -d "$build/seeds/$name-malformed" ] && directories+=("$build/seeds/$name-malformed")
    run "fuzz_$name" "$1" "$log" "${directories[@]}" || {
      tail -n 40 "$log" >&2
      echo "fuzz: $name failed; the input is in $build/crashes, the log is $log" >&2
      exit 1
    }
    echo "fuzz: $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions," \
         "$(sed -n 's/.*cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1) edges, no failure"
  done
}

# From valid inputs only: the fuzzer has to find its way to the bug.
planted() {
  local name
  for name in "${names[@]}"; do
    local log=$build/$name-planted.log begin=$SECONDS
    if run "fuzz_${name}_planted" -max_total_time=60 "$log" "$build/seeds/$name" ||
      ! grep -q '^SUMMARY:.*\(Sanitizer\|libFuzzer\)' "$log"; then
      echo "fuzz: $name did not find the planted bug, see $log" >&2
      exit 1
    fi
    rm -f "$build/crashes/fuzz_${name}_planted-"*
    echo "fuzz: $name found the planted bug within $((SECONDS - begin + 1)) s:" \
         "$(grep -m 1 '^SUMMARY:' "$log" | sed "s|$PWD/||g")"
  done
}

case ${1:-60} in
  --planted)
    choose "${@:2}"
    prepare
    planted
    ;;
  --check)
    [ $# -eq 1 ] || usage
    prepare
    rm -rf "$build/checked"
    fuzz "-seed=1 -runs=8000" "$build/checked"
    planted
    ;;
  *[!0-9]*) usage ;;
  *)
    choose "${@:2}"
    prepare
    fuzz "-max_total_time=${1:-60}" "$build/corpus"
    ;;
esac
