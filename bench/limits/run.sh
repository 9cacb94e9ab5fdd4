#!/usr/bin/env bash
# `assay limits` beside public tools: copy bandwidth beside mbw, bandwidths by level beside likwid-bench, in turns.
# Usage: [ASSAY=PROGRAM] bench/limits/run.sh [ROUNDS]    (default 8; about a quarter of a minute each, and one minute more)
#
# mbw counts each copied byte once, as `assay limits` does; STREAM would count it twice (read and written). It is given arrays
# of half the largest working set of `assay limits`, so that both move the same bytes.
# mbw 1.2.2, which Debian has, prints "MEMCPY" over its loop of 8-byte moves and "DUMB" over memcpy (its issue 2, "Tests are
# labeled incorrectly"). So which test is the memcpy is not believed but seen: the library preloaded here says when memcpy is
# called for a whole array. It also gives mbw, which has the wall clock alone, the process's CPU clock, as `assay limits` times
# a long copy, so that what others take counts for neither.
# Debian: apt-get install mbw likwid gcc.
set -euo pipefail

rounds=${1:-8}
assay=${ASSAY:-assay}
command -v "$assay" > /dev/null || { echo "run.sh: no $assay; build it, or set ASSAY=PROGRAM" >&2; exit 2; }
command -v mbw > /dev/null || { echo "run.sh: mbw is not installed (Debian: apt-get install mbw)" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpu=$(($(nproc) - 1))
read -r load _ < /proc/loadavg
echo "load when it began: $load"

cat > "$work/preload.c" << 'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int gettimeofday(struct timeval *to, void *zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    to->tv_sec = now.tv_sec;
    to->tv_usec = now.tv_nsec / 1000;
    return 0;
}
void *memcpy(void *to, const void *from, size_t bytes) {
    static void *(*libc)(void *, const void *, size_t);
    if (!libc) libc = (void *(*)(void *, const void *, size_t))dlsym(RTLD_NEXT, "memcpy");
    if (bytes >= 1 << 20) (void)!write(2, "memcpy\n", 7);
    return libc(to, from, bytes);
}
C
"${CC:-cc}" -O2 -fno-builtin -shared -fPIC -o "$work/preload.so" "$work/preload.c" -ldl
test=
for candidate in 0 1; do
    if LD_PRELOAD=$work/preload.so mbw -n 1 "-t$candidate" 4 2>&1 > /dev/null | grep -q memcpy; then test=$candidate; fi
done
[ "$test" ] || { echo "run.sh: no test of this mbw was seen to call memcpy" >&2; exit 2; }

median() { sort -g | awk '{ v[NR] = $1 } END { if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

field() { # $1 file, $2 a Python expression of d, the limits
    python3 -c "import json, sys; d = json.load(open(sys.argv[1])); print($2)" "$1"
}

limits() { # $1 file, then options
    local file=$1
    shift
    ASSAY_LIMITS=$file "$assay" limits --cpu "$cpu" "$@" > /dev/null 2>&1
}

copies() { # mbw's copies in bytes per ns (MiB/s there), one per line; $1 MiB per array
    LD_PRELOAD=$work/preload.so taskset -c "$cpu" mbw -n 20 "-t$test" "$1" 2> /dev/null | awk '/Method/ && !/AVG/ { print $(NF - 1) * 1048576 / 1e9 }'
}

likwid() { # $1 kernel, $2 working set: bytes per ns, decimal
    likwid-bench -t "$1" -W "S0:$2:1" 2> /dev/null | awk '/^MByte\/s:/ { print $2 / 1000 }'
}

limits "$work/full.json"
full=$work/full.json
echo "assay limits took $(field "$full" 'round(d["took_seconds"], 1)') s"
set=$(field "$full" 'max(p["bytes"] for c in d["bandwidth"] for p in c["points"])')
mib=$((set / 2 / 1048576))
for round in $(seq "$rounds"); do
    copies "$mib" > "$work/before"
    limits "$work/$round.json" --quick
    copies "$mib" > "$work/after"
    own=$(field "$work/$round.json" '"\n".join(str(p["figure"]["median"]) for c in d["bandwidth"]
        if (c["operation"], c["by"]) == ("copy", "library") for p in c["points"] if p["bytes"] == '"$set"')')
    other=$(cat "$work/before" "$work/after" | median)
    awk -v a="$own" -v b="$other" 'BEGIN { print a / b }' >> "$work/ratios"
    echo "round $round: memcpy of $mib MiB, bytes per ns: assay limits $own, mbw $other"
done
echo "memcpy beyond the caches, assay limits / mbw -t$test (CPU clock), median of $rounds rounds: $(median < "$work/ratios")"

if command -v likwid-bench > /dev/null; then
    echo "32-byte loops by level, bytes per ns (likwid-bench counts a copied byte twice: halved here; by the wall clock):"
    while read -r level bytes; do
        for pair in read:load_avx:1 write:store_avx:1 copy:copy_avx:2; do
            IFS=: read -r operation kernel counted <<< "$pair"
            other=$(for _ in 1 2 3; do likwid "$kernel" "$((bytes / 1000))kB"; done | median)
            own=$(field "$full" '"".join(str(p["figure"]["median"]) for c in d["bandwidth"]
                if (c["operation"], c["by"]) == ("'"$operation"'", "32-byte") for p in c["points"] if p["bytes"] == '"$bytes"')')
            awk -v l="$level" -v o="$operation" -v a="$own" -v b="$other" -v n="$counted" 'BEGIN {
                if (a > 0 && b > 0) printf "  %-3s %-6s assay limits %6.1f  likwid-bench %6.1f  ratio %.3f\n", l, o, a, b / n, a * n / b }'
        done
    done < <(field "$full" '"\n".join(f"{n} {b}" for n, b in (("L1", 24576), ("L2", 524288), ("L3", 8388608)))')
fi
