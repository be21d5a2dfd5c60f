#!/usr/bin/env bash
# The end of `make demo`: two graphs are searched and a picture is drawn; every result is checked
# against plain C.
#
#   scripts/demo.sh EXAMPLES_BUILD WORK_DIRECTORY
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/.." && pwd)
examples=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)

section() { printf '\n=== %s\n' "$*"; }

section "A Graph500 Kronecker graph of scale 16, as a file"
"$examples/kronecker" --scale 16 --output "$work/kronecker16.txt"
ls -lh "$work/kronecker16.txt"

section "Heat spreading over a plate"
"$examples/heat" --output "$work/heat.png" | tee "$work/heat.log"

section "Zachary's karate club, from its instructor"
"$examples/reach" "$source_dir/examples/data/karate.txt" --source 1 | tee "$work/karate.log"

section "The Kronecker graph, from its busiest vertex"
"$examples/reach" "$work/kronecker16.txt" --repeat 5 | tee "$work/kronecker.log"

section "Done"
# The sizes of the levels of a search, one after the other.
sizes() { awk '/^  +[0-9]+ +[0-9]+$/ { printf " %s", $2 }' "$1"; }
echo "karate: vertices on levels 0, 1, 2, ...:$(sizes "$work/karate.log")"
echo "Kronecker scale 16: vertices on levels 0, 1, 2, ...:$(sizes "$work/kronecker.log")"
sed -n 's/^reached/Kronecker scale 16: reached/p; s/^check/Kronecker scale 16/p' "$work/kronecker.log"
echo "heat: the picture is $work/heat.png"
