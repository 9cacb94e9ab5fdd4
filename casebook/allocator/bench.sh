#!/bin/bash
# How fast is the final stage beside glibc, jemalloc, mimalloc and tcmalloc, and how much memory does it hold? Beside
# them its variants with a header ahead of each block, and with one pool for all threads.
#
#   casebook/allocator/bench.sh [REPEATS]        a table for each workload; 11 repeats if not given
#
# Method: the same program with one malloc after the other by LD_PRELOAD, all of them once per repeat, in an order that
# is turned by one each time, so that drift and neighbours fall on all alike. Time is the CPU clock of the workload's
# threads, per operation: the median over the repeats, and the smallest. Memory is the peak of the whole process, as
# the kernel has it, the median. Ratios are against glibc and against mimalloc. Not a verdict: one placement of each.
set -euo pipefail
cd "$(dirname "$0")"
repeats=${1:-11}
make -s all
make -s stage FLAGS="-O2 -DNDEBUG -DTINY_HEADER=1" OUT=build/header
make -s stage FLAGS="-O2 -DNDEBUG -DTINY_ONE_POOL" OUT=build/one_pool
export LC_ALL=C

names=(glibc final header one_pool)
for name in mimalloc jemalloc tcmalloc; do
    if ./with.sh $name true 2> /dev/null; then names+=("$name"); else echo "skipped: $name (scripts/setup.sh allocator installs it)"; fi
done

run() { # $1 malloc, then the workload
    local name=$1
    shift
    case $name in
        glibc) name=system ;;
        final) name=$PWD/build/libtiny.so ;;
        header | one_pool) name=$PWD/build/$name/libtiny.so ;;
    esac
    ./with.sh "$name" build/reference "$@"
}

table() { # $1 what it is, then the workload
    local title=$1 repeat index name
    shift
    echo
    echo "$title: bench $*"
    for repeat in $(seq "$repeats"); do
        for index in "${!names[@]}"; do
            name=${names[$(((index + repeat) % ${#names[@]}))]}
            echo "$name $(run "$name" "$@")"
        done
    done | sort -s -k1,1 | awk -v order="${names[*]}" '
        function middle(list, count,    i, j, swap) {
            for (i = 2; i <= count; i++) {
                for (j = i; j > 1 && list[j - 1] > list[j]; j--) { swap = list[j]; list[j] = list[j - 1]; list[j - 1] = swap }
            }
            return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
        }
        { cpu[$1, ++n[$1]] = $5 + 0; kib[$1, n[$1]] = $9 + 0 }
        END {
            count = split(order, name, " ")
            for (k = 1; k <= count; k++) {
                for (i = 1; i <= n[name[k]]; i++) { times[i] = cpu[name[k], i]; sizes[i] = kib[name[k], i] }
                time[name[k]] = middle(times, n[name[k]]); least[name[k]] = times[1]; size[name[k]] = middle(sizes, n[name[k]])
            }
            printf "  %-10s %8s %8s %12s %12s %10s %10s\n", "malloc", "ns", "least", "of glibc", "of mimalloc", "peak KiB", "of glibc"
            for (k = 1; k <= count; k++) {
                m = name[k]
                versus = ("mimalloc" in time) ? sprintf("%.2f", time[m] / time["mimalloc"]) : "-"
                printf "  %-10s %8.2f %8.2f %12.2f %12s %10d %10.2f\n", m, time[m], least[m], time[m] / time["glibc"], versus, size[m], size[m] / size["glibc"]
            }
        }'
}

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) CPUs"
echo "median of $repeats interleaved runs, CPU clock, load $(cut -d' ' -f1 /proc/loadavg)"
table "the seed's workload" mixed 3000000 256 42
table "the seed's workload, two threads" mixed 3000000 256 42 2
table "the seed's workload, eight threads" mixed 1000000 256 42 8
table "the seed's workload, 8192 slots" mixed 3000000 8192 42
table "blocks handed over by one thread to itself" larson 1000000 1024 42 1 20
table "blocks handed over between two threads" larson 1000000 1024 42 2 20
table "blocks handed over among eight threads" larson 500000 1024 42 8 20
table "a recorded run of python3, 10 times" replay traces/python.trace 10
table "a block grows by 160 bytes to 512 KiB" grow 300000 160
table "a block grows by 5000 bytes to 512 KiB" grow 100000 5000
