#!/usr/bin/env bash
# What assay's harnesses cost, beside Google Benchmark's: an empty region against two bare timer reads, and a state loop
# per iteration. Usage: bench/harness/run.sh [REPEATS]    (default 15; pinned to the last CPU; about 2 s per repeat)
#
# Each figure is the median over the repeats, and in brackets the least. Programs take turns, so that other work on the
# machine meets all of them. Within a repeat a figure is already a median of many samples of about 0.2 ms.
set -euo pipefail

repeats=${1:-15}
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpu=$(($(nproc) - 1))

has() { command -v "$1" > /dev/null 2>&1; }

# name -> program; kind assay or google by the name's end
declare -A program
build() { # name, compiler, flags...
    local name=$1 compiler=$2
    shift 2
    has "$compiler" || { echo "skipped: $name ($compiler is not on PATH)"; return; }
    "$compiler" -O2 -I"$top/harness" "$@" -o "$work/$name"
    program[$name]=$work/$name
}
order=()
for compiler in gcc g++ clang clang++; do
    case $compiler in *++) flags=(-std=c++17 -x c++) ;; *) flags=(-std=c11) ;; esac
    build "assay.h-$compiler" "$compiler" "${flags[@]}" "$here/loops.c"
    order+=("assay.h-$compiler")
done
if has cargo; then
    (cd "$top" && cargo build --quiet --release --package assay-harness --example loops)
    cp "${CARGO_TARGET_DIR:-$top/target}/release/examples/loops" "$work/assay-harness-rustc"
    program[assay-harness-rustc]=$work/assay-harness-rustc
    order+=(assay-harness-rustc)
fi
for compiler in g++ clang++; do
    if has "$compiler" && ! echo '#include <benchmark/benchmark.h>' | "$compiler" -x c++ -fsyntax-only - 2> /dev/null; then
        echo "skipped: Google Benchmark with $compiler (apt-get install libbenchmark-dev)"
        continue
    fi
    build "google-$compiler" "$compiler" -std=c++17 "$here/google.cpp" -lbenchmark -lpthread
    order+=("google-$compiler")
done

# Prints "name what ns" lines.
alone() { # name
    local name=$1 output
    case $name in
        google-*)
            taskset -c "$cpu" "${program[$name]}" --benchmark_format=csv --benchmark_min_time=0.05 2> /dev/null |
                awk -F, -v name="$name" '{gsub(/"/, "", $1)} $1 == "empty" || $1 == "use" {print name, $1, $4}'
            ;;
        *)
            output=$(taskset -c "$cpu" "${program[$name]}" --json --seconds 0.05) || true
            sed -n 's/.*"variant": "\([a-z]*\)", "ns_per_call": \([0-9.]*\).*/'"$name"' \1 \2/p' <<< "$output"
            echo bye | ASSAY_CHANNEL=0,1 taskset -c "$cpu" "${program[$name]}" |
                awk -v name="$name" '/^ready/ {for (i = 2; i <= NF; i++) {split($i, f, "="); v[f[1]] = f[2]}
                    print name, "read", v["wall_read_ns"]; print name, "region", v["region_wall_ns"]
                    print name, "over", v["region_wall_ns"] - v["wall_read_ns"]}'
            ;;
    esac
}
for ((i = 0; i < repeats; i++)); do
    for name in "${order[@]}"; do
        if [ -n "${program[$name]:-}" ]; then alone "$name"; fi
    done
done > "$work/figures"

figure() { # name, what
    awk -v name="$1" -v what="$2" '$1 == name && $2 == what {print $3}' "$work/figures" | sort -g |
        awk '{v[NR] = $1} END {if (NR == 0) print "-"; else printf "%.3f (%.3f)", v[int((NR + 1) / 2)], v[1]}'
}
printf '\nns, median of %d (least), CPU %d\n' "$repeats" "$cpu"
printf '%-22s %18s %18s %18s %18s %18s\n' harness 'two timer reads' 'empty region' 'region - reads' 'loop, empty' 'loop, value used'
for name in "${order[@]}"; do
    [ -n "${program[$name]:-}" ] || continue
    printf '%-22s %18s %18s %18s %18s %18s\n' "$name" "$(figure "$name" read)" "$(figure "$name" region)" \
        "$(figure "$name" over)" "$(figure "$name" empty)" "$(figure "$name" use)"
done
printf '0.000: the compiler has removed the loop.\n'
