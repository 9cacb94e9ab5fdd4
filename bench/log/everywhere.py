#!/usr/bin/env python3
"""What the log of an instrumented program costs over the casebook's cells, or over a whole program.

Usage: bench/log/everywhere.py [--turns N] [--predictors A,B] [--compiler gcc,clang] [EXPERIMENT.toml...]
       bench/log/everywhere.py [--turns N] [--predictors A,B] --build CMD -- PROGRAM WORDS...

A cell is a flag set, a variant and an input, by each compiler; without a name all experiments of the casebook in C and C++ are
measured. Ways take turns: as built, with records that nobody reads, with a reader that counts, with each predictor on it. Figures
are medians over the turns, then the median and the worst of all cells: processor time of the program, and the time until the
last record was read, as ratios to the program as built. Needs cargo, two processors. Standard library only.
"""

import argparse
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
# Each program once: other experiments of these folders build the same sources for other inputs.
EXPERIMENTS = [
    "varint/experiment.toml",
    "varint/decoders.toml",
    "varint/oneshot.toml",
    "dispatch/experiment.toml",
    "lookup/experiment.toml",
    "lookup/one_value.toml",
    "hashing/experiment.toml",
    "allocator/experiment.toml",
]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", default="1")
    parser.add_argument("--predictors", default="gshare")
    parser.add_argument("--compiler", default="gcc,clang")
    parser.add_argument("--build")
    parser.add_argument("--all", action="store_true", help="a line for each cell")
    parser.add_argument("words", nargs="*")
    return parser.parse_args()


def driver():
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--locked", "-p", "assay-lab", "--example", "log_ways"],
        check=True,
        cwd=TOP,
    )
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(TOP, "target"))
    return os.path.join(target, "release", "examples", "log_ways")


def lines(command):
    """Of each cell its turns, and what was refused."""
    # What the program writes itself goes nowhere.
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    cells, refused = {}, []
    for line in done.stderr.splitlines():
        words = line.split()
        if words[:1] == ["cell"]:
            cells.setdefault(" ".join(words[1:4]), []).append([int(word) for word in words[4:]])
        elif words[:1] == ["refused"]:
            refused.append(line)
    return cells, refused


def ratios(turns):
    """Conditional branches a nanosecond, the program's time with records thrown away and read, and with each way of reading the time of all."""
    columns = [lambda turn: turn[0] / turn[1], lambda turn: turn[3] / turn[1], lambda turn: turn[5] / turn[1]]
    columns += [lambda turn, at=at: turn[at] / turn[2] for at in range(6, len(turns[0]), 2)]
    return [statistics.median(column(turn) for turn in turns) for column in columns]


def main():
    asked = arguments()
    predictors = [name for name in asked.predictors.split(",") if name]
    names = ["conditional branches/ns", "thrown away", "read", "all, counted", *predictors]
    log_ways = driver()
    begin = [log_ways, "program" if asked.build else "cells", asked.turns, asked.predictors]
    rows = []
    if asked.build:
        found = [("", lines([*begin, asked.build, *asked.words]))]
    else:
        files = asked.words or [os.path.join(TOP, "casebook", name) for name in EXPERIMENTS]
        found = (
            (f"{os.path.relpath(file, TOP)} {compiler}", lines([*begin, file, compiler]))
            for compiler in asked.compiler.split(",")
            for file in files
        )
    for title, (cells, refused) in found:
        if not all(turn[1] > 0 and turn[2] > 0 for turns in cells.values() for turn in turns):
            sys.exit("the program ends before its processor time can be told: give it more to do")
        own = [(cell, ratios(turns)) for cell, turns in cells.items()]
        rows += own
        show(title, own, names, asked.all)
        for line in refused:
            print(f"    {line[:150]}", flush=True)
    if len(rows) > 1:
        show("all", rows, names, False)


def show(title, rows, names, each):
    print(f"{title}: {len(rows)} cells  {'  '.join(names)}", flush=True)
    for cell, row in rows if each else []:
        print(f"    {cell:50} {'  '.join(f'{ratio:.2f}' for ratio in row)}")
    for name, of in (("median", statistics.median), ("worst", max)) if rows else ():
        print(f"    {name:8} {'  '.join(f'{of(row[at] for _, row in rows):.2f}' for at in range(len(names)))}")


if __name__ == "__main__":
    main()
