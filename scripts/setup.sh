#!/usr/bin/env bash
# Installs what AeroCast needs on Debian 12, by package name; does nothing when all is there.
#   scripts/setup.sh         what building and the demo need
#   scripts/setup.sh train   also what the trainer needs (libtorch)
#   scripts/setup.sh arm64   what building and what scripts/test_arm64.sh needs
#   scripts/setup.sh test    all of it and what the test suite needs (Node.js, Chromium, clang tools)
set -euo pipefail

build_packages=(g++ cmake ninja-build libhwy-dev libcli11-dev nlohmann-json3-dev libfmt-dev
                libonnx-dev libprotobuf-dev)
train_packages=(libtorch-dev libgloo-dev libopenblas0-openmp libtomlplusplus-dev)
test_packages=(libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev clang-format clang-tidy
               clang libclang-rt-14-dev chromium git pkg-config python3-dev python3-venv python3-pip
               python3-setuptools python3-wheel python3-numpy pybind11-dev mypy)

arm64_packages=(g++-aarch64-linux-gnu qemu-user)

wanted=("${build_packages[@]}")
[ "${1:-}" = arm64 ] && wanted+=("${arm64_packages[@]}")
if [ "${1:-}" = train ] || [ "${1:-}" = test ]; then
  wanted+=("${train_packages[@]}")
fi
if [ "${1:-}" = test ]; then
  wanted+=("${test_packages[@]}")
  # A Node.js from elsewhere will do; Debian's is taken only when there is none.
  command -v node >/dev/null || wanted+=(nodejs)
  command -v npm >/dev/null || wanted+=(npm)
fi

missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
    missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "setup: installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup: needs root to install: ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
