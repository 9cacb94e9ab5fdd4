#!/usr/bin/env bash
# Decoders of 32-bit varints side by side: ours, safe and validating, and other people's.
# Usage: [PEERS=FOLDER] bench/varint/run.sh [REPEATS [VALUES [SHAPES [PIECE]]]]
#        (default 15, 1000000, all, 0; pinned to the last CPU)
#
# PEERS is a folder of shared objects, each one decoder: see README.md for what they export. Without it there are only ours.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
repeats=${1:-15} values=${2:-1000000} shapes=${3:-all} piece=${4:-0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
peers=()
if [ -n "${PEERS:-}" ]; then
    mapfile -t peers < <(find "$(cd "$PEERS" && pwd)" -maxdepth 1 -name '*.so' | sort)
    [ ${#peers[@]} -gt 0 ] || { echo "run.sh: no .so in $PEERS; bench/varint/README.md says what belongs there" >&2; exit 2; }
fi
"${CC:-gcc}" -std=c11 -O2 -Wall -Wextra -o "$work/side_by_side" "$here/side_by_side.c" "$here/../../casebook/varint/u32.c" -ldl
pinned=()
if command -v taskset > /dev/null 2>&1; then pinned=(taskset --cpu-list "$(($(nproc) - 1))"); fi
read -r load _ < /proc/loadavg
echo "load when it began: $load; $("${CC:-gcc}" --version | head -1)"
"${pinned[@]}" "$work/side_by_side" "$values" "$repeats" "$shapes" "$piece" "${peers[@]}"
