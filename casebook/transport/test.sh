#!/bin/sh
# Proves that files arrive whole in every stage, or that it is said why not. Ten seconds.
# Use: casebook/transport/test.sh [--all]
#   --all   every stage in every mode over real sockets too, and the fuzzer with millions of inputs: ten minutes
set -eu
cd "$(dirname "$0")"
if ! reason=$(./find_zig.sh 2>&1); then
    echo "skipped: casebook/transport ($reason)"
    exit 0
fi
if [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: casebook/transport (it is built for x86_64)"
    exit 0
fi
zig=$reason
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

unit() { # $1 mode
    echo "zig test, $1:"
    $zig test src/tests.zig -O "$1" -target x86_64-linux -mcpu x86_64_v3 2> "$folder/log" || {
        cat "$folder/log" >&2
        exit 1
    }
    grep passed "$folder/log" || true
}

# One role at a time, as it is counted: the same outcome from the record, at every loss.
alone() { # $1 program
    for loss in 0 1 5 30; do
        "$1" record "$folder/record" --loss "$loss" --seed 42
        for role in sender receiver copy; do "$1" count "$role" "$folder/record" --quiet; done
    done
    cp "$folder/record/receiver.script" "$folder/record/sender.script"
    if "$1" count sender "$folder/record" --quiet 2> /dev/null; then
        echo "test.sh: the script of the other side is accepted" >&2
        exit 1
    fi
}

if [ "${1:-}" = --all ]; then
    unit Debug
    unit ReleaseSafe
    for mode in Debug ReleaseSafe ReleaseFast; do
        for stage in 0 1 2 3 4 5 6 7 8; do
            ./build.sh -Dstage=$stage -Dmode=$mode "$folder/$stage-$mode"
            echo "stage $stage, $mode:"
            alone "$folder/$stage-$mode/transport"
            python3 test_processes.py "$folder/$stage-$mode/transport"
        done
    done
else
    ./build.sh -Dstage=0 -Dmode=Debug "$folder/first"
    ./build.sh -Dstage=8 -Dmode=Debug "$folder/last"
    # The processes mostly wait for each other's silence: meanwhile there is time for the rest.
    python3 test_processes.py "$folder/last/transport" &
    processes=$!
    unit Debug
    alone "$folder/first/transport"
    alone "$folder/last/transport"
    wait $processes
fi
echo "casebook/transport: files arrive whole"
