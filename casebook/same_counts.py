#!/usr/bin/env python3
"""Does an instrumented build count what the emulator counts, on every cell of the studies?

    casebook/same_counts.py [FILE...]       FILE: varint/demo.toml and its like; default: every experiment of the casebook

Each experiment is counted twice, `assay run --source instrumented` and `--source traced`, from one seed, so that both
count the same binaries. For each binary, variant, input and walk these must be equal: units, instructions, branches,
conditional ones, and what each of several predictors mispredicts. Those see every branch's address, outcome and target,
in order: `always-taken` tells how many were not taken, `bimodal` goes by site, the others by history, targets, returns.
Exits with 1 if a cell differs. What had no instrumented build is said with its reason, and so is how much the emulator
could not execute, as it has no AVX-512: what it counts there is of another build.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

CASEBOOK = pathlib.Path(__file__).resolve().parent
TOP = CASEBOOK.parent
# What hashes with its own addresses, which differ from run to run.
BY_ADDRESS = {"hashing/swissmap.toml": {"hot", "cold", "hot_mixed", "cold_mixed"}}
PREDICTORS = "always-taken,bimodal,gshare,two-level,tage,ittage,return-stack-16"
SECONDS = 2


def experiments():
    """Experiment files of the studies, by name; other TOML files have no variants."""
    found = sorted(CASEBOOK.glob("*/*.toml"))
    return [str(file.relative_to(CASEBOOK)) for file in found if re.search(r"^\[\[?variant", file.read_text(encoding="utf-8"), re.M)]


def loaded(hash, folder):
    """What a program is but for symbols and debug information: zig names another folder there each time it compiles."""
    stripped = folder / "stripped"
    program = folder / "store" / "artifacts" / f"{hash[:20]}.elf"
    subprocess.run(["objcopy", "--strip-all", str(program), str(stripped)], check=True)
    return hashlib.sha256(stripped.read_bytes()).hexdigest()


def counted(file, source, folder):
    """What is counted of each cell, from `source`, and reasons why others are not."""
    assay = os.environ.get("ASSAY", str(TOP / "target/release/assay"))
    ledger, page = folder / f"{source}.db", folder / f"{source}.json"
    command = [assay, "run", str(CASEBOOK / file), "--source", source, "--predictor", PREDICTORS, "--quiet", "--quick"]
    command += ["--budget", str(SECONDS), "--seed", "1", "--timeout", "60"]
    command += ["--ledger", str(ledger), "--store", str(folder / "store"), "--json", str(page)]
    # zig as set-up installs it. Where cargo sets no units, rustc divides a crate as it likes, and no build can follow.
    path = f"{TOP / 'target/zig/bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "1"}
    ended = subprocess.run(command, cwd=TOP, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if not page.exists():
        return {}, collections.Counter([ended.stderr.strip().splitlines()[0] if ended.stderr.strip() else "no page"])
    pages = json.loads(page.read_text(encoding="utf-8"))
    cells = [cell for one in (pages if isinstance(pages, list) else [pages]) for cell in one["cells"]]
    # 1: a variant failed, and the rest was counted.
    reasons = [cell["failed"]["reason"] if cell["failed"] else cell["uncounted"] and cell["uncounted"]["reason"] for cell in cells]
    rows = sqlite3.connect(ledger).execute(
        "SELECT executed, variant, input, walk, source, note, units, instructions, branches, conditional, misses FROM count"
    )
    rows = rows.fetchall()
    programs = {hash: loaded(hash, folder) for hash in {row[0] for row in rows}}
    return {(programs[row[0]], *row[1:4]): row[4:] for row in rows}, collections.Counter(filter(None, reasons))


def compare(file):
    """Counts the experiment both ways; the cells that are equal, differ, and have one count alone."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        native, refused = counted(file, "instrumented", folder)
        emulated, failed = counted(file, "traced", folder)
    logged = {key: row for key, row in native.items() if row[0] == "instrumented"}
    by_address = {key for key in logged if key[1] in BY_ADDRESS.get(file, ())}
    both = sorted((logged.keys() & emulated.keys()) - by_address)
    differing = [key for key in both if logged[key][2:] != emulated[key][2:]]
    alone = len(logged.keys() - emulated.keys())
    print(f"{file}: {len(both) - len(differing)} equal, {len(differing)} different", end="")
    print(f", {alone} only without emulation" if alone else "", end="")
    print(f", {len(by_address)} go by addresses" if by_address else "", end="")
    print(f", {len(native) - len(logged)} not instrumented" if len(native) > len(logged) else "", flush=True)
    for key in differing:
        print(f"  {' '.join(key[1::2])} of {key[0][:8]}: {logged[key][2:]}, emulated {emulated[key][2:]}")
    notes = collections.Counter(row[1] for row in native.values() if row[0] != "instrumented")
    for name, said in (("not instrumented", notes), ("not counted", refused), ("not counted by the emulator", failed)):
        for reason, times in said.items():
            print(f"  {name}, {times}: {reason}", flush=True)
    return len(both) - len(differing), len(differing), alone, len(native) - len(logged)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", metavar="FILE")
    found = [compare(file) for file in parser.parse_args().files or experiments()]
    equal, different, alone, not_instrumented = map(sum, zip(*found))
    print(f"{equal} equal, {different} different, {alone} only without emulation, {not_instrumented} not instrumented")
    # A run that compared nothing proves nothing.
    sys.exit(1 if different or not equal else 0)


if __name__ == "__main__":
    main()
