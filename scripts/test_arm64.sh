#!/usr/bin/env bash
# Builds the flying library for 64-bit ARM and runs its kernel, parity and forecaster tests in qemu.
# Slow (an emulator), so not part of scripts/test.sh.
#   scripts/test_arm64.sh [GTEST_FILTER]
# Installs a cross compiler and qemu; the target's own packages are only unpacked, below build/arm64.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh arm64
root=$PWD/build/arm64/root
packages=(libhwy1 libhwy-dev libgtest-dev libgmock-dev librapidcheck-dev nlohmann-json3-dev)

if [ ! -e "$root/.complete" ]; then
  state=$PWD/build/arm64/apt
  rm -rf "$root" "$state"
  mkdir -p "$root" "$state/lists/partial" "$state/archives/partial"
  options=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State=$state"
           -o "Dir::State::lists=$state/lists" -o "Dir::Cache=$state"
           -o "Dir::Cache::archives=$state/archives" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update
  (cd "$state" && apt-get "${options[@]}" download "${packages[@]}")
  for package in "$state"/*.deb; do dpkg-deb -x "$package" "$root"; done
  touch "$root/.complete"
fi

export AEROCAST_ARM64_ROOT=$root
cmake -S . -B build/arm64/out -G Ninja -DCMAKE_BUILD_TYPE=Release -DAEROCAST_LAB=OFF \
  -DAEROCAST_EXAMPLES=OFF -DAEROCAST_INSTALL=OFF \
  -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64-linux-gnu.cmake" >/dev/null
cmake --build build/arm64/out -j "$(nproc)" --target kernels_test model_test forecast_test
for test in kernels model forecast; do
  echo "arm64: ${test}_test"
  qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$root/usr/lib/aarch64-linux-gnu" \
    "build/arm64/out/src/$test/${test}_test" --gtest_brief=1 --gtest_filter="${1:-*}"
done
