#!/bin/sh
# Compiles each header of a folder alone: every standard, gcc and clang, all warnings as errors.
set -eu
folder=$1
warnings="-Wall -Wextra -Wpedantic -Wundef -Werror"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checked=0

compile() { # compiler, language, standard, header, more options
  compiler=$1 language=$2 standard=$3 header=$4
  shift 4
  printf '#include "%s"\n' "$header" > "$work/unit"
  # shellcheck disable=SC2086
  "$compiler" -x "$language" "-std=$standard" $warnings "$@" "-I$folder" -fsyntax-only "$work/unit" || {
    echo "$header is not clean: $compiler -std=$standard"
    exit 1
  }
  checked=$((checked + 1))
}

for header in "$folder"/vyre/*.h; do
  header=vyre/${header##*/}
  for standard in c99 c11 c17; do
    compile gcc c "$standard" "$header" -Wstrict-prototypes
    compile clang c "$standard" "$header" -Wstrict-prototypes
  done
  for standard in c++11 c++14 c++17 c++20; do
    compile g++ c++ "$standard" "$header"
    compile clang++ c++ "$standard" "$header"
  done
done
for header in "$folder"/vyre/*.hpp; do
  header=vyre/${header##*/}
  for standard in c++17 c++20; do
    for compiler in g++ clang++; do
      compile "$compiler" c++ "$standard" "$header" -Wshadow
      compile "$compiler" c++ "$standard" "$header" -Wshadow -fno-exceptions -fno-rtti
    done
  done
done
test "$checked" -ge 30
echo "$checked compilations"
