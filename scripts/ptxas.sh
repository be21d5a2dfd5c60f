#!/usr/bin/env bash
# Brings NVIDIA's assembler to build/ptxas/ptxas, so that the tests can assemble what the PTX emitter writes.
# Without python3, its venv module or a network it says so and succeeds: the tests then only emit.
set -euo pipefail
cd "$(dirname "$0")/.."

# The version that the emitter's text is known to pass.
package="nvidia-cuda-nvcc-cu12==12.9.86"
folder=build/ptxas

[ -z "${VYRE_PTXAS:-}" ] || exit 0
[ ! -x "$folder/ptxas" ] || exit 0
! command -v ptxas >/dev/null || exit 0

without() {
  echo "no ptxas: $1; PTX is emitted in the tests and not assembled (VYRE_PTXAS may name one)" >&2
  rm -rf "$folder"
  exit 0
}

[ "$(uname -sm)" = "Linux x86_64" ] || without "the package $package is for Linux on x86_64"
command -v python3 >/dev/null || without "there is no python3 to install $package with"
echo "installing $package in $folder"
mkdir -p "$folder"
python3 -m venv "$folder/venv" >"$folder/log" 2>&1 || without "python3 -m venv failed (see the packages python3-venv, python3-pip)"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "$package" >>"$folder/log" 2>&1 ||
  without "pip could not install $package: $(tail -n 1 "$folder/log")"
found=$(find "$folder/venv" -name ptxas -type f -print -quit)
[ -n "$found" ] || without "$package has no ptxas"
chmod +x "$found"
ln -s "${found#"$folder"/}" "$folder/ptxas"
