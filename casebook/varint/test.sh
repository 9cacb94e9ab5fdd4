#!/bin/sh
# Proves that the decoders agree, with each compiler found and its sanitisers. Some ten seconds.
# Use: casebook/varint/test.sh [SECONDS]    with a number, libFuzzer then looks for SECONDS where clang has it
set -eu
cd "$(dirname "$0")"
fuzz_seconds=${1:-0}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
decoders='branch.c table.c hinted.c bmi2.c unrolled.c swar.c first.c mask8.c hybrid.c simd.c'
warnings='-Wall -Wextra -Werror'

# The code that is measured is not the code that was sanitised: both are proved.
prove() { # compiler, sanitised or plain
    case $2 in
    sanitised) flags='-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all' ;;
    *) flags=-O2 ;;
    esac
    out=$folder/$1-$2
    mkdir "$out"
    # shellcheck disable=SC2086  # words of flags and files
    "$1" -std=c11 $flags $warnings -o "$out/decoders" test_decoders.c $decoders
    # shellcheck disable=SC2086
    "$1" -std=c11 $flags $warnings -o "$out/simd" test_simd.c u32.c
    echo "$1 $flags:"
    "$out/decoders"
    "$out/simd"
}

found=0
jobs=
for compiler in gcc clang; do
    if ! command -v "$compiler" >/dev/null 2>&1; then
        echo "skipped: $compiler (not on PATH)"
        continue
    fi
    found=1
    for how in sanitised plain; do
        prove "$compiler" "$how" >"$folder/$compiler-$how.log" 2>&1 &
        jobs="$jobs $!:$compiler-$how"
    done
done
failed=0
for job in $jobs; do
    wait "${job%%:*}" || failed=1
    cat "$folder/${job#*:}.log"
done
if [ "$failed" != 0 ]; then
    exit 1
fi
if [ "$found" = 0 ]; then
    echo "test.sh: neither gcc nor clang is on PATH; install one of them" >&2
    exit 1
fi

# simd_varint.h is usable from C++ too, and needs no flags.
for compiler in g++ clang++; do
    if ! command -v "$compiler" >/dev/null 2>&1; then
        echo "skipped: $compiler (not on PATH)"
        continue
    fi
    # shellcheck disable=SC2086
    "$compiler" -std=c++17 -x c++ $warnings -Wconversion -I. -c -o "$folder/header.o" - <<'END'
#include "simd_varint.h"
size_t decode(const uint8_t *data, size_t size, uint32_t *narrow, uint64_t *wide) {
    return simd_varint_decode_u32(data, size, narrow, size).values + simd_varint_decode_u64(data, size, wide, size).values;
}
END
    echo "$compiler: simd_varint.h compiles as C++17"
done

if [ "$fuzz_seconds" != 0 ]; then
    clang -std=c11 -O1 -g -DFUZZ -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o "$folder/fuzz" test_simd.c u32.c
    "$folder/fuzz" -max_len=600 -max_total_time="$fuzz_seconds" -print_final_stats=1 -artifact_prefix="$folder/"
fi
