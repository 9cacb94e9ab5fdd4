#!/usr/bin/env python3
"""Is this file a campaign of assay in which everything was measured?

Usage: check_campaign.py FILE. Checks the keys that other programs rely on, that every contrast has a verdict from
finite intervals, and that no cell failed. Exit 0 and one line, or 1 and every complaint.
"""
import json
import math
import sys

VERDICTS = {"faster", "slower", "equivalent", "inconclusive"}
AS_BUILT = {"confirmed", "ghost", "inflated", "deflated", "masked", "reversed"}


def ratio_complaints(name, ratio):
    numbers = [ratio.get(key) for key in ("lower", "ratio", "upper")]
    if not all(isinstance(n, (int, float)) and math.isfinite(n) and n > 0 for n in numbers):
        return [f"{name}: not three positive numbers: {ratio}"]
    if not numbers[0] <= numbers[1] <= numbers[2]:
        return [f"{name}: the estimate is outside its interval: {ratio}"]
    return []


def contrast_complaints(contrast):
    name = "/".join(str(contrast.get(k)) for k in ("candidate", "baseline", "input", "compiler", "flags"))
    found = []
    if contrast.get("verdict") not in VERDICTS:
        found.append(f"{name}: verdict {contrast.get('verdict')!r}")
    if contrast.get("as_built") is not None:
        if contrast.get("as_built_says") not in AS_BUILT:
            found.append(f"{name}: as_built_says {contrast.get('as_built_says')!r}")
        found += ratio_complaints(f"{name} as built", contrast["as_built"])
    found += ratio_complaints(f"{name} code", contrast.get("code") or {})
    if not isinstance(contrast.get("causes"), list):
        found.append(f"{name}: no list of causes")
    return found


def cell_complaints(cell):
    name = "/".join(str(cell.get(k)) for k in ("variant", "input", "compiler", "flags"))
    failed = cell.get("failed")
    if failed:
        return [f"{name}: failed: {failed.get('reason')}"]
    median = (cell.get("ns_per_unit") or {}).get("median")
    if not isinstance(median, (int, float)) or not median > 0:
        return [f"{name}: no time per unit"]
    return []


def complaints(campaign):
    found = []
    if campaign.get("schema") != "assay.campaign/1":
        found.append(f"schema is {campaign.get('schema')!r}, not 'assay.campaign/1'")
    for key in ("experiment", "question", "answer", "unit", "machine", "twin_control", "warnings", "claims"):
        if key not in campaign:
            found.append(f"no key {key!r}")
    for key, check in (("contrasts", contrast_complaints), ("cells", cell_complaints)):
        entries = campaign.get(key) or []
        if not entries:
            found.append(f"no {key}")
        for entry in entries:
            found += check(entry)
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        campaign = json.load(file)
    found = complaints(campaign)
    for complaint in found:
        print(f"{sys.argv[1]}: {complaint}", file=sys.stderr)
    if found:
        sys.exit(1)
    print(f"{len(campaign['cells'])} cells and {len(campaign['contrasts'])} contrasts, none failed: {campaign['answer']}")


if __name__ == "__main__":
    main()
