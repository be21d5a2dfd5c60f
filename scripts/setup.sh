#!/usr/bin/env bash
# Makes sure that the tools a make target needs are here: as root on a system with apt it installs the
# missing ones, otherwise it names them and stops.
#
#   scripts/setup.sh build|test|bench
set -euo pipefail

# "command package", for each command that the target runs.
build="cmake:cmake cc:gcc pkg-config:pkg-config make:make"
case "${1:-}" in
  build) wanted="$build" ;;
  test) wanted="$build gcc:gcc g++:g++ clang:clang clang++:clang valgrind:valgrind readelf:binutils nm:binutils" ;;
  bench) wanted="$build gcc:gcc" ;;
  *)
    echo "usage: scripts/setup.sh build|test|bench" >&2
    exit 2
    ;;
esac

if ! command -v cargo >/dev/null && ! [ -x "$HOME/.cargo/bin/cargo" ]; then
  echo "vyre's core is written in Rust, and there is no cargo: install a toolchain from https://rustup.rs" >&2
  exit 1
fi

missing=""
packages=""
for pair in $wanted; do
  if ! command -v "${pair%:*}" >/dev/null; then
    missing="$missing ${pair%:*}"
    packages="$packages ${pair#*:}"
  fi
done
[ -n "$missing" ] || exit 0

# A package may hold several of the tools.
packages=$(tr ' ' '\n' <<<"$packages" | sort -u | tr '\n' ' ')
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "these tools are missing:$missing" >&2
  echo "on Debian or Ubuntu: sudo apt-get install $packages" >&2
  exit 1
fi
echo "installing $packages"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# The list is words, to be split.
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $packages libc6-dev >/dev/null
