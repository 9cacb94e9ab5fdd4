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
    # A cache of its own: zig's was seen to take the tests of a changed source for those of the source before.
    $zig test src/tests.zig -O "$1" --cache-dir "$folder/cache" -target x86_64-linux -mcpu x86_64_v3 2> "$folder/log" || {
        cat "$folder/log" >&2
        exit 1
    }
    grep passed "$folder/log" || true
}

# The faults that the list of them says are planted are where it says.
planted() {
    sed -n 's/^| [^|]*| \([a-z.\/]*\):\([0-9]*\) | `\(.*\)` |$/\1\t\2\t\3/p; s/^| | \([a-z.\/]*\):\([0-9]*\) | `\(.*\)` |$/\1\t\2\t\3/p' results/README.md > "$folder/planted"
    while IFS="$(printf '\t')" read -r file line text; do
        if ! sed -n "${line}p" "$file" | grep -qF -e "$text"; then
            echo "test.sh: results/README.md says that $file:$line reads: $text" >&2
            exit 1
        fi
    done < "$folder/planted"
    if [ "$(wc -l < "$folder/planted")" -lt 10 ]; then
        echo "test.sh: results/README.md lists fewer than ten planted faults" >&2
        exit 1
    fi
}

# Branches of one role, counted twice: not one more or less. With the lab as `cargo test` leaves it.
counted() { # $1 program
    assay=../../target/debug/assay
    if [ ! -x "$assay" ] || ! command -v qemu-x86_64 > /dev/null; then
        echo "skipped: counting twice (no $assay, or no qemu-x86_64)"
        return
    fi
    "$1" record "$folder/counted" --bytes 20000 --loss 5
    for role in sender receiver; do
        for time in first second; do
            "$assay" stat --source traced --predictor none -q -x, -e branches -o "$folder/$role-$time" -- \
                "$1" count "$role" "$folder/counted" 2> /dev/null
        done
        if [ ! -s "$folder/$role-first" ] || ! cmp -s "$folder/$role-first" "$folder/$role-second"; then
            echo "test.sh: two counts of the same $role differ, or there is none" >&2
            exit 1
        fi
    done
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

# However a packet is printed, the text is the same.
printed() { # $1 program at stage 0
    "$1" record "$folder/printed" --bytes 300000 --loss 5
    for role in sender receiver; do
        "$1" count $role "$folder/printed" 2> "$folder/at-once"
        if [ "$(wc -l < "$folder/at-once")" -lt 300 ]; then echo "test.sh: a $role prints too little" >&2; exit 1; fi
        for steps in 256 512; do
            ./build.sh -Dsteps=$steps -Dmode=Debug "$folder/$steps"
            if ! "$folder/$steps/transport" count $role "$folder/printed" 2>&1 | cmp -s - "$folder/at-once"; then
                echo "test.sh: with steps $steps a $role prints something else" >&2
                exit 1
            fi
        done
    done
}

planted
./buffers.py check
# What it prints is a row with eight figures.
./times.py 40 2 Debug-8 | awk -F'|' 'NR == 3 { for (i = 4; i <= 11; i++) if ($i !~ /^ [0-9.]+ $/) exit 1; ok = 1 } END { exit !ok }' ||
    { echo "test.sh: times.py prints no row" >&2; exit 1; }
if [ "${1:-}" = --all ]; then
    unit Debug
    unit ReleaseSafe
    ./build.sh -Dstage=0 -Dmode=Debug "$folder/first"
    printed "$folder/first/transport"
    for stage in 0 8; do
        ./build.sh -Dstage=$stage -Dmode=ReleaseSafe "$folder/hostile"
        ./hostile.py "$folder/hostile/transport" 1000000
    done
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
    ./hostile.py "$folder/last/transport" 5000
    unit Debug
    printed "$folder/first/transport"
    alone "$folder/first/transport"
    alone "$folder/last/transport"
    counted "$folder/first/transport"
    counted "$folder/last/transport"
    wait $processes
fi
echo "casebook/transport: files arrive whole"
