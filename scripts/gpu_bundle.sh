#!/bin/sh
# Builds everything that runs on a machine with a GPU and without a toolchain into build/gpu-bundle:
# tests, benches, examples, and the library, with a `run` script.
#   scripts/gpu_bundle.sh PREFIX OUT      PREFIX: where vyre is installed
set -eu
cargo=${CARGO:-cargo}
prefix=$(cd "$1" && pwd)
out=$2
rm -rf "$out"
mkdir -p "$out/stage/rust" "$out/stage/c" "$out/stage/lib" "$out/stage/include"

# Test executables hold the library each, nearly the same bytes: they are packed together.
"$cargo" test --locked --no-run --message-format=json --lib \
  --test accuracy --test barriers --test conformance --test differential --test differential_rich --test layout --test limits \
  --test litmus --test uniformity --test vello --test wgsl_atomics --test wgsl_control --test wgsl_math --test wgsl_memory \
  --test wgsl_overrides --test wgsl_subgroups --test wgsl_textures >"$out/build.json"
python3 - "$out/build.json" >"$out/executables" <<'PYTHON'
import json, sys
for line in open(sys.argv[1]):
    message = json.loads(line)
    if message.get("executable") and message.get("profile", {}).get("test"):
        print(message["target"]["name"], message["executable"])
PYTHON
while read -r name file; do
  strip -o "$out/stage/rust/$name" "$file"
done <"$out/executables"
rm "$out/build.json" "$out/executables"

cp "$prefix"/lib/libvyre.so.0 "$out/stage/lib/"
strip "$out/stage/lib/libvyre.so.0"
cp -r "$prefix/include/vyre" "$out/stage/include/"
# The C tests look for the library beside themselves, not where it is here.
cmake -S c_tests -B "$out/cmake" -DVYRE_INCLUDE_DIR="$prefix/include" -DVYRE_LIBRARY="$prefix/lib/libvyre.so" \
  -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON >/dev/null
cmake --build "$out/cmake" --parallel >/dev/null
for test in "$out"/cmake/*_c99 "$out/cmake/cxx"; do
  strip -o "$out/stage/c/$(basename "$test" _c99)" "$test"
done
rm -rf "$out/cmake"
cp c_tests/device.cu "$out/stage/"
mkdir "$out/stage/launch"
cp benches/launch/rivals.cu benches/launch/run.sh "$out/stage/launch/"
# The comparison with nvcc; it too looks for the library near itself.
cmake -S benches/cuda -B "$out/cmake" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$out/cmake" --parallel >/dev/null
cp -r benches/cuda "$out/stage/cuda"
strip -o "$out/stage/cuda/kernels" "$out/cmake/kernels"
strip -o "$out/stage/launch/launch" "$out/cmake/launch"
rm -rf "$out/cmake"
cp examples/c/*.wgsl "$out/stage/"
cp docs/accuracy.md "$out/stage/"

vectors=../shared/conformance
if [ -d "$vectors" ]; then
  mkdir "$out/stage/conformance"
  cp "$vectors"/* "$out/stage/conformance/"
fi

tar -C "$out/stage" -cf "$out/bundle.tar" .
rm -rf "$out/stage"
xz -3 --lzma2=preset=3,dict=128MiB -f "$out/bundle.tar"
cp scripts/gpu_run.sh "$out/run"
chmod +x "$out/run"
du -sh "$out"
