#!/usr/bin/env bash
# Rules about the sources that no compiler checks.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
complain() {
  echo "FAILED: $1" >&2
  echo "$2" >&2
  status=1
}

sources=$(git ls-files --cached --others --exclude-standard -- '*.rs' '*.c' '*.h' '*.cpp' '*.sh' '*.cmake' '*.wgsl' 'CMakeLists.txt' Makefile)
# The header is generated.
written=$(grep -v '^include/vyre/vyre\.h$' <<<"$sources")

# shellcheck disable=SC2086
long=$(wc -l $written | awk '$2 != "total" && $1 > 600')
[ -z "$long" ] || complain "files of more than 600 lines; split them by what they are about" "$long"

# An `unsafe` block or impl says within the three lines above, or on its own, why it is sound.
# shellcheck disable=SC2086
bare=$(awk '
  FNR == 1 { safe = -9 }
  /SAFETY:/ { safe = FNR }
  # A comment that goes on keeps what it says close.
  /^[ \t]*\/\// { if (safe == FNR - 1) safe = FNR; next }
  /(^|[^_a-z"`])unsafe( impl|[ \t]*\{)/ && FNR - safe > 3 { print FILENAME ":" FNR ": " $0 }
' $(grep '\.rs$' <<<"$sources"))
[ -z "$bare" ] || complain "unsafe without a SAFETY line within three lines above" "$bare"

if command -v shellcheck >/dev/null; then
  # shellcheck disable=SC2086
  shellcheck $(grep '\.sh$' <<<"$sources") .ci/run || status=1
fi

[ "$status" -ne 0 ] || echo "sources: $(wc -w <<<"$sources") files keep the rules"
exit "$status"
