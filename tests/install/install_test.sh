#!/usr/bin/env bash
# What `cmake --install` leaves is all that a stranger needs, and no more: projects outside of this
# tree find it by CMake and by pkg-config, build and forecast; each header compiles alone. Then the
# same project with AeroCast fetched as source.
#   install_test.sh BUILD_DIRECTORY
# Compiler and launcher are taken from CXX and CMAKE_CXX_COMPILER_LAUNCHER.
set -euo pipefail
build=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "install: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/log" || fail "$(cat "$scratch/log")"
mv "$scratch/prefix" "$scratch/moved"  # nothing in it may know where it was
prefix=$scratch/moved

# Only what flies, the programs with their configs, and the licence. Library folders differ (lib, lib/x86_64-linux-gnu).
config=cmake/aerocast
expected=$( (
  [ -e "$build/aerocast" ] && echo bin/aerocast
  [ -e "$build/aerocast-train" ] && grep -q AEROCAST_TRAIN:BOOL=ON "$build/CMakeCache.txt" &&
    echo bin/aerocast-train
  (cd "$root/include" && find aerocast -name '*.h' | sed 's|^|include/|')
  printf 'lib/%s\n' libaerocast.a pkgconfig/aerocast.pc $config/FindHighway.cmake \
    $config/aerocastConfig.cmake $config/aerocastConfigVersion.cmake \
    $config/aerocastTargets.cmake $config/aerocastTargets-CONFIG.cmake
  echo share/doc/aerocast/LICENSE
  (cd "$root" && find models -maxdepth 1 -name 'aerocast-*' | sed 's|^|share/aerocast/|')
  [ -e "$build/aerocast" ] && (cd "$root" && find configs -name '*.toml' | sed 's|^|share/aerocast/|')
) | sort)
found=$(cd "$prefix" && find . -type f | sed 's|^\./||; s|^lib/[^/]*-linux-gnu/|lib/|; s|Targets-[a-z]*|Targets-CONFIG|' | sort)
diff <(echo "$expected") <(echo "$found") || fail "installed files (>) are not those expected (<)"
grep -rn --include='*.cmake' --include='*.pc' -e "$root" -e "$build" "$prefix" &&
  fail "an installed file names the source or build tree"

# The program finds its libraries from where it lies now.
# It finds the bundled networks as well.
[ ! -e "$prefix/bin/aerocast" ] || "$prefix/bin/aerocast" describe | grep -q 'plus family' ||
  fail "the installed program does not find its network"

# As a package, out of a copy of the example: nothing beside it helps.
cp -r "$root/examples/06_cmake" "$scratch/package"
cmake -S "$scratch/package" -B "$scratch/package/build" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_BUILD_TYPE=Release >"$scratch/log" || fail "$(cat "$scratch/log")"
cmake --build "$scratch/package/build" >"$scratch/log" || fail "$(cat "$scratch/log")"
classical=$("$scratch/package/build/lookout")
network=$("$scratch/package/build/lookout" "$build/tiny.safetensors")
[ "$classical" = "ctrv: in 5.0 s at (45.00, 0.00, 17.50) m" ] || fail "package said '$classical'"
[[ $network == tiny-transformer:* ]] || fail "package said '$network'"

# By pkg-config.
flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name aerocast.pc)") \
  pkg-config --cflags --libs aerocast)
# shellcheck disable=SC2086  # flags are several words
"${CXX:-c++}" "$root/examples/06_cmake/main.cc" $flags -o "$scratch/by_pkg_config"
[ "$("$scratch/by_pkg_config")" = "$classical" ] || fail "pkg-config's program differs"

# Every header alone, with strict warnings, in the oldest standard that is promised.
for header in "$prefix"/include/aerocast/*.h; do
  echo "#include <aerocast/$(basename "$header")>" |
    "${CXX:-c++}" -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only \
      -I"$prefix/include" -x c++ - || fail "$(basename "$header") does not compile alone"
done

# As source within another project.
mkdir "$scratch/source"
cp "$root/tests/install/CMakeLists.txt" "$root/examples/06_cmake/main.cc" "$scratch/source"
cmake -S "$scratch/source" -B "$scratch/source/build" -DAEROCAST_SOURCE="$root" \
    >"$scratch/log" || fail "$(cat "$scratch/log")"
cmake --build "$scratch/source/build" --target lookout -j 2 >"$scratch/log" ||
  fail "$(cat "$scratch/log")"
[ "$("$scratch/source/build/lookout")" = "$classical" ] || fail "the fetched library differs"
cmake --install "$scratch/source/build" --prefix "$scratch/none" >/dev/null
[ ! -e "$scratch/none" ] || fail "a project that only uses AeroCast would install it"
