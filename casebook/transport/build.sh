#!/bin/sh
# Builds the study: one source, the steps of the diary as build options.
# Use: casebook/transport/build.sh [-Dstage=N | -Dsteps=BITS] [-Dmode=Debug|ReleaseSafe|ReleaseFast] [-Drecords] OUT
#   -Dstage=N     the first N steps, 0 to 8 (default 8)
#   -Dsteps=BITS  any set of steps: 1 quiet, 2 direct, 4 unchecked, 8 built-in moves, 16 large, 32 hints, 64 table, 128 batches;
#                 beyond the stages: 256 text collected, 512 packets kept and printed in a row, 1024 header laid over the bytes,
#                 2048 parts of large structures reached through a pointer
#   -Drecords     also keeps what each side is given in a transfer of nothing, and of 400 KiB at 1 and at 5 % loss
#   OUT           a folder; OUT/transport is the program
# zig is the one on PATH, or else of python3 (`pip install ziglang`), or of ZIG.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
stage=8 steps='' mode=ReleaseFast records=no out=''
for word in "$@"; do
    case $word in
        -Dstage=[0-8]) stage=${word#*=} ;;
        -Dsteps=*) steps=${word#*=} ;;
        -Dmode=Debug | -Dmode=ReleaseSafe | -Dmode=ReleaseFast) mode=${word#*=} ;;
        -Drecords) records=yes ;;
        -*) echo "build.sh: no option $word (see its first lines)" >&2; exit 2 ;;
        *) out=$word ;;
    esac
done
if [ -z "$out" ]; then echo "build.sh: say which folder to build into" >&2; exit 2; fi
mkdir -p "$out"
zig=$("$here/find_zig.sh") || exit 3
options="pub const steps = ${steps:-(1 << $stage) - 1};"
# A fixed processor: counts do not depend on the machine, and every emulator knows it.
flags="-O $mode -target x86_64-linux -mcpu x86_64_v3 -fno-strip"
# An optimised build takes half a minute and zig keeps none: those of the same source, flags and zig are kept here.
key=$({ echo "$options $flags"; $zig version; cat "$here"/src/*.zig; } | sha256sum | cut -c1-16)
kept=$here/../../target/transport/$key
if [ ! -e "$kept/transport" ]; then
    mkdir -p "$kept"
    own=$(mktemp -d "$kept/XXXXXX")
    trap 'rm -rf "$own"' EXIT
    echo "$options" > "$kept/options.zig"
    # shellcheck disable=SC2086 # words
    $zig build-exe $flags --dep options -Mroot="$here/src/main.zig" -Moptions="$kept/options.zig" \
        --cache-dir "$own/cache" --name transport -femit-bin="$own/transport"
    mv "$own/transport" "$kept/transport"
fi
cp "$kept/transport" "$out/transport"
if [ $records = yes ]; then
    "$out/transport" record "$out/nothing" --bytes 0
    for loss in 1 5; do "$out/transport" record "$out/loss-$loss" --bytes 409600 --loss $loss --seed 42; done
fi
