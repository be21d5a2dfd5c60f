#!/usr/bin/env bash
# Installs vyre from a finished build tree and uses it as C projects do: by find_package, by
# add_subdirectory, by pkg-config; shared and static; in C and C++; with every compiler that is here;
# and again after the installed tree has moved.
#
#   tests/install/run.sh BUILD_TREE WORK_DIRECTORY
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)
consumer="$source_dir/tests/install/consumer"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$source_dir/Cargo.toml" | head -n 1)
checks=0

ok() {
  checks=$((checks + 1))
  echo "ok $checks - $*"
}
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# Runs a command whose output matters only if it fails.
quietly() {
  local log="$work/last.log"
  "$@" >"$log" 2>&1 || {
    tail -n 60 "$log" >&2
    fail "$*"
  }
}
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

rm -rf "$work"/*
prefix="$work/prefix"
target_dir=$(cached VYRE_CARGO_TARGET_DIR)
build_type=$(cached CMAKE_BUILD_TYPE)
compilers=()
for pair in gcc:g++ clang:clang++; do
  if command -v "${pair%:*}" >/dev/null && command -v "${pair#*:}" >/dev/null; then compilers+=("$pair"); fi
done
[ "${#compilers[@]}" -gt 0 ] || fail "neither gcc and g++ nor clang and clang++ are installed"

# --- what is installed -------------------------------------------------------------------------
quietly cmake --install "$build" --prefix "$prefix"
for file in lib/libvyre.so lib/libvyre.so.0 "lib/libvyre.so.$version" lib/libvyre.a include/vyre/vyre.h include/vyre/vyre.hpp \
  lib/cmake/vyre/vyreConfig.cmake lib/cmake/vyre/vyreConfigVersion.cmake lib/pkgconfig/vyre.pc \
  share/doc/vyre/README.md share/doc/vyre/CHANGELOG.md share/doc/vyre/LICENSE-MIT share/doc/vyre/LICENSE-APACHE; do
  [ -s "$prefix/$file" ] || fail "$file was not installed"
done
[ "$(readlink "$prefix/lib/libvyre.so")" = libvyre.so.0 ] || fail "libvyre.so does not lead to libvyre.so.0"
[ "$(readlink "$prefix/lib/libvyre.so.0")" = "libvyre.so.$version" ] || fail "libvyre.so.0 does not lead to libvyre.so.$version"
ok "all files are installed, the links lead to libvyre.so.$version"

for header in "$source_dir"/include/vyre/*; do
  case "$header" in *.h | *.hpp) cmp -s "$header" "$prefix/include/vyre/$(basename "$header")" || fail "$header was not installed as it is" ;; esac
done
ok "every header is installed"

readelf -d "$prefix/lib/libvyre.so" | grep -q 'SONAME.*\[libvyre\.so\.0\]' || fail "the shared library's SONAME is not libvyre.so.0"
ok "SONAME is libvyre.so.0"

! grep -rlF -e "$work" -e "$build" -e "$source_dir" "$prefix/lib/cmake" "$prefix/lib/pkgconfig" || fail "these files name a path of this machine"
ok "no CMake or pkg-config file names a path of this machine"

quietly env "DESTDIR=$work/destdir" cmake --install "$build" --prefix /opt/vyre
(cd "$work/destdir/opt/vyre" && find . | sort) >"$work/destdir.list"
(cd "$prefix" && find . | sort) | cmp - "$work/destdir.list" || fail "DESTDIR gets other files"
[ "$(ls "$work/destdir")" = opt ] || fail "something went into DESTDIR beside the prefix"
ok "DESTDIR is honoured"

# --- using it ----------------------------------------------------------------------------------
# run_consumers DIRECTORY: every program in it, which also must have been linked as it says.
run_consumers() {
  local program
  for program in c_shared c_static cpp_shared cpp_static; do
    "$1/$program" >"$work/last.log" 2>&1 || { cat "$work/last.log" >&2; fail "$1/$program"; }
    grep -q "vyre $version works" "$work/last.log" || fail "$1/$program did not finish"
    case "$program" in
      *_shared) readelf -d "$1/$program" | grep -q 'NEEDED.*\[libvyre\.so\.0\]' || fail "$program does not need libvyre.so.0" ;;
      *_static) ! readelf -d "$1/$program" | grep -q 'NEEDED.*libvyre' || fail "$program needs the shared library" ;;
    esac
  done
}
# build_consumers NAME CC:CXX CMAKE-ARGUMENT...
build_consumers() {
  local dir="$work/$1"
  local pair="$2"
  shift 2
  quietly cmake -S "$consumer" -B "$dir" -DCMAKE_C_COMPILER="${pair%:*}" -DCMAKE_CXX_COMPILER="${pair#*:}" \
    -DCONSUMER_EXPECTS_VERSION="$version" "$@"
  quietly cmake --build "$dir"
  run_consumers "$dir"
}
# pkg_config_consumers DIRECTORY CC:CXX FLAGS...: as a makefile would, from the .pc file alone.
pkg_config_consumers() {
  local dir="$1" pair="$2" kind cflags libs static_libs
  mkdir -p "$dir"
  # Splitting is what is wanted of these: they are lists of flags.
  cflags=$(PKG_CONFIG_PATH="$3/lib/pkgconfig" pkg-config --cflags vyre)
  libs=$(PKG_CONFIG_PATH="$3/lib/pkgconfig" pkg-config --libs vyre)
  static_libs=$(PKG_CONFIG_PATH="$4/lib/pkgconfig" pkg-config --static --libs vyre)
  [ "$(PKG_CONFIG_PATH="$3/lib/pkgconfig" pkg-config --modversion vyre)" = "$version" ] || fail "vyre.pc has another version"
  local define="-DCONSUMER_EXPECTS_VERSION=\"$version\""
  for kind in shared static; do
    [ "$kind" = shared ] || libs="$static_libs"
    # shellcheck disable=SC2086
    quietly "${pair%:*}" -std=c99 $cflags "$define" "$consumer/main.c" "$consumer/other.c" -o "$dir/c_$kind" $libs "-Wl,-rpath,$3/lib"
    # shellcheck disable=SC2086
    quietly "${pair%:*}" -std=c99 $cflags "$define" -c "$consumer/other.c" -o "$dir/other.o"
    # shellcheck disable=SC2086
    quietly "${pair#*:}" -std=c++17 $cflags "$consumer/main.cpp" "$dir/other.o" -o "$dir/cpp_$kind" $libs "-Wl,-rpath,$3/lib"
  done
  run_consumers "$dir"
}
# A tree with nothing but the static library: -lvyre then means libvyre.a.
static_only() {
  rm -rf "$2"
  cp -a "$1" "$2"
  rm "$2"/lib/libvyre.so*
}

for pair in "${compilers[@]}"; do
  build_consumers "found-${pair%:*}" "$pair" -DCMAKE_PREFIX_PATH="$prefix"
  ok "find_package with ${pair%:*}: C and C++, shared and static"
done
static_only "$prefix" "$work/static"
for pair in "${compilers[@]}"; do
  pkg_config_consumers "$work/pkg-config-${pair%:*}" "$pair" "$prefix" "$work/static"
  ok "pkg-config with ${pair%:*}: C and C++, shared and static"
done

# --- the same after a move: the old place is gone -----------------------------------------------
mkdir -p "$work/moved to"
moved="$work/moved to/deep/er"
mkdir -p "$(dirname "$moved")"
mv "$prefix" "$moved"
rm -rf "$work/static"
build_consumers moved-found "${compilers[0]}" -DCMAKE_PREFIX_PATH="$moved"
ok "find_package after the installed tree moved, to a path with a blank"
mv "$moved" "$work/moved"
moved="$work/moved"
static_only "$moved" "$work/static"
pkg_config_consumers "$work/moved-pkg-config" "${compilers[0]}" "$moved" "$work/static"
ok "pkg-config after the installed tree moved"

# --- versions and components ----------------------------------------------------------------------
# finds EXPECTED CMAKE-ARGUMENT...
finds() {
  local expected="$1" result=no
  shift
  rm -rf "$work/finds"
  if cmake -S "$consumer" -B "$work/finds" -DCMAKE_PREFIX_PATH="$moved" "$@" >"$work/last.log" 2>&1; then result=yes; fi
  [ "$result" = "$expected" ] || { tail -n 20 "$work/last.log" >&2; fail "find_package with $*: expected $expected, got $result"; }
}
finds yes -DVYRE_WANT=0.1
finds yes -DVYRE_WANT="$version"
finds no -DVYRE_WANT=0.2
finds no -DVYRE_WANT=1.0
finds no -DVYRE_WANT=0.1.999
finds no -DVYRE_COMPONENTS=nonsense
ok "find_package takes the same minor version and no other, and knows no components"

# --- as part of another build -------------------------------------------------------------------
build_consumers added "${compilers[0]}" -DVYRE_SOURCE="$source_dir" -DVYRE_CARGO_TARGET_DIR="$target_dir" \
  -DCMAKE_BUILD_TYPE="$build_type"
ok "add_subdirectory: C and C++, shared and static"
DESTDIR="$work/added-destdir" quietly cmake --install "$work/added" --prefix /usr
! find "$work/added-destdir" -name '*vyre*' 2>/dev/null | grep -q . || fail "a project that only uses vyre installs it too"
ok "add_subdirectory installs nothing unless asked"

# --- options of the build -------------------------------------------------------------------------
cat >"$work/cargo" <<WRAPPER
#!/bin/sh
echo "\$*" >>"$work/cargo.calls"
exec cargo "\$@"
WRAPPER
chmod +x "$work/cargo"
quietly cmake -S "$source_dir" -B "$work/options" -DVYRE_CARGO="$work/cargo" -DVYRE_OFFLINE=ON \
  -DVYRE_CARGO_TARGET_DIR="$target_dir" -DCMAKE_BUILD_TYPE="$build_type" -DCMAKE_INSTALL_LIBDIR=lib/some-triplet
quietly cmake --build "$work/options"
grep -q 'rustc --lib .*--offline' "$work/cargo.calls" || fail "VYRE_CARGO or VYRE_OFFLINE was not heeded"
ok "VYRE_CARGO and VYRE_OFFLINE are heeded"
quietly cmake --install "$work/options" --prefix "$work/triplet"
libdir=$(PKG_CONFIG_PATH="$work/triplet/lib/some-triplet/pkgconfig" pkg-config --variable=libdir vyre)
[ "$(readlink -f "$libdir")" = "$(readlink -f "$work/triplet/lib/some-triplet")" ] || fail "vyre.pc leads to $libdir"
rm -rf "$work/finds"
quietly cmake -S "$consumer" -B "$work/finds" -DCMAKE_PREFIX_PATH="$work/triplet/lib/some-triplet/cmake"
ok "a library directory of two levels is found by pkg-config and CMake"
if cmake -S "$source_dir" -B "$work/no-cargo" -DVYRE_CARGO="$work/missing" >"$work/last.log" 2>&1; then
  fail "a VYRE_CARGO that does not exist was accepted"
fi
grep -q "$work/missing" "$work/last.log" || fail "the refusal of a missing VYRE_CARGO does not name it"
ok "a missing cargo is refused by name"

echo "install tests: $checks checks passed with ${compilers[*]}"
