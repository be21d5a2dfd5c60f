#!/usr/bin/env bash
# Fills a folder with what the fuzzer starts from: the WGSL, or the PTX, of this repository's examples, tests and benches.
#
#   scripts/fuzz_corpus.sh wgsl|ptx FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$2"
git ls-files -- '*.wgsl' '*.ptx' '*.rs' '*.c' '*.h' '*.md' | python3 -c '
import hashlib, os, re, sys

kind, folder = sys.argv[1:]
mark = {"wgsl": "@compute", "ptx": ".entry"}[kind]
# Strings of Rust and C, raw ones of Rust, and what stands between fences.
patterns = [r"r#\"(.*?)\"#", r"\"((?:[^\"\\]|\\.)*)\"", r"```wgsl\n(.*?)```"]
texts = set()
for path in sys.stdin.read().split():
    text = open(path, encoding="utf-8", errors="replace").read()
    if path.endswith("." + kind):
        texts.add(text)
        continue
    for pattern in patterns:
        for found in re.findall(pattern, text, re.S):
            if mark in found:
                # As format! and the compiler would leave them, but for what is filled in.
                plain = found.replace("{{", "{").replace("}}", "}").replace("\\n", "\n")
                texts.add(re.sub(r"\\\n *", "", plain).replace("\\\"", "\""))
for text in texts:
    data = text.encode()
    if kind == "ptx":
        # The head that the target wants: so many parameters, all of them addresses.
        count = min(15, len(re.findall(r"\.param\b[^;]*?[,)]", text.partition("{")[0])))
        data = bytes([count]) + bytes(2 + 16 * i & 127 for i in range(count)) + data
    if len(data) <= 1 << 14:
        name = hashlib.sha256(data).hexdigest()[:16]
        open(os.path.join(folder, name), "wb").write(data)
' "$1" "$2"
echo "$(find "$2" -type f | wc -l) files in $2"
