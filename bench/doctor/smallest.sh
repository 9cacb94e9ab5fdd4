#!/bin/sh
# What the doctor foresees of 60 s, and what campaigns of 60 s reach: in turns, so that both see the same machine. Once with the
# doctor's own two functions, once with those of a pair that it does not know.
#
#     bench/doctor/smallest.sh [ASSAY [TURNS]]      default: target/release/assay, 3 turns of about a minute and a half
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
assay=${1:-$root/target/release/assay}
turns=${2:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
experiment() { # NAME BASELINE CANDIDATE SOURCE...
    name=$1 baseline=$2 candidate=$3
    shift 3
    sources=$(printf '"%s", ' "$@")
    # A margin so small that nothing is decided early.
    cat > "$work/$name.toml" <<TOML
question = "What can be detected?"
unit = "value"
baseline = "$baseline"
variants = ["$baseline", "$candidate"]
compilers = ["gcc"]
flags = ["-O2"]
events = []
budget = 60
minimum_effect = 0.0001
[program]
sources = [${sources%, }]
[inputs.mixed]
generator = "lengths"
weights = [80, 18, 2]
units = 500_000
window_units = 8192
TOML
}
experiment own one other "$root/crates/assay-lab/src/doctor/machine/pair.c"
experiment another a b "$root/fixtures/verdicts/null_03_varint_loop/pair.c" "$root/fixtures/verdicts/main.c"
for turn in $(seq "$turns"); do
    "$assay" doctor --json "$work/doctor.json" > /dev/null 2>&1
    for name in own another; do
        "$assay" run "$work/$name.toml" -q --seed "$turn" --ledger "$work/ledger.db" --json "$work/$name.json" \
            > /dev/null 2> "$work/said" || { cat "$work/said"; exit 1; }
    done
    python3 - "$work/doctor.json" "$work/own.json" "$work/another.json" <<'PYTHON'
import json, sys
doctor, *campaigns = (json.load(open(file)) for file in sys.argv[1:])
figures = {figure["name"]: figure["value"] for figure in doctor["figures"]}
percent = lambda value: "unknown" if value is None else f"{100 * value:.2f} %"
print("foreseen", percent(figures.get("smallest_effect")), "| at one place", percent(figures.get("smallest_effect_in_place")),
      "| core shared", percent(figures.get("core_shared")), end="")
for name, page in zip(["its own pair", "another"], campaigns):
    found = page["contrasts"][0]
    print(f" | {name} in 60 s: {percent(found['minimum_detectable_effect'])} over {found['rotations']} rotations", end="")
print()
PYTHON
done
