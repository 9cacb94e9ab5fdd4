#!/bin/sh
# Proves that all mechanisms reach the same plugins, with each compiler found and its sanitisers, and that the answer
# tells which plugin was reached. A few seconds.
# Use: casebook/dispatch/test.sh
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# One selector 4096 times, a stream of all bytes, and the study's own round robin.
repeat() { awk -v letter="$1" 'BEGIN { for (i = 0; i < 4096; i++) printf "%s", letter }'; }
repeat g > "$folder/single"
repeat 0 > "$folder/g1"
repeat 1 > "$folder/serial"
repeat 2 > "$folder/epsilon"
awk 'BEGIN { for (i = 0; i < 4096; i++) printf "%c", 33 + (i * 7919) % 90 }' > "$folder/mixed"
: > "$folder/empty"

# The one answer that all seven variants give on an input; fails where they differ.
answer() {
    "$1" --input "$2" --units 4096 --seconds 0.01 |
        awk -v name="$2" '
            length($4) == 16 && $4 ~ /^[0-9a-f]+$/ { seen[$4] = 1; count++ }
            END {
                for (one in seen) { answers++; only = one }
                if (count != 7 || answers != 1) {
                    printf "%s: %d variants, %d answers\n", name, count, answers > "/dev/stderr"; exit 1
                }
                print only
            }'
}

agree() {
    for input in single g1 serial epsilon mixed; do
        answer "$1" "$folder/$input" > "$folder/answer-$input"
    done
    answer "$1" round_robin.txt > "$folder/answer-round_robin"
    for pair in "g1 serial" "g1 epsilon" "serial epsilon" "g1 mixed" "g1 round_robin"; do
        # shellcheck disable=SC2086 # two names
        set -- "$1" $pair
        if cmp -s "$folder/answer-$2" "$folder/answer-$3"; then
            echo "test.sh: $2 and $3 have the same answer: it does not tell the plugins apart" >&2
            exit 1
        fi
    done
    if ! cmp -s "$folder/answer-single" "$folder/answer-g1"; then
        echo "test.sh: a single g1 answers otherwise than g1 chosen at each call" >&2
        exit 1
    fi
}

found=0
for compiler in g++ clang++; do
    if ! command -v "$compiler" > /dev/null 2>&1; then
        echo "skipped: $compiler (not on PATH)"
        continue
    fi
    found=1
    echo "$compiler, sanitised:"
    "$compiler" -std=c++17 -O1 -g -Wall -Wextra -Werror -I ../../harness -fsanitize=address,undefined \
        -fno-sanitize-recover=all -o "$folder/sanitised" dispatch.cpp factory.cpp
    agree "$folder/sanitised"
    # The code that is measured is not the code that was sanitised: prove that one too.
    echo "$compiler -O2:"
    "$compiler" -std=c++17 -O2 -Wall -Wextra -Werror -I ../../harness -o "$folder/plain" dispatch.cpp factory.cpp
    agree "$folder/plain"
done
if [ "$found" = 0 ]; then
    echo "test.sh: neither g++ nor clang++ is on PATH; install one of them" >&2
    exit 1
fi
echo "all mechanisms agree"
if [ "$(uname -m)" = x86_64 ] && command -v g++ > /dev/null && command -v objdump > /dev/null; then
    ./flags.py check g++
    ./sled.py check
else
    echo "skipped: flags.py, sled.py (no x86-64, g++ or objdump)"
fi
