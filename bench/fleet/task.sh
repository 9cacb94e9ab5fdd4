#!/bin/bash
# What each machine does, in two starts: `build` compiles and links into a store that stays, by a clock that runs as the host's;
# `measure` takes its limits and the experiment, where each instruction takes the same time. run.sh sets the names.
cd "$(mktemp -d)" && export HOME=$PWD
run() { "$ASSAY" run "$EXPERIMENT" --store /mnt/store --timeout 300 "$@" 2>&1; }
if [ "$1" = build ]; then
    run --ledger build.db --budget 0.1 > built
    exit
fi
"$ASSAY" limits --quick > limits.txt 2>&1
echo "limits: $?"
run --ledger ledger.db
echo "run: $?"
/lib64/ld-linux-x86-64.so.2 --help | sed -n 's/^  \(x86-64-v.\) (supported.*/\1/p' > levels
cp limits.txt ledger.db levels /proc/cpuinfo /mnt/
