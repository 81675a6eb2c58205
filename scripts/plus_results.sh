#!/usr/bin/env bash
# The evaluations behind docs/results/plus.md and the cards in models/, as JSON files in OUT. What is
# there already is kept. `scripts/plus_tables.py OUT` turns them into tables.
#   scripts/plus_results.sh OUT FLIGHTS [NETWORKS [NAME...]]
# FLIGHTS holds nanobench/ and cf_battery/. NETWORKS holds calibrated networks to compare with, as
# far as there are any: paper, gru, lstm, bigru, mlp, plus-gru, plus-mlp (.safetensors), and plus-small
# trained on other flights: by configuration (configuration), without star (nostar), without the
# fast ones (slow). NAMEs are the evaluations to make (same-10, raw-2, redraw-plus, ...), by default all.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd)
flights=$(cd "$2" && pwd)
networks=${3:+$(cd "$3" && pwd)}
names=" ${*:4} "
cd "$(dirname "$0")/.."
aerocast=${AEROCAST:-build/release/aerocast}

corpus() { # NAME arguments: made once
  [ -d "$out/corpus/$1" ] || "$aerocast" "${@:2}" --out "$out/corpus/$1" >"$out/$1.log" 2>&1
}
mkdir -p "$out/corpus"
corpus nano import --format nanobench "$flights/nanobench"
corpus balanced generate --preset balanced --real "$out/corpus/nano"
corpus fliers generate --category fliers --flights 20 --duration 40 --seed 77
corpus cf import "$flights/cf_battery"
csv=("$flights"/nanobench/*.csv)
mapfile -t star < <(printf '%s\n' "${csv[@]}" | grep star)
mapfile -t nostar < <(printf '%s\n' "${csv[@]}" | grep -v star)
mapfile -t fast < <(printf '%s\n' "${csv[@]}" | grep _fast)
mapfile -t slow < <(printf '%s\n' "${csv[@]}" | grep -v _fast)
corpus star import --format nanobench "${star[@]}"
corpus nostar import --format nanobench "${nostar[@]}"
corpus fast import --format nanobench "${fast[@]}"
corpus slow import --format nanobench "${slow[@]}"
balanced=$out/corpus/balanced

among() { # NAME...: those that are there, as --models wants them, each with a comma before it
  for name in "$@"; do
    [ -n "$networks" ] && [ -e "$networks/$name.safetensors" ] && printf ',%s=%s' "$name" "$networks/$name.safetensors"
  done
  return 0
}
wanted() { # NAME: asked for, and not there yet
  { [ -z "${names// /}" ] || [[ $names == *" $1 "* ]]; } && [ ! -s "$out/$1.json" ]
}
evaluate() { # NAME corpus arguments
  wanted "$1" || return 0
  echo "$1"
  "$aerocast" evaluate "${@:2}" --json "$out/$1.json" >"$out/$1.txt"
}
few=hold,cv,ctrv,imm,knn
quick=(--draws 16 --paths 0)
controls=$(among plus-gru plus-mlp)
paper=$(among paper gru lstm bigru mlp)

# The same windows, those with ten seconds behind them, by ten seconds and by two; then all.
evaluate same-10 "$balanced" --min-history 10 --history 10 --models "plus,plus-small$controls,$few,ridge,replay"
evaluate same-2 "$balanced" --min-history 10 --history 2 --models "plus,plus-small$controls$paper,$few,ridge"
evaluate all-2 "$balanced" --history 2 --models "plus,plus-small$controls$paper,$few,ridge"
evaluate raw-10 "$balanced" --min-history 10 --history 10 --models "plus,plus-small$controls" --uncalibrated
evaluate raw-2 "$balanced" --min-history 10 --history 2 --models "plus,plus-small$controls$paper" --uncalibrated
for s in 0.3 0.5 1 1.5 2 3 4 5 7 10; do
  evaluate "history-$s" "$balanced" --min-history 10 --history "$s" --models plus,plus-small "${quick[@]}"
done
for s in 10 2; do
  shifted() { evaluate "$1-$s" "$balanced" --min-history 10 --history "$s" --models "plus,plus-small,$few,replay" "${quick[@]}" "${@:2}"; }
  shifted noise-5mm --noise 0.005
  shifted noise-2cm --noise 0.02
  shifted noise-2cm-unstated --noise 0.02 --noise-unstated
  shifted noise-5cm --noise 0.05
  shifted drop-10 --drop 0.1
  shifted drop-30 --drop 0.3
  shifted outliers-5 --outliers 0.05
  shifted yaw-73 --yaw 73
  shifted scale-3 --scale 3
  shifted scale-10 --scale 10
  elsewhere() { evaluate "$1-$s" "$2" --min-history 2 --history "$s" "${quick[@]}" "${@:3}"; }
  elsewhere time-2 "$balanced" --time-scale 2 --models "plus,plus-small,$few,replay"
  elsewhere fliers "$out/corpus/fliers" --side all --fit-corpus "$balanced" --models "plus,plus-small,$few,replay"
  elsewhere cf "$out/corpus/cf" --side all --fit-corpus "$balanced" --models "plus,plus-small,$few,replay"
  for pair in star:nostar fast:slow; do
    tested=${pair%:*} known=${pair#*:}
    [ -n "$networks" ] && [ -e "$networks/$known.safetensors" ] || continue
    elsewhere "unseen-$tested" "$out/corpus/$tested" --side all --fit-corpus "$out/corpus/$known" \
      --models "plus-small=$networks/$known.safetensors,$few,replay"
  done
  [ -n "$networks" ] && [ -e "$networks/configuration.safetensors" ] || continue
  evaluate "configuration-$s" "$balanced" --split configuration --cluster configuration --min-history 10 \
    --history "$s" --models "plus-small=$networks/configuration.safetensors,$few,ridge,replay"
done
for model in plus plus-small; do
  wanted "redraw-$model" || continue
  echo "redraw-$model"
  "$aerocast" calibrate "build/release/models/aerocast-$model.safetensors" --corpus "$balanced" --redraws 200 \
    --out "$out/redrawn.safetensors" --json "$out/redraw-$model.json" >/dev/null
done
rm -f "$out/redrawn.safetensors"
