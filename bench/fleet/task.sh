#!/bin/bash
# What each machine does: its limits, the experiment, and what is found to the folder that stays. run.sh sets the names.
cd "$(mktemp -d)" && export HOME=$PWD
"$ASSAY" limits --quick > limits.txt 2>&1
echo "limits: $?"
"$ASSAY" run "$EXPERIMENT" --ledger ledger.db --timeout 300 2>&1
echo "run: $?"
/lib64/ld-linux-x86-64.so.2 --help | sed -n 's/^  \(x86-64-v.\) (supported.*/\1/p' > levels
cp limits.txt ledger.db levels /proc/cpuinfo /mnt/
