#!/usr/bin/env bash
# Tests that run on a GPU, over the double of the driver (tests/driver_double) instead: the CUDA backend's host side, the
# PTX that it emits, and the C surface above. An installed vyre and cargo's own build of the Rust tests are tested.
#
#   tests/double.sh PREFIX WORK_DIRECTORY
#
# Left out, because every instruction of theirs is interpreted, some ten million in a second:
#   delays, truth (C)   a million barriers of up to 2,112 workgroups
#   large (C)           buffers of 6 GiB, which a machine for tests may not have
#   endless_loops_end_at_the_time_limit (limits)  looks at the clock only every 256,000 turns of an inner loop
set -euo pipefail

cd "$(dirname "$0")/.."
prefix=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)
cargo=${CARGO:-cargo}
double=(--locked --offline --manifest-path tests/driver_double/Cargo.toml --target-dir target/double)

"$cargo" test "${double[@]}"
"$cargo" build "${double[@]}"
export VYRE_CUDA_DRIVER=$PWD/target/double/debug/libcuda.so
export VYRE_TEST_BACKEND=cuda
# What an earlier build emitted is not what is tested.
rm -rf "$work/ptx-cache"
export VYRE_PTX_CACHE_DIR=$work/ptx-cache

echo "Rust tests over the driver double"
tests=()
for test in barriers conformance layout limits uniformity vello differential differential_rich wgsl_atomics wgsl_control wgsl_math wgsl_memory wgsl_subgroups; do
  tests+=(--test "$test")
done
"$cargo" test --locked --no-fail-fast "${tests[@]}" -- --skip endless_loops_end_at_the_time_limit
"$cargo" test --locked --lib cuda::stale

echo "C tests over the driver double"
cmake -S c_tests -B "$work/c" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_PREFIX_PATH="$prefix" >"$work/c.log"
names=(basics buffers dispatch dispatch_misuse exit fork handles log null programs programs_refused ptx struct_size threads time_limit)
targets=("${names[@]/%/_c99}")
cmake --build "$work/c" --parallel "$(nproc)" --target "${targets[@]}" >"$work/c.log" 2>&1 || { tail -n 60 "$work/c.log" >&2; exit 1; }
pattern=$(IFS='|' && echo "^(${targets[*]})\$")
ctest --test-dir "$work/c" --output-on-failure --parallel "$(nproc)" -R "$pattern"
echo "driver double: $((${#tests[@]} / 2)) Rust test programs and ${#names[@]} C ones passed"
