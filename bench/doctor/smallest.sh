#!/bin/sh
# What the doctor foresees of 60 s, and what campaigns of 60 s reach: in turns, so that both see the same machine.
#
#     bench/doctor/smallest.sh [ASSAY [TURNS]]      default: target/release/assay, 3 turns of about 75 s
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
assay=${1:-$root/target/release/assay}
turns=${2:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pair=$root/fixtures/verdicts/null_03_varint_loop
sed -e "s#\"pair.c\", \"../main.c\"#\"$pair/pair.c\", \"$pair/../main.c\"#" -e "s#../../../harness#$root/harness#" \
    -e 's/^minimum_effect = .*/minimum_effect = 0.0001/' -e 's/^budget = .*/budget = 60/' -e '/^description = /d' \
    -e 's/^generator = .*/generator = "lengths"/' -e 's/^length = .*/weights = [80, 18, 2]/' \
    -e 's/^units = .*/units = 1_000_000/' -e 's/^format = .*/format = "varint"/' \
    "$pair/experiment.toml" > "$work/experiment.toml"
for turn in $(seq "$turns"); do
    "$assay" doctor --json "$work/doctor.json" > /dev/null 2>&1
    "$assay" run "$work/experiment.toml" -q --seed "$turn" --ledger "$work/ledger.db" --json "$work/run.json" \
        > /dev/null 2> "$work/said" || { cat "$work/said"; exit 1; }
    python3 - "$work/doctor.json" "$work/run.json" <<'PYTHON'
import json, sys
doctor, run = (json.load(open(file)) for file in sys.argv[1:])
figures = {figure["name"]: figure["value"] for figure in doctor["figures"]}
percent = lambda value: "unknown" if value is None else f"{100 * value:.2f} %"
for found in run["contrasts"]:
    print("foreseen", percent(figures.get("smallest_effect")), "| at one place", percent(figures.get("smallest_effect_in_place")),
          "| core shared", percent(figures.get("core_shared")), "| a campaign of 60 s:", percent(found["minimum_detectable_effect"]),
          f"over {found['rotations']} rotations, seemed to differ by {100 * (found['code']['ratio'] - 1):+.2f} %")
PYTHON
done
