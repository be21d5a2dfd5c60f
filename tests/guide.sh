#!/usr/bin/env bash
# The C and the C++ in docs/guide.md compile: the blocks of each, in their order, as one function in which the names that
# the guide takes for granted are declared.
#
#   tests/guide.sh WORK_DIRECTORY
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)

{
  cat <<'PRELUDE'
#include <stdio.h>
#include <string.h>
#include <vyre/vyre.h>

int guide(const char *source, float values[64]);
int guide(const char *source, float values[64]) {
  vyre_backend backend = {0};
  vyre_buffer buffer = {0};
  vyre_program program = {0};
  vyre_error *error = NULL;
PRELUDE
  # The block with the label comes last, whatever its place in the text: it ends the function.
  awk '
    /^```c$/ { inside = 1; block = ""; next }
    /^```$/ { if (inside) { if (block ~ /^failed:/) last = block; else blocks = blocks block; inside = 0 } next }
    inside { block = block $0 "\n" }
    END { gsub(/sizeof values/, "64 * sizeof *values", blocks); printf "%s  return 0;\n%s  return 1;\n}\n", blocks, last }
  ' "$source_dir/docs/guide.md"
} >"$work/guide.c"

# Declarations follow the use of names that come later in the text.
awk '/^vyre_dispatch_desc dispatch/ { next } { print } /vyre_error \*error = NULL/ { print "  vyre_dispatch_desc dispatch = VYRE_DISPATCH_DESC_INIT;" }' \
  "$work/guide.c" >"$work/guide-ordered.c"

blocks=$(grep -c '^```c$' "$source_dir/docs/guide.md")
[ "$blocks" -ge 5 ] || { echo "FAILED: docs/guide.md has only $blocks blocks of C" >&2; exit 1; }
for compiler in gcc clang; do
  command -v "$compiler" >/dev/null || continue
  "$compiler" -std=c99 -Wall -Wextra -Werror -I "$source_dir/include" -fsyntax-only "$work/guide-ordered.c" || {
    echo "FAILED: the C of docs/guide.md, by $compiler" >&2
    exit 1
  }
done
echo "guide: its $blocks blocks of C compile"

{
  printf '#include <cstdio>\n#include <vyre/vyre.hpp>\n\nvoid guide(const char *source);\nvoid guide(const char *source) {\n'
  awk '/^```cpp$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$source_dir/docs/guide.md"
  printf '  (void)report;\n}\n'
} >"$work/guide.cpp"
blocks=$(grep -c '^```cpp$' "$source_dir/docs/guide.md")
[ "$blocks" -ge 2 ] || { echo "FAILED: docs/guide.md has only $blocks blocks of C++" >&2; exit 1; }
for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || continue
  "$compiler" -std=c++17 -Wall -Wextra -Werror -I "$source_dir/include" -fsyntax-only "$work/guide.cpp" || {
    echo "FAILED: the C++ of docs/guide.md, by $compiler" >&2
    exit 1
  }
done
echo "guide: its $blocks blocks of C++ compile"
