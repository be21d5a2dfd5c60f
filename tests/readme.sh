#!/usr/bin/env bash
# The programs in README.md, in C and in C++, work when pasted: extracted, compiled against an installed vyre with
# every compiler that is here, run, and their answers compared.
#
#   tests/readme.sh PREFIX WORK_DIRECTORY
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/.." && pwd)
prefix=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
# Flags are words, to be split.
read -ra flags <<<"$(pkg-config --cflags --libs vyre)"

# works LANGUAGE STANDARD COMPILER...
works() {
  local language=$1 standard=$2 lines compiler answer tried=0
  shift 2
  awk -v start="^\`\`\`$language\$" '$0 ~ start { inside = 1; next } /^```$/ { if (inside) exit } inside' \
    "$source_dir/README.md" >"$work/readme.$language"
  lines=$(wc -l <"$work/readme.$language")
  if [ "$lines" -lt 10 ] || [ "$lines" -gt 25 ]; then
    echo "FAILED: the program in README.md in $language has $lines lines; 10 to 25 were expected" >&2
    exit 1
  fi
  for compiler in "$@"; do
    command -v "$compiler" >/dev/null || continue
    "$compiler" "-std=$standard" -Wall -Wextra -Werror "$work/readme.$language" "${flags[@]}" "-Wl,-rpath,$prefix/lib" \
      -o "$work/readme-$compiler"
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
  [ "$tried" -gt 0 ] || { echo "FAILED: no compiler for $language is installed, of: $*" >&2; exit 1; }
  echo "README: its program of $lines lines in $language works with $tried compilers"
}

works c c99 gcc clang
works cpp c++17 g++ clang++
