#!/usr/bin/env bash
# The examples do what they say, also with input that they should refuse.
#
#   tests/examples.sh EXAMPLES_BUILD CPP_EXAMPLES_BUILD WORK_DIRECTORY
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/.." && pwd)
examples=$(cd "$1" && pwd)
examples_cpp=$(cd "$2" && pwd)
mkdir -p "$3"
work=$(cd "$3" && pwd)
rm -rf "${work:?}"/*
cd "$work"
checks=0

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# levels SIZES ARGUMENT...: reach succeeds, and the sizes of the levels are these. It checks each vertex itself.
levels() {
  local expected="$1" found
  shift
  "$examples/reach" --quiet "$@" >out 2>err || fail "reach $*: $(cat err)"
  grep -q '^check: all' out || fail "reach $*: it did not check itself"
  found=$(awk '/^  +[0-9]+ +[0-9]+$/ { printf "%s%s", sep, $2; sep = " " }' out)
  [ "$expected" = any ] || [ "$found" = "$expected" ] || fail "reach $*: levels $found; expected $expected"
  checks=$((checks + 1))
}
# refuses STATUS TEXT COMMAND...: it fails with that exit status and says so.
refuses() {
  local status="$1" text="$2" got=0
  shift 2
  "$@" >out 2>err || got=$?
  [ "$got" = "$status" ] || fail "$*: exit status $got; expected $status"
  grep -qF -e "$text" err || fail "$*: said \"$(cat err)\"; expected \"$text\""
  checks=$((checks + 1))
}
# graph TEXT: as a file, with the escapes of printf.
graph() {
  # The text is a format on purpose: it holds escapes only.
  # shellcheck disable=SC2059
  printf -- "$1" >graph.txt
}

# --- reach: graphs -------------------------------------------------------------------------------
karate="$source_dir/examples/data/karate.txt"
levels "1 16 9 8" "$karate" --source 1
levels "1 17 6 9 1" "$karate"               # from vertex 34, the busiest
levels "1 16 9 8" "$karate" --source=1 --threads 1 --repeat 20
levels "1" "$karate" --source 34 --directed  # nobody's number is higher
levels "1 16 9 8" - --source 1 <"$karate"

graph '# one\n\n5 6\n  6\t7  \n# end\n7 8'
levels "1 1 1 1" graph.txt --source 5
graph '1 2\r\n2 3\r\n'
levels "1 1 1" graph.txt --source 1
graph '18446744073709551615 0\n0 9000000000000000000\n'
levels "1 1 1" graph.txt --source 18446744073709551615
graph '1 1\n'
levels "1" graph.txt
graph '1 2\n1 2\n2 1\n3 4\n'                 # twice the same edge; a part that is not reached
levels "1 1" graph.txt --source 1
grep -q 'reached 2 of 4' out || fail "reach counts vertices that it can't reach"
seq 1 2999 | awk '{ print $1, $1 + 1 }' >path.txt
levels any path.txt --source 1               # a level, and a barrier, for every vertex
grep -q 'reached 3000 of 3000' out || fail "reach lost the end of a long path"
awk 'BEGIN { for (i = 1; i <= 20000; i++) print 0, i }' >star.txt
levels "1 20000" star.txt --source 0
levels "1 1 19999" star.txt --source 7

"$examples/kronecker" --scale 12 --seed 3 --output k12.txt
"$examples/kronecker" --scale 12 --seed 3 | cmp - k12.txt || fail "kronecker made two graphs from one seed"
! "$examples/kronecker" --scale 12 --seed 4 | cmp -s - k12.txt || fail "kronecker made one graph from two seeds"
[ "$(grep -vc '^#' k12.txt)" = 65536 ] || fail "kronecker did not make 16 edges a vertex"
levels any k12.txt
awk '/^  +[0-9]+ +[0-9]+$/' out >from-file
levels any --kronecker 12 --seed 3
awk '/^  +[0-9]+ +[0-9]+$/' out | cmp - from-file || fail "reach makes another Kronecker graph than kronecker"
levels any --kronecker 0
levels any --kronecker 16 --repeat 3

# --- reach: what it refuses ----------------------------------------------------------------------
graph '1 2\n3 x\n'
refuses 1 "graph.txt:2: expected the second vertex id, a number; found 'x'" "$examples/reach" graph.txt
graph '1 2\n\n4\n'
refuses 1 "graph.txt:3: expected the second vertex id, a number; found the end of the line" "$examples/reach" graph.txt
graph '1 2 3\n'
refuses 1 "graph.txt:1: expected the end of the line after two vertex ids; found '3'" "$examples/reach" graph.txt
graph '-1 2\n'
refuses 1 "graph.txt:1: expected the first vertex id" "$examples/reach" graph.txt
graph '1,2\n'
refuses 1 "graph.txt:1: ',' stands right behind the first vertex id" "$examples/reach" graph.txt
graph '1 18446744073709551616\n'
refuses 1 "graph.txt:1: the second vertex id does not fit 64 bits" "$examples/reach" graph.txt
graph '# nothing\n'
refuses 1 "the file holds no edges" "$examples/reach" graph.txt
head -c 100000 /dev/zero >graph.txt
refuses 1 'graph.txt:1: expected the first vertex id, a number; found \x00' "$examples/reach" graph.txt
refuses 1 "No such file" "$examples/reach" missing.txt
refuses 1 "no such vertex" "$examples/reach" "$karate" --source 35
refuses 2 "name one graph" "$examples/reach"
refuses 2 "name one graph" "$examples/reach" "$karate" --kronecker 4
refuses 2 "--threads wants a number from 1 to 1024, not \"0\"" "$examples/reach" "$karate" --threads 0
refuses 2 "--kronecker needs a value" "$examples/reach" --kronecker
refuses 2 "--sauce is not an option" "$examples/reach" "$karate" --sauce 1
refuses 2 "--backend is auto, cpu or cuda" "$examples/reach" "$karate" --backend gpu
refuses 2 "--scale wants a number from 0 to 31" "$examples/kronecker" --scale 32
refuses 1 "No such file" "$examples/kronecker" --scale 1 --output missing/file
if [ -c /dev/full ]; then refuses 1 "No space left" "$examples/kronecker" --scale 10 --output /dev/full; fi

# --- heat ----------------------------------------------------------------------------------------
# picture COLUMNS ROWS STEPS: drawn, checked by heat itself, and of the size that its format makes.
picture() {
  "$examples/heat" --quiet --columns "$1" --rows "$2" --steps "$3" --output heat.png >out 2>err || fail "heat $*: $(cat err)"
  grep -q 'bit for bit' out || fail "heat $*: it did not check itself"
  # signature, IHDR, PLTE, IDAT (zlib header, rows of block header + filter + pixels, checksum), IEND
  local size=$((8 + 25 + 780 + 12 + 2 + $2 * ($1 + 6) + 4 + 12))
  [ "$(wc -c <heat.png)" = "$size" ] || fail "heat $*: the picture has $(wc -c <heat.png) bytes; expected $size"
  [ "$(head -c 8 heat.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || fail "heat $*: not a PNG file"
  checks=$((checks + 1))
}
picture 64 48 100
picture 64 48 101
picture 1 1 7
picture 1 300 50
picture 300 1 50
picture 33 65 0
picture 129 257 1000
refuses 2 "--steps wants a number" "$examples/heat" --steps -1
refuses 1 "No such file" "$examples/heat" --columns 4 --rows 4 --steps 1 --output missing/heat.png

# --- pagerank ------------------------------------------------------------------------------------
# ranks EXPECTED ARGUMENT...: it succeeds, checks itself, and these are the first vertices.
ranks() {
  local expected="$1" found
  shift
  "$examples_cpp/pagerank" --quiet "$@" >out 2>err || fail "pagerank $*: $(cat err)"
  grep -q '^check: all' out || fail "pagerank $*: it did not check itself"
  found=$(awk '/^  [0-9.]+ +[0-9]+$/ { printf "%s%s", sep, $2; sep = " " }' out)
  [ "$found" = "$expected" ] || fail "pagerank $*: vertices $found; expected $expected"
  checks=$((checks + 1))
}
ranks "34 1 33" "$karate" --both-ways --top 3
grep -q '0.100919  34' out || fail "pagerank: $(cat out)"
ranks "34 1 33" "$karate" --both-ways --top 3 --threads 1
graph '# none of 2 and 3 leads on\n1 2\r\n1\t3\n'
ranks "2 3 1" graph.txt
ranks "2 3 1" graph.txt --iterations 1
grep -q '^1 iterations' out || fail "pagerank: $(cat out)"
ranks "2 3 1" - --tolerance 0 --iterations 6 <graph.txt
grep -q '^6 iterations' out || fail "pagerank --tolerance 0: $(cat out)"
graph '7 7\n'
ranks "7" graph.txt
grep -q '1.000000  7' out || fail "pagerank: $(cat out)"
graph '18446744073709551615 0\n'
ranks "0" graph.txt --top 1
ranks "0" star.txt --both-ways --top 1
"$examples/kronecker" --scale 14 --seed 3 --output k14.txt
"$examples_cpp/pagerank" --quiet k14.txt >out 2>err || fail "pagerank k14.txt: $(cat err)"
graph '1 x\n'
refuses 1 "graph.txt:1: expected the second vertex id, a number; found 'x'" "$examples_cpp/pagerank" graph.txt
graph '1 2 3\n'
refuses 1 "graph.txt:1: expected the end of the line" "$examples_cpp/pagerank" graph.txt
graph '1,2\n'
refuses 1 "graph.txt:1: ',' stands right behind" "$examples_cpp/pagerank" graph.txt
graph '1 18446744073709551616\n'
refuses 1 "does not fit 64 bits" "$examples_cpp/pagerank" graph.txt
graph '# nothing\n'
refuses 1 "it holds no edges" "$examples_cpp/pagerank" graph.txt
refuses 1 "cannot be opened" "$examples_cpp/pagerank" missing.txt
refuses 2 "name a file" "$examples_cpp/pagerank"
refuses 2 "--damping wants a number from 0" "$examples_cpp/pagerank" "$karate" --damping 1.5
refuses 2 "--iterations wants a number from 1 to 1000000" "$examples_cpp/pagerank" "$karate" --iterations 0
refuses 2 "--top needs a value" "$examples_cpp/pagerank" "$karate" --top
refuses 2 "there is no option --sauce" "$examples_cpp/pagerank" "$karate" --sauce

echo "examples: $checks checks passed"
