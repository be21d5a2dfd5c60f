#!/bin/sh
# Measures what `launch` measures, with the rivals built by nvcc, and the cold start in processes of its own.
#   run.sh LAUNCH REACH.wgsl      run where rivals.cu is
set -eu
launch=$1
reach=$2
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "skipped: no nvcc"; exit 0; }
folder=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$nvcc" -O3 -std=c++17 -arch=sm_90 -shared -Xcompiler -fPIC "$folder/rivals.cu" -o "$work/librivals.so" -lcuda
code=0
"$launch" "$work/librivals.so" || code=$?

"$launch" ptx "$reach" >"$work/reach.ptx"
"$(dirname "$nvcc")/ptxas" -arch=sm_90 "$work/reach.ptx" -o "$work/reach.cubin"
kernel=$(sed -n 's/^\.visible \.entry \([A-Za-z0-9_$]*\).*/\1/p' "$work/reach.ptx")
: >"$work/cold"; : >"$work/bare"
for _ in 1 2 3 4 5 6 7; do
  "$launch" cold "$reach" >>"$work/cold"
  "$launch" bare "$work/reach.cubin" "$kernel" >>"$work/bare"
done
cold=$(sort -n "$work/cold" | sed -n 4p)
bare=$(sort -n "$work/bare" | sed -n 4p)
awk -v cold="$cold" -v bare="$bare" 'BEGIN {
  printf "%-44s %12d %12d us    %6.3f  at most 1.20  %s\n", "cold start", cold, bare, cold / bare, cold <= 1.2 * bare ? "ok" : "MISSED"
  exit !(cold <= 1.2 * bare) }' || code=1
exit $code
