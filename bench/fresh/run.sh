#!/usr/bin/env bash
# Fresh states beside a hand-made loop: compiles check.cpp and runs it on one processor, the last of those allowed.
# Arguments: elements, windows, rounds.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
g++ -std=c++17 -O2 -I harness bench/fresh/check.cpp -o "$work/check"
cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
taskset -c "$cpu" "$work/check" "$@"
