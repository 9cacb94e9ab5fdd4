#!/bin/bash
# What each machine does, in two starts: `build` compiles and links into a store that stays, by a clock that runs as the host's;
# `measure` takes its limits and the experiment, where each instruction takes the same time. run.sh sets the names.
#
# The store is worked on in memory, always in the same folder, as compilers are told of its path.
mkdir -p "$TMPDIR/fleet" && cd "$TMPDIR/fleet" && export HOME=$PWD
run() { "$ASSAY" run "$EXPERIMENT" --store store --timeout 300 "$@" 2>&1; }
if [ "$1" = build ]; then
    run --ledger build.db --budget 0.1 > /mnt/built
    cp -r store /mnt/
    exit
fi
cp -r /mnt/store .
"$ASSAY" limits --quick > limits.txt 2>&1
echo "limits: $?"
run --ledger ledger.db --budget 20
echo "run: $?"
/lib64/ld-linux-x86-64.so.2 --help | sed -n 's/^  \(x86-64-v.\) (supported.*/\1/p' > levels
cp limits.txt ledger.db levels /proc/cpuinfo /mnt/
