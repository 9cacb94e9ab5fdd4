#!/bin/sh
# Proves that the tables find the same keys, for tables from none to many keys, with each compiler found and its sanitisers. A
# few seconds.    Use: casebook/hashing/test.sh
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# So many keys of 8 bytes, each KEY = FIRST, FIRST + STEP, ...
keys() {
    python3 -c 'import struct, sys
count, first, step = map(int, sys.argv[1:])
sys.stdout.buffer.write(b"".join(struct.pack("<Q", first + step * i) for i in range(count)))' "$@"
}

# Do so many variants of the program find what is in a table of so many keys? $3 says which program that is.
finds() {
    keys "$2" 2 2 > "$folder/keys.table"
    keys 4000 1 1 > "$folder/keys"
    expected=$(printf %016x $(($2 * ($2 + 1) / 2)))
    answers=$("$folder/program" --input "$folder/keys" --units 4000 --seconds 0.01 |
        awk 'length($4) == 16 && $4 ~ /^[0-9a-f]+$/ { print $4 }')
    if [ "$(echo "$answers" | wc -l)" != "$1" ] || [ "$(echo "$answers" | sort -u)" != "$expected" ]; then
        echo "test.sh: $3, $2 keys: expected $expected, got $answers" >&2
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
    for how in "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all" -O2; do
        # shellcheck disable=SC2086 # several flags
        "$compiler" -std=c++20 $how -Wall -Wextra -Werror -I ../../harness -o "$folder/program" lookups.cpp
        # The even numbers to 2 x COUNT are in the table; all to twice as many are looked up: every fourth is found.
        for count in 0 1 11 12 13 1000; do
            finds 5 "$count" "$compiler $how"
        done
    done
    echo "$compiler: all tables find the same keys"
    if ! echo '#include <absl/container/flat_hash_map.h>' | "$compiler" -std=c++20 -x c++ -fsyntax-only - 2> /dev/null; then
        echo "skipped: $compiler, swissmap.cpp (no abseil: libabsl-dev)"
        continue
    fi
    "$compiler" -std=c++20 -O2 -Wall -Wextra -Werror -I ../../harness -o "$folder/program" swissmap.cpp \
        -labsl_raw_hash_set -labsl_hash -labsl_city -labsl_low_level_hash
    for count in 0 1 1000; do
        finds 8 "$count" "$compiler, swissmap"
    done
    echo "$compiler: hot and cold maps find the same keys"
done
if [ "$found" = 0 ]; then
    echo "test.sh: neither g++ nor clang++ is on PATH; install one of them" >&2
    exit 1
fi
