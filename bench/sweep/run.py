#!/usr/bin/env python3
"""A sweep beside an exhaustive fine grid of the same key, variants and measuring time per point: are the crossovers the same, and
what does each cost?

    bench/sweep/run.py [--assay target/release/assay] [--fine 101] [--budget 45] [--refine 8] [--json FILE]

Both are `assay sweep`: the fine grid has --refine 0 and as many points as --fine says, and is measured first; a point of the sweep
gets the seconds that one of the grid took. Exit code 0 where each crossover of the grid lies within the interval that the sweep gives for it and the sweep took a
quarter of the grid's time or less; 1 where not."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "casebook/varint/sweeps.toml"
# (what, key, from, to, scale, points of the sweep, tolerance, variants)
CASES = [
    ("share", "inputs.mixed.multi_byte", "0 %", "100 %", "linear", 7, "0.01", ["bmi2"]),
    ("memory", "inputs.repeated.distinct_units", "1k", "1M", "geometric", 7, "8 %", ["swar"]),
    ("bursts", "inputs.bursts.mean_length", "1", "256", "geometric", 7, "8 %", ["bmi2"]),
]


def sweep(arguments, case, points, refine, budget, folder):
    """One sweep; (page, seconds on the wall clock)."""
    _, key, low, high, scale, _, tolerance, variants = case
    page = folder / f"{case[0]}-{points}.json"
    command = [arguments.assay, "sweep", str(FILE), "--key", key, "--from", low, "--to", high, "--scale", scale]
    command += ["--points", str(points), "--refine", str(refine), "--tolerance", tolerance]
    command += ["--budget", str(budget), "--quiet", "--json", str(page), "--ledger", str(folder / "ledger.db")]
    for variant in variants:
        command += ["--variant", variant]
    began = time.monotonic()
    ran = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    elapsed = time.monotonic() - began
    if ran.returncode:
        sys.exit(f"{' '.join(command)}\n{ran.stderr}")
    return json.loads(page.read_text()), elapsed


def crossovers(page):
    return page["series"][0]["pairs"][0]["crossovers"]


def show(found):
    return ", ".join(f"{c['at']:.5g} ({c['lower']:.5g} to {c['upper']:.5g})" for c in found) or "none"


def compare(arguments, case, folder):
    points, fine = case[5], arguments.fine
    second = sweep(arguments, case, fine, 0, arguments.budget, folder)
    # The same seconds of measuring for a point on both sides: those that the grid used, as a whole round more of all its points
    # may not fit into its budget.
    share = second[0]["measured"]["seconds"] / len(second[0]["points"])
    first = sweep(arguments, case, points, arguments.refine, share * (points + arguments.refine), folder)
    swept, grid = crossovers(first[0]), crossovers(second[0])
    inside = len(swept) == len(grid) and all(
        few["lower"] <= many["at"] <= few["upper"] for few, many in zip(swept, grid)
    )
    measured = [page["measured"]["seconds"] for page, _ in (first, second)]
    parts = measured[0] / measured[1], first[1] / second[1]
    counted = [len(page["points"]) for page, _ in (first, second)]
    print(f"{case[0]}: {case[1]} from {case[2]} to {case[3]}")
    print(f"  sweep     {counted[0]:3} points, {measured[0]:6.1f} s of measuring, {first[1]:6.1f} s in all: {show(swept)}")
    print(f"  fine grid {counted[1]:3} points, {measured[1]:6.1f} s of measuring, {second[1]:6.1f} s in all: {show(grid)}")
    verdict = "each within the sweep's interval" if inside else "NOT each within the sweep's interval"
    print(f"  {verdict}; {parts[0]:.0%} of the measuring, {parts[1]:.0%} of the time in all", flush=True)
    return {
        "case": case[0],
        "sweep": swept,
        "grid": grid,
        "points": counted,
        "measured_seconds": measured,
        "elapsed_seconds": [first[1], second[1]],
        "within": inside,
        "share_of_measuring": parts[0],
        "share_of_time": parts[1],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", default=str(ROOT / "target/release/assay"))
    parser.add_argument("--fine", type=int, default=101, help="points of the fine grid")
    parser.add_argument("--budget", type=float, default=45, help="seconds of measuring for the fine grid")
    parser.add_argument("--refine", type=int, default=8, help="further points of the sweep at most")
    parser.add_argument("--json", help="write the figures there")
    parser.add_argument("--case", action="append", help="only these")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # What both find in the store: links and inputs of the range's ends.
        cases = [case for case in CASES if not arguments.case or case[0] in arguments.case]
        sweep(arguments, cases[0], 2, 0, 0.1, folder)
        found = [compare(arguments, case, folder) for case in cases]
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(found, indent=2) + "\n")
    return 0 if all(case["within"] and case["share_of_time"] <= 0.25 for case in found) else 1


if __name__ == "__main__":
    sys.exit(main())
