#!/bin/bash
# Runs what scripts/gpu_bundle.sh packed, on a machine with a GPU.
#   run [SECTION...]      sections: probe rust c differential conformance bench kernels sanitizer;
#                         default all
# Full logs go to $OUT, if it is set. Ends with `N passed, N failed`.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=${VYRE_BUNDLE_WORK:-/tmp/vyre-bundle}
logs=${OUT:-$work/logs}
mkdir -p "$work" "$logs"
if [ "$here/bundle.tar.xz" -nt "$work/unpacked" ]; then
  tar -C "$work" -xf "$here/bundle.tar.xz" || exit 1
  touch "$work/unpacked"
fi
cd "$work" || exit 1
export VYRE_TEST_BACKEND=${VYRE_TEST_BACKEND:-cuda}
export VYRE_CONFORMANCE_DIR=$work/conformance
export LD_LIBRARY_PATH=$work/lib
# Loading on CUDA needs a place for the cache, and this machine may have no HOME.
export VYRE_PTX_CACHE_DIR=${VYRE_PTX_CACHE_DIR:-$work/ptx-cache}
passed=0
failed=0

# check NAME SECONDS COMMAND...: runs it, keeps its output, shows the end of it if it fails.
check() {
  local name=$1 limit=$2
  shift 2
  local start=$SECONDS
  if timeout "$limit" "$@" >"$logs/$name.log" 2>&1; then
    passed=$((passed + 1))
    echo "ok     $name ($((SECONDS - start)) s)"
  else
    local code=$?
    failed=$((failed + 1))
    echo "FAILED $name (code $code, $((SECONDS - start)) s)"
    grep -aE "panicked|does not hold|expected|VYRE_ERROR|FAILED|failed" "$logs/$name.log" | head -12
    tail -n 12 "$logs/$name.log"
  fi
}

sections=${*:-probe rust c differential conformance bench kernels sanitizer}
for section in $sections; do
  echo "== $section"
  case $section in
    probe) nvidia-smi -L ;;
    rust)
      for test in barriers layout limits litmus uniformity vello wgsl_atomics wgsl_control wgsl_math wgsl_memory wgsl_overrides wgsl_subgroups wgsl_textures; do
        check "rust-$test" 60 rust/$test
      done
      # The document comes back with the device's column as measured.
      cp accuracy.md "$logs/accuracy.md"
      VYRE_ACCURACY_TABLE=$logs/accuracy.md check rust-accuracy 240 rust/accuracy --nocapture
      check rust-lib 120 rust/vyre cuda::
      ;;
    c)
      nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
      "$nvcc" -ptx -arch=compute_80 -Iinclude device.cu -o device.ptx && export VYRE_TEST_NVCC_PTX=$work/device.ptx
      for test in c/*; do
        check "c-$(basename "$test")" 60 "$test"
      done
      ;;
    differential)
      VYRE_DIFF_SEEDS=${VYRE_DIFF_SEEDS:-1000} check differential 240 rust/differential --nocapture
      VYRE_DIFF_SEEDS=${VYRE_DIFF_RICH_SEEDS:-300} check differential-rich 240 rust/differential_rich --nocapture
      ;;
    conformance)
      VYRE_CONFORMANCE=${VYRE_CONFORMANCE:-all} check conformance 400 rust/conformance --nocapture
      # The failures, the times and the table by category.
      grep -avE "^(running|test |[0-9]+ of [0-9]+ done|$)" "$logs/conformance.log" | tail -n 80
      ;;
    bench)
      # Its table is what is wanted.
      if launch/run.sh launch/launch reach.wgsl >"$logs/launch.log" 2>&1; then
        passed=$((passed + 1))
      else
        failed=$((failed + 1))
      fi
      cat "$logs/launch.log"
      ;;
    kernels)
      check kernels 300 cuda/run.sh cuda
      cat "$logs/kernels.log"
      ;;
    sanitizer)
      tool=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
      for test in ${VYRE_SANITIZED:-basics buffers dispatch dispatch_misuse programs ptx time_limit threads}; do
        for kind in memcheck racecheck; do
          check "$kind-$test" "${VYRE_SANITIZER_SECONDS:-120}" "$tool" --tool $kind --error-exitcode 9 --report-api-errors no "c/$test"
        done
      done
      ;;
    *) echo "no section $section" ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
