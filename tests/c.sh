#!/usr/bin/env bash
# The C tests under CTest, in C99 and in C++17, built by every compiler that is here, and once more
# under valgrind: no error and no leak. They test an installed vyre.
#
#   tests/c.sh PREFIX WORK_DIRECTORY
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/.." && pwd)
prefix=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)

compilers=0
for pair in gcc:g++ clang:clang++; do
  cc=${pair%:*} cxx=${pair#*:}
  command -v "$cc" >/dev/null && command -v "$cxx" >/dev/null || continue
  compilers=$((compilers + 1))
  echo "C tests by $cc"
  cmake -S "$source_dir/c_tests" -B "$work/$cc" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >"$work/$cc.log" || { cat "$work/$cc.log" >&2; exit 1; }
  cmake --build "$work/$cc" --parallel "$(nproc)" >"$work/$cc.log" 2>&1 || { tail -n 60 "$work/$cc.log" >&2; exit 1; }
  ctest --test-dir "$work/$cc" --output-on-failure
done
[ "$compilers" -gt 0 ] || { echo "FAILED: neither gcc and g++ nor clang and clang++ are installed" >&2; exit 1; }

# Under valgrind the programs themselves: those of C99 are enough, because the library that they test is
# the same. What counts as a leak is memory that nothing leads to any more: Rust keeps pointers into the
# middle of blocks (hash tables, the handle of the main thread), which valgrind calls possibly lost.
# VYRE_TEST_SLOW tells tests that measure time, or count to a million, that they run far slower here.
# Valgrind runs one thread at a time: without turns the one that spins keeps the processor for minutes.
under_valgrind() {
  local log="$1.valgrind"
  VYRE_TEST_SLOW=1 timeout 900 valgrind --fair-sched=yes --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect \
    --errors-for-leak-kinds=definite,indirect "$1" >"$log" 2>&1 && return
  tail -n 80 "$log" >&2
  echo "FAILED: $(basename "$1") under valgrind" >&2
  return 1
}
export -f under_valgrind

echo "C tests under valgrind"
built=$(find "$work" -maxdepth 1 -type d \( -name gcc -o -name clang \) | LC_ALL=C sort | tail -n 1)
programs=("$built"/*_c99 "$built/two_units" "$built/cxx")
printf '%s\0' "${programs[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'under_valgrind "$1"' _
echo "C tests: passed with $compilers compilers; ${#programs[@]} programs clean under valgrind"
