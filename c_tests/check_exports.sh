#!/bin/sh
# The library exports exactly the names of the list.
set -eu
exported=$(nm -D --defined-only --format=posix "$1" | cut -d ' ' -f 1 | LC_ALL=C sort)
listed=$(LC_ALL=C sort "$2")
if [ "$exported" != "$listed" ]; then
  echo "$1 exports something else than $2 says. Exported:"
  echo "$exported"
  exit 1
fi
