#!/bin/bash
# Which layer answers malloc, and does pre-warming raise the rate? Exact counts of whole runs, start and warm-up included.
#
#   casebook/allocator/hits.sh            HITS.tsv as it should be
#   casebook/allocator/hits.sh --check    ends with 1 where HITS.tsv is another: what test.sh holds
#
# Method: the stage's flags of STAGES.toml and -DTINY_COUNT_HITS (hits.h). two_layers_warm has its lists half full
# from the start. The rate is the share of small blocks that the front cache or a list had.
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

. ./flags_of.sh

table() {
    printf '# Small blocks by the layer that had them, and the share that front cache and lists had. Made by hits.sh.\n'
    printf 'workload\tstage\tfront\tlist\tnone\trate\n'
    local stage name
    while read -r name workload; do
        for stage in config_once two_layers two_layers_warm; do
            [ -x "$folder/$stage/bench" ] || make -s stage FLAGS="$(flags_of $stage) -DTINY_COUNT_HITS" OUT="$folder/$stage"
            # shellcheck disable=SC2086 # words
            ./with.sh system "$folder/$stage/bench" $workload 2>&1 > /dev/null | awk -v name="$name" -v stage=$stage '
                { printf "%s\t%s\t%d\t%d\t%d\t%.2f %%\n", name, stage, $2, $4, $6, 100 * ($2 + $4) / ($2 + $4 + $6) }'
        done
    done << 'WORKLOADS'
mixed mixed 100000 256 42
mixed-8192 mixed 100000 8192 42
larson larson 100000 1024 42 1 10
replay replay traces/python.trace
WORKLOADS
}

if [ "${1:-}" = --check ]; then
    table > "$folder/table"
    cmp -s "$folder/table" HITS.tsv || { echo "hits.sh: HITS.tsv is not what is counted: casebook/allocator/hits.sh > HITS.tsv" >&2; exit 1; }
    echo "HITS.tsv: what is counted"
else
    table
fi
