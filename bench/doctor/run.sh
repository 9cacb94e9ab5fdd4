#!/bin/sh
# The doctor over all experiments: those with planted faults and their twins, and the casebook's. One line per file: what was
# found and is not accepted, what is accepted, what could not be looked for. Fails where a fixture says something else.
#
#     bench/doctor/run.sh [ASSAY]      default: target/release/assay
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
assay=${1:-$root/target/release/assay}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/row.py" <<'PYTHON'
import json, sys
page, expected = json.load(open(sys.argv[1])), sys.argv[2]
def said(finding):
    of = f"of {finding['variant']}" if finding["variant"] else "on " + ", ".join(finding["inputs"])
    return f"{finding['check']} {of}"
found = sorted({said(f) for f in page["findings"] if not f["accepted"]})
accepted = sorted({said(f) for f in page["findings"] if f["accepted"]})
blind = [c["name"] for c in page["checks"] if c["state"] == "cannot_tell"]
wanted = [] if expected == "nothing" else sorted(expected.split("; "))
print("as it should be" if found == wanted else "WRONG", "| found:", "; ".join(found) or "nothing",
      "| accepted:", "; ".join(accepted) or "nothing", "| cannot tell:", ", ".join(blind) or "nothing")
sys.exit(found != wanted)
PYTHON
wrong=0
for file in "$root"/fixtures/doctor/experiments/*.toml "$root"/casebook/*/*.toml; do
    case $file in */STAGES.toml | */Cargo.toml) continue ;; esac
    expected=$(sed -n 's/^# finds: //p' "$file")
    printf '%s | ' "${file#"$root"/}"
    if ! "$assay" doctor "$file" --ledger "$work/ledger.db" --budget 600 --json "$work/page.json" > /dev/null 2> "$work/said"; then
        echo "FAILED"
        cat "$work/said"
        wrong=$((wrong + 1))
        continue
    fi
    python3 "$work/row.py" "$work/page.json" "${expected:-nothing}" || wrong=$((wrong + 1))
done
echo "$wrong wrong"
test "$wrong" -eq 0
