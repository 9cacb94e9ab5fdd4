#!/bin/sh
# Proves that the validators agree.    Use: casebook/utf8/test.sh
set -eu
cd "$(dirname "$0")"
if ! zig=$(sh ../transport/find_zig.sh); then
    echo "skipped: there is no zig"
    exit 0
fi
$zig test -O ReleaseSafe -mcpu=x86_64_v3 --cache-dir ../../target/utf8 utf8.zig
echo "all validators agree"
