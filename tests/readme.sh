#!/usr/bin/env bash
# The C program in README.md works when pasted: extracted, compiled against an installed vyre with every
# compiler that is here, run, and its answer compared.
#
#   tests/readme.sh PREFIX WORK_DIRECTORY
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/.." && pwd)
prefix=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)

awk '/^```c$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$source_dir/README.md" >"$work/readme.c"
lines=$(wc -l <"$work/readme.c")
if [ "$lines" -lt 10 ] || [ "$lines" -gt 25 ]; then
  echo "FAILED: the program in README.md has $lines lines; 10 to 25 were expected" >&2
  exit 1
fi

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
# Flags are words, to be split.
read -ra flags <<<"$(pkg-config --cflags --libs vyre)"
tried=0
for compiler in gcc clang; do
  command -v "$compiler" >/dev/null || continue
  "$compiler" -std=c99 -Wall -Wextra -Werror "$work/readme.c" "${flags[@]}" "-Wl,-rpath,$prefix/lib" -o "$work/readme-$compiler"
  answer=$("$work/readme-$compiler") || {
    echo "FAILED: the program in README.md, by $compiler: $answer" >&2
    exit 1
  }
  if [ "$answer" != "the sum of 0 to 4095 is 8386560" ]; then
    echo "FAILED: the program in README.md, by $compiler, says: $answer" >&2
    exit 1
  fi
  tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || { echo "FAILED: neither gcc nor clang is installed" >&2; exit 1; }
echo "README: its program of $lines lines works with $tried compilers"
