#!/bin/sh
# Proves that the decoders agree, with each compiler found and its sanitisers. A few seconds.
# Use: casebook/varint/test.sh
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

found=0
for compiler in gcc clang; do
    if ! command -v "$compiler" >/dev/null 2>&1; then
        echo "skipped: $compiler (not on PATH)"
        continue
    fi
    found=1
    echo "$compiler, sanitised:"
    "$compiler" -std=c11 -O1 -g -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all \
        -o "$folder/sanitised-$compiler" test_decoders.c branch.c table.c hinted.c bmi2.c
    "$folder/sanitised-$compiler"
    # The code that is measured is not the code that was sanitised: prove that one too.
    echo "$compiler -O2:"
    "$compiler" -std=c11 -O2 -Wall -Wextra -Werror \
        -o "$folder/plain-$compiler" test_decoders.c branch.c table.c hinted.c bmi2.c
    "$folder/plain-$compiler"
done
if [ "$found" = 0 ]; then
    echo "test.sh: neither gcc nor clang is on PATH; install one of them" >&2
    exit 1
fi
