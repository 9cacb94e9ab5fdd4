#!/bin/sh
# Proves that the decoders agree, with each compiler found and its sanitisers. Some twenty seconds of each core.
# Use: casebook/varint/test.sh [SECONDS]    with a number, libFuzzer then looks for SECONDS where clang has it
set -eu
cd "$(dirname "$0")"
fuzz_seconds=${1:-0}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
decoders='branch.c table.c hinted.c bmi2.c unrolled.c swar.c first.c mask8.c hybrid.c simd.c'
warnings='-Wall -Wextra -Werror'

# The code that is measured is not the code that was sanitised: both are proved, and AVX-512's everywhere.
prove() { # compiler, and sanitised, plain or emulated
    out=$folder/$1-$2
    mkdir "$out"
    case $2 in
    sanitised) flags='-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all' ;;
    # Plain C instead of one instruction: nobody measures it, and at -O2 it takes longer to compile than all others.
    emulated) flags='-O1 -include ./avx512_emulated.h' ;;
    *) flags=-O2 ;;
    esac
    # shellcheck disable=SC2086  # words of flags and files
    "$1" -std=c11 $flags $warnings -o "$out/simd" test_simd.c u32.c
    echo "$1 $flags:"
    "$out/simd"
    if [ "$2" != emulated ]; then
        # shellcheck disable=SC2086
        "$1" -std=c11 $flags $warnings -o "$out/decoders" test_decoders.c $decoders
        "$out/decoders"
    fi
}

# Why a compiler's sanitised programs cannot be made or do not run here (its libraries are packages of their own, and
# some kernels' address layouts are beyond an older one); nothing if they do.
lacks_sanitizer() { # compiler, sanitizers
    if ! echo 'int main(void) { return 0; }' |
        "$1" -xc -fsanitize="$2" -o "$folder/probe" - >"$folder/probe.log" 2>&1; then
        echo "it does not link -fsanitize=$2: $(grep -v '^$' "$folder/probe.log" | head -1 | cut -c1-100)"
    elif ! "$folder/probe" >"$folder/probe.log" 2>&1; then
        echo "a program with -fsanitize=$2 does not run: $(head -1 "$folder/probe.log" | cut -c1-100)"
    fi
}

found=0
emulated=0
jobs=
for compiler in gcc clang; do
    if ! command -v "$compiler" >/dev/null 2>&1; then
        echo "skipped: $compiler (not on PATH)"
        continue
    fi
    found=1
    hows='sanitised plain emulated'
    lacks=$(lacks_sanitizer "$compiler" address,undefined)
    if [ -n "$lacks" ]; then
        echo "skipped: $compiler sanitised ($lacks)"
        hows='plain emulated'
    fi
    if [ "$(uname -m)" != x86_64 ]; then
        echo "skipped: $compiler emulated AVX-512 (not x86-64)"
        hows=${hows% emulated}
    elif [ "$emulated" = 1 ]; then # plain C: one compiler's word is enough for it
        hows=${hows% emulated}
    fi
    emulated=1
    for how in $hows; do
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

# The Rust decoders of likely/ agree; their hint is stable from Rust 1.95 on.
if ! command -v cargo >/dev/null 2>&1; then
    echo "skipped: likely (cargo is not on PATH)"
elif ! echo 'pub fn probe() { std::hint::cold_path() }' | rustc --crate-type lib --emit metadata -o "$folder/probe.rmeta" - 2>/dev/null; then
    echo "skipped: likely ($(rustc --version) has no cold_path)"
else
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-../../target/likely} cargo test --quiet --offline --manifest-path likely/Cargo.toml
fi

# Every rate of the second document belongs to a benchmark that has claims, and says what its time says.
python3 -B - <<'END'
import glob, tomllib
import document_tables
times = {}
for path in glob.glob("*.toml"):
    with open(path, "rb") as file:
        for claim in tomllib.load(file).get("claims", []):
            if "ns_per_unit" in claim:
                times[claim["source"].removeprefix(document_tables.PREFIX)] = claim["ns_per_unit"]
rates = document_tables.document_rates()
for name, (_, values) in rates.items():
    if name not in times or values and not 0.97 < times[name] * values / 1e9 < 1.03:
        raise SystemExit(f"test.sh: {name} has {values} values per second, and {times.get(name)} ns")
print(f"document_rates.tsv: {len(rates)} benchmarks have the times of their claims")
END

# simd_varint.h is usable from C++ too, needs no flags, and gives no warning in either language: nor optimised, as
# -Wmaybe-uninitialized says nothing without inlining.
cat >"$folder/header.c" <<'END'
#include "simd_varint.h"
#ifdef __cplusplus
extern "C"
#endif
size_t decode(const uint8_t *data, size_t size, uint32_t *narrow, uint64_t *wide);
size_t decode(const uint8_t *data, size_t size, uint32_t *narrow, uint64_t *wide) {
    return simd_varint_decode_u32(data, size, narrow, size).values +
           simd_varint_decode_u64(data, size, wide, size).values;
}
END
strict='-Wconversion -Wsign-conversion -Wcast-align -Wcast-qual -Wshadow -Wpedantic'
for compiler in gcc clang g++ clang++; do
    if ! command -v "$compiler" >/dev/null 2>&1; then
        echo "skipped: $compiler (not on PATH)"
        continue
    fi
    case $compiler in
    *++) language='-std=c++17 -x c++ -Wold-style-cast' ;;
    *) language='-std=c11 -x c' ;;
    esac
    case $compiler in
    g*) language="$language -Wmaybe-uninitialized" ;;
    esac
    for optimised in -O0 -O2; do
        # shellcheck disable=SC2086
        "$compiler" $language $warnings $strict $optimised -I. -c -o "$folder/header.o" "$folder/header.c"
    done
    echo "$compiler: simd_varint.h compiles without a warning ($language)"
done

if [ "$fuzz_seconds" != 0 ]; then
    if ! command -v clang >/dev/null 2>&1; then
        lacks='clang is not on PATH'
    else
        echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' >"$folder/probe.c"
        lacks=$(clang -fsanitize=fuzzer,address,undefined -o "$folder/probe" "$folder/probe.c" 2>&1 | head -1)
    fi
    if [ -n "$lacks" ]; then
        echo "skipped: libFuzzer ($lacks)"
    else
        clang -std=c11 -O1 -g -DFUZZ -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o "$folder/fuzz" \
            test_simd.c u32.c
        "$folder/fuzz" -max_len=600 -max_total_time="$fuzz_seconds" -print_final_stats=1 -artifact_prefix="$folder/"
    fi
fi
