#!/bin/sh
# Proves that the three searches agree, for tables of several sizes, with each compiler found and its sanitisers. A few
# seconds.    Use: casebook/lookup/test.sh
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

found=0
for compiler in gcc clang; do
    if ! command -v "$compiler" > /dev/null 2>&1; then
        echo "skipped: $compiler (not on PATH)"
        continue
    fi
    found=1
    for keys in 1 1000 1024; do
        for how in "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all" -O2; do
            # shellcheck disable=SC2086 # several flags
            "$compiler" -std=c11 $how -Wall -Wextra -Wpedantic -Werror -DKEYS=$keys -I ../../harness \
                -o "$folder/program" lookup.c
            # An answer may be followed by a note, as that other work interrupted every sample.
            # A key below all, above all, and some between.
            for key in '\000\000\000\000\000' '\377\377\377\377\017' '\200\200\200\200\001' '\201\202\203\204\005' '\377\376\375\374\013'; do
                # shellcheck disable=SC2059 # octal escapes
                printf "$key" > "$folder/key"
                answers=$("$folder/program" --input "$folder/key" --units 1 --seconds 0.01 | awk 'length($4) == 16 && $4 ~ /^[0-9a-f]+$/ { print $4 }')
                if [ "$(echo "$answers" | wc -l)" != 3 ] || [ "$(echo "$answers" | sort -u | wc -l)" != 1 ]; then
                    echo "test.sh: $compiler $how, $keys keys: $answers" >&2
                    exit 1
                fi
            done
        done
    done
    echo "$compiler: all searches agree"
done
if [ "$found" = 0 ]; then
    echo "test.sh: neither gcc nor clang is on PATH; install one of them" >&2
    exit 1
fi
