#!/usr/bin/env bash
# What it takes to generate 100 MB of each kind of input.
# Usage: bench/inputs/run.sh [REPEATS [PART_OF_NAME]]    (default 3 and all; pinned to the last CPU)
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
cargo build --quiet --release --locked --package assay-predict --example inputs_speed
pinned=()
if command -v taskset > /dev/null 2>&1; then pinned=(taskset --cpu-list "$(($(nproc) - 1))"); fi
read -r load _ < /proc/loadavg
echo "load when it began: $load"
exec "${pinned[@]}" "${CARGO_TARGET_DIR:-target}/release/examples/inputs_speed" "$@"
