#!/usr/bin/env bash
# Exported networks in ONNX Runtime: installs it (Node.js package onnxruntime-node) and runs the test.
#   onnx_test.sh TEST_PROGRAM
set -euo pipefail
test_program=$1
cd "$(dirname "$0")/../tools/onnx"

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  echo "SKIPPED: there is no Node.js (node, npm), so no exported network was run in ONNX Runtime"
  exit 77
fi

# node_modules is as good as the lock file it was made from; a second run needs no network.
stamp=node_modules/.lock-sha256
lock=$(sha256sum package-lock.json | cut -d' ' -f1)
if [ "$(cat "$stamp" 2>/dev/null)" != "$lock" ]; then
  ONNXRUNTIME_NODE_INSTALL=skip npm ci --no-audit --no-fund
  echo "$lock" >"$stamp"
fi
"$test_program"
