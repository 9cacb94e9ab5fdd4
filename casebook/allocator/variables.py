#!/usr/bin/env python3
"""What getenv costs by variable: branches of the first stage per operation, by how many variables there are and what they are called.

    casebook/allocator/variables.py        (ASSAY: another program than target/release/assay)

The stage asks for TINY_TRACE, TINY_PROFILE and TINY_FRONT_CACHE at each call. glibc compares a variable's first two
characters with those of the name, and the rest only where both are the same. Counts come from the emulator: exact but
for a few branches, since the stage's profile loops over the bits of a cycle count.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ASSAY = os.environ.get("ASSAY", str(HERE.parent.parent / "target/release/assay"))
OPERATIONS = 20000
# Name, and what a variable of this kind is called.
KINDS = [
    ("another first letter", "EDITOR{}"),
    ("T, as the names", "TERM{}"),
    ("TI, as the names", "TIMEZONE{}"),
    ("TINY_, as the names", "TINY_OTHER{}"),
]


def branches(program, variables):
    """Per operation, start-up subtracted."""
    counted = []
    for operations in (OPERATIONS, 1):
        with tempfile.NamedTemporaryFile(suffix=".json") as page:
            words = [program, "mixed", str(operations), "256", "42"]
            environment = [f"{name}=1" for name in variables]
            subprocess.run(
                [ASSAY, "stat", "--source", "traced", "-e", "branches", "--json", page.name, "--", "env", "-i", *environment, *words],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            found = json.load(open(page.name, encoding="utf-8"))
        counted.append(next(one["value"]["mean"] for one in found["events"] if one["event"] == "branches"))
    return (counted[0] - counted[1]) / (OPERATIONS - 1)


def main():
    stages = tomllib.loads((HERE / "STAGES.toml").read_text(encoding="utf-8"))["stages"]
    flags = next(stage["flags"] for stage in stages if stage["name"] == "debug")
    with tempfile.TemporaryDirectory() as folder:
        built = subprocess.run(["make", "-s", "-C", HERE, "stage", f"FLAGS={flags}", f"OUT={folder}"], check=False)
        if built.returncode:
            sys.exit("variables.py: the stage does not build")
        program = f"{folder}/bench"
        none = branches(program, [])
        print(f"no variable: {none:.1f} branches an operation\n\n| variables that begin with | 10 of them | 20 | each |\n|---|--:|--:|--:|")
        for name, pattern in KINDS:
            ten, twenty = (branches(program, [pattern.format(number) for number in range(many)]) for many in (10, 20))
            print(f"| {name} (`{pattern.format(0)}`) | {ten:.1f} | {twenty:.1f} | {(twenty - ten) / 10:.2f} |")


if __name__ == "__main__":
    main()
