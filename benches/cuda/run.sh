#!/usr/bin/env bash
# Measures vyre's kernels on CUDA against nvcc's, on a machine with a GPU.
#   run.sh DIR [--check]      DIR: where `kernels` was built; the baselines are built there too
# `kernels` finds libvyre.so.0 beside itself, in ../lib of it, or in LD_LIBRARY_PATH. Ends with
# `N passed, N failed`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=$(cd "$1" && pwd)
shift
arch=${VYRE_BENCH_ARCH:-sm_90}

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
if [ -z "$nvcc" ]; then
  echo "skipped: no nvcc"
  exit 0
fi
# baselines NAME FLAG
baselines() {
  "$nvcc" -O3 -arch="$arch" "$2" -Xcompiler -fPIC -shared -o "$dir/$1.so" "$here/baselines.cu"
}
baselines libbaselines -fmad=false
baselines libbaselines_fmad -fmad=true
"$dir/kernels" "$@" "$here" "$dir"
