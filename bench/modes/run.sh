#!/bin/sh
# Does this processor run one loop at two speeds? Eight starts of the loop in its line, and what is done between the chunks.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cpu=${CPU:-0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for compiler in ${COMPILERS:-gcc clang}; do
    command -v "$compiler" >/dev/null || continue
    echo "== $compiler ($("$compiler" -dumpversion)), CPU $cpu, $(uname -m)"
    for skip in 0 8 16 24 32 40 48 56; do
        "$compiler" -O2 -Wall -DSKIP=$skip "$here/modes.c" -o "$work/modes"
        "$work/modes" "$cpu" nothing "${CHUNKS:-60000}" | head -1
    done
    for between in nothing call sleep code; do
        "$compiler" -O2 -Wall "$here/modes.c" -o "$work/modes"
        "$work/modes" "$cpu" $between "${CHUNKS:-60000}"
    done
done
