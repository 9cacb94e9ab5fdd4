#!/bin/bash
# One experiment on many kinds of processor, emulated one after the other; then their ledgers in one, with its report.
#
#   [ASSAY=PROGRAM] bench/fleet/run.sh FOLDER [MODEL...]
#
# FOLDER keeps the guest's kernel and a folder for each model; a model that has a ledger there is not measured again. Ends
# with 1 if a model left none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(realpath "$1")
shift
assay=$(realpath "${ASSAY:-target/release/assay}")
experiment=$(realpath "$here/../../casebook/varint/kinds.toml")
# A model of each family that qemu 7.2 emulates; README.md says which are left out.
models=("$@")
if [ $# = 0 ]; then
    models=(Conroe Nehalem SandyBridge Haswell Skylake-Server Icelake-Server Denverton Opteron_G2 EPYC EPYC-Rome max)
fi
[ -e "$folder/initramfs" ] || "$here/guest.sh" boot "$folder"
for what in build measure; do
    printf '#!/bin/bash\nASSAY=%q EXPERIMENT=%q exec bash %q %s\n' "$assay" "$experiment" "$here/task.sh" $what > "$folder/$what"
done
# The clock counts instructions of 16 ns: a busy host changes nothing, but compiling would take five times as long.
measured() { # $1 model
    "$here/guest.sh" run "$folder" "$1" "$folder/build" &&
        "$here/guest.sh" run "$folder" "$1" "$folder/measure" -icount shift=4,sleep=off
}
missing=0 ledgers=()
for model in "${models[@]}"; do
    ledger=$folder/$model/ledger.db
    [ -e "$ledger" ] || measured "$model" || true
    if [ -e "$ledger" ]; then
        ledgers+=("$ledger")
        echo "$model: measured"
    else
        missing=1
        echo "$model: no ledger; $folder/$model/{log,console,qemu} say why"
    fi
done
[ ${#ledgers[@]} = 0 ] && exit 1
"$assay" merge --ledger "$folder/fleet.db" "${ledgers[@]}"
"$assay" history varint-kinds --ledger "$folder/fleet.db" -o "$folder/fleet.html"
"$assay" history varint-kinds --ledger "$folder/fleet.db"
exit $missing
