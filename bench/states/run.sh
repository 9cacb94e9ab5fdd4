#!/usr/bin/env bash
# What is cold costs what it should: a flushed line the latency of memory, beside a plain pointer chase; flushed code and a
# filled predictor what they cost. Needs gcc (or $CC) and python3.    Usage: bench/states/run.sh [REPEATS]   (default 5)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpu=$(($(nproc) - 1))
${CC:-gcc} -std=c11 -O2 -I"$here/../../harness" "$here/touch.c" -o "$work/touch"
${CC:-gcc} -std=gnu11 -O2 "$here/chase.c" -o "$work/chase"
taskset -c "$cpu" python3 "$here/speak.py" "$work/touch" "$work/chase" "${1:-5}"
