#!/usr/bin/env python3
"""What `assay stat` costs beside cachegrind and plain emulation, in one go on one workload.

Usage: bench/stat/run.py [REPEATS] [SIZE]    (default 5 repeats, branchy 2000: 256 million branches)

Ways take turns, so that other work on the machine meets all of them; each figure is the median over the repeats and in
brackets the least. The bounds are those of the project's plan, as ratios to cachegrind's time.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
LIMIT_SECONDS = 600


def build(folder):
    """The workload and the lab with its plugin; returns both programs."""
    workload = os.path.join(folder, "branchy")
    subprocess.run(["cc", "-O2", "-g", "-o", workload, os.path.join(HERE, "branchy.c")], check=True)
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--locked", "-p", "assay"], check=True, cwd=TOP
    )
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(TOP, "target"))
    return workload, os.path.join(target, "release", "assay")


def ways(workload, size, assay, folder):
    """Name, command, bound as a ratio to cachegrind (or None), what must be there."""
    guest = [workload, size]
    emulator = "qemu-" + os.uname().machine
    stat = [assay, "stat", "--quiet", "--source", "traced", "-o", os.path.join(folder, "report.txt")]
    cachegrind = ["valgrind", "--quiet", "--tool=cachegrind", "--cache-sim=no", "--branch-sim=yes"]
    cachegrind.append("--cachegrind-out-file=/dev/null")
    return [
        ("alone", guest, None, workload),
        ("qemu-user", [emulator, *guest], None, emulator),
        ("cachegrind", [*cachegrind, *guest], None, "valgrind"),
        ("stat, counts only", [*stat, "--predictor", "none", "--", *guest], 0.5, emulator),
        ("stat, gshare", [*stat, "--predictor", "gshare", "--", *guest], 0.75, emulator),
        ("stat, TAGE", [*stat, "--predictor", "tage", "--", *guest], 4.0, emulator),
        ("stat, default", [*stat, "--", *guest], None, emulator),
    ]


def seconds(command):
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LIMIT_SECONDS)
    elapsed = time.perf_counter() - started
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return elapsed


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    size = sys.argv[2] if len(sys.argv) > 2 else "2000"
    with tempfile.TemporaryDirectory() as folder:
        workload, assay = build(folder)
        table = []
        for way in ways(workload, size, assay, folder):
            if shutil.which(way[3]) is None:
                print(f"skipped: {way[0]} ({way[3]} is not on PATH)")
            else:
                table.append(way)
        times = {name: [] for name, *_ in table}
        for _ in range(repeats):
            for name, command, *_ in table:
                times[name].append(seconds(command))
        branches = None
        with open(os.path.join(folder, "report.txt"), encoding="utf-8") as report:
            found = re.search(r"([\d,]+) branches", report.read())
            branches = int(found.group(1).replace(",", "")) if found else None
    show(table, times, branches, size, repeats)


def show(table, times, branches, size, repeats):
    medians = {name: statistics.median(values) for name, values in times.items()}
    reference = medians.get("cachegrind")
    print(f"branchy {size}: {branches or 0:,} branches, {repeats} repeats")
    print(f"{'way':20} {'seconds':>8} {'(least)':>9} {'of cachegrind':>14} {'bound':>6} {'ns/branch':>10}")
    for name, _, bound, _ in table:
        ratio = medians[name] / reference if reference else None
        shown = f"{ratio:14.2f}" if ratio else " " * 14
        limit = f"{bound:6.2f}" if bound else " " * 6
        each = f"{medians[name] / branches * 1e9:10.2f}" if branches else ""
        missed = "  over its bound" if ratio and bound and ratio > bound else ""
        print(f"{name:20} {medians[name]:8.2f} ({min(times[name]):7.2f}) {shown} {limit} {each}{missed}")


if __name__ == "__main__":
    main()
