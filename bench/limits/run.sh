#!/usr/bin/env bash
# `assay limits` beside public tools: copy bandwidth beside mbw, bandwidths by level beside likwid-bench, in turns.
# Usage: [ASSAY=PROGRAM] bench/limits/run.sh [ROUNDS]    (default 3; each takes about a minute)
#
# mbw counts each copied byte once, as `assay limits` does; STREAM would count it twice (read and written). It is
# given arrays of half the largest working set of `assay limits`, so that both move the same bytes. Of mbw's copies and of the
# rounds medians are compared. likwid-bench is used where it is installed. Debian: apt-get install mbw likwid.
set -euo pipefail

rounds=${1:-3}
assay=${ASSAY:-assay}
command -v "$assay" > /dev/null || { echo "run.sh: no $assay; build it, or set ASSAY=PROGRAM" >&2; exit 2; }
command -v mbw > /dev/null || { echo "run.sh: mbw is not installed (Debian: apt-get install mbw)" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpu=$(($(nproc) - 1))
read -r load _ < /proc/loadavg
echo "load when it began: $load"

median() { sort -g | awk '{ v[NR] = $1 } END { if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

field() { # $1 file, $2 a Python expression of d, the limits
    python3 -c "import json, sys; d = json.load(open(sys.argv[1])); print($2)" "$1"
}

copies() { # mbw's copies in bytes per ns (MiB/s there), one per line; $1 MiB per array
    taskset -c "$cpu" mbw -n 20 -t0 "$1" | awk '/MEMCPY/ && !/AVG/ { print $(NF - 1) * 1048576 / 1e9 }'
}

likwid() { # $1 kernel, $2 working set: bytes per ns, decimal
    likwid-bench -t "$1" -W "S0:$2:1" 2> /dev/null | awk '/^MByte\/s:/ { print $2 / 1000 }'
}

for round in $(seq "$rounds"); do
    ASSAY_LIMITS="$work/$round.json" "$assay" limits --cpu "$cpu" --json "$work/out.json" > /dev/null 2>&1
    file="$work/$round.json"
    set=$(field "$file" 'max(p["bytes"] for c in d["bandwidth"] for p in c["points"])')
    mib=$((set / 2 / 1048576))
    field "$file" '"\n".join(str(p["figure"]["median"]) for c in d["bandwidth"]
        if (c["operation"], c["by"]) == ("copy", "library") for p in c["points"] if p["bytes"] == '"$set"')' >> "$work/ours"
    copies "$mib" > "$work/theirs.$round"
    cat "$work/theirs.$round" >> "$work/theirs"
    field "$file" 'round(d["took_seconds"], 1)' >> "$work/took"
    echo "round $round: assay limits took $(tail -1 "$work/took") s; memcpy of $mib MiB: ours $(tail -1 "$work/ours"), mbw $(median < "$work/theirs.$round") bytes per ns"
done
ours=$(median < "$work/ours") theirs=$(median < "$work/theirs")
awk -v ours="$ours" -v theirs="$theirs" 'BEGIN {
    printf "copy beyond the caches, bytes per ns: assay limits %.2f, mbw MEMCPY %.2f, ratio %.3f\n", ours, theirs, ours / theirs }'

if command -v likwid-bench > /dev/null; then
    echo "by level, bytes per ns (likwid-bench counts a copied byte twice: halved here):"
    while read -r level bytes; do
        for pair in read:load_avx:1 write:store_avx:1 copy:copy_avx:2; do
            IFS=: read -r operation kernel counted <<< "$pair"
            theirs=$(for _ in 1 2 3; do likwid "$kernel" "$((bytes / 1000))kB"; done | median)
            own=$(for f in "$work"/[0-9]*.json; do
                field "$f" 'max((p["figure"]["median"] for c in d["bandwidth"] if c["operation"] == "'"$operation"'" and c["by"] == "32-byte"
                    for p in c["points"] if p["bytes"] == '"$bytes"'), default="")'; done | median)
            awk -v l="$level" -v o="$operation" -v a="$own" -v b="$theirs" -v n="$counted" 'BEGIN {
                if (a > 0 && b > 0) printf "  %-6s %-5s  32-byte loop %7.1f  likwid %7.1f  ratio %.3f\n", l, o, a, b / n, a * n / b }'
        done
    done < <(field "$work/1.json" '"\n".join(f"{n} {b}" for n, b in (("L1", 24576), ("L2", 524288), ("L3", 8388608)))')
fi
