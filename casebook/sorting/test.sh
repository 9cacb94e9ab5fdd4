#!/bin/sh
# Proves that the sorts sort.    Use: casebook/sorting/test.sh
set -eu
cd "$(dirname "$0")"
if ! command -v cargo > /dev/null 2>&1; then
    echo "skipped: cargo (not on PATH)"
    exit 0
fi
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-../../target/sorting} cargo test --quiet --offline
