#!/usr/bin/env bash
# What each predictor costs per branch: trace in memory, statistics per site on.
# Usage: bench/predict/run.sh [steps|runs] [REPEATS [NAME...]]    (default 9 and all; pinned to the last CPU)
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
cargo build --quiet --release --locked --package assay-predict --example predict_speed
pinned=()
if command -v taskset > /dev/null 2>&1; then pinned=(taskset --cpu-list "$(($(nproc) - 1))"); fi
read -r load _ < /proc/loadavg
echo "load when it began: $load"
exec "${pinned[@]}" "${CARGO_TARGET_DIR:-target}/release/examples/predict_speed" "$@"
