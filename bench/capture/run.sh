#!/usr/bin/env bash
# What capturing costs a build, and what a replay costs beside the bare link.
# Usage: bench/capture/run.sh [FILES [BUILDS [REPLAYS]]]    (default 24, 7 and 21; needs cmake, ninja and cargo)
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
cargo build --quiet --release --locked --package assay --package assay-link --bin assay --example capture_costs
built=${CARGO_TARGET_DIR:-target}/release
read -r load _ < /proc/loadavg
echo "load when it began: $load"
exec "$built/examples/capture_costs" "$built/assay" "$@"
