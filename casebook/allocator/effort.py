#!/usr/bin/env python3
"""What each step of the diary costs: the document's effort, and the lines of the sources that it takes away or adds.

Use: casebook/allocator/effort.py             EFFORT.tsv as it should be
     casebook/allocator/effort.py --check     ends with 1 where EFFORT.tsv is another: what test.sh holds

Method: each stage's sources through the preprocessor; a line is in a stage if something of it is left and it belongs to this folder.
"""

import pathlib
import re
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
# The document's own column, by the step that it names.
DOCUMENT = {"debug": "-", "release": "1 line", "config_once": "1 day", "two_layers": "2 days", "hints": "1 day"}


def lines_of(flags):
    """File and line of all code that a stage has."""
    text = subprocess.run(["gcc", "-std=gnu11", "-E", *flags.split(), "tiny.c"], cwd=HERE, check=True, capture_output=True,
                          text=True).stdout
    found, file, number = set(), "", 0
    for line in text.splitlines():
        marker = re.match(r'# (\d+) "(.*?)"', line)
        if marker:
            number, file = int(marker[1]), marker[2]
            continue
        if line.strip() and "/" not in file and not file.startswith("<"):
            found.add((file, number, " ".join(line.split())))
        number += 1
    return found


def table():
    stages = tomllib.loads((HERE / "STAGES.toml").read_text(encoding="utf-8"))["stages"]
    code = {stage["name"]: lines_of(stage["flags"]) for stage in stages}
    rows = ["# Each step of the diary: the document's effort, lines of code gone and new here. Made by effort.py.",
            "stage\tafter\tdocument\tgone\tnew"]
    for before, stage in zip([None, *stages], stages):
        name, after = stage["name"], stage.get("after", before and before["name"])
        gone, new = (len(code[after] - code[name]), len(code[name] - code[after])) if after else ("-", "-")
        rows.append(f"{name}\t{after or '-'}\t{DOCUMENT.get(name, '-')}\t{gone}\t{new}")
    return "\n".join(rows) + "\n"


def main(words):
    if words == ["--check"]:
        if table() != (HERE / "EFFORT.tsv").read_text(encoding="utf-8"):
            sys.exit("effort.py: EFFORT.tsv is not what the sources say: casebook/allocator/effort.py > EFFORT.tsv")
        print("EFFORT.tsv: what the sources say")
    elif words:
        sys.exit(__doc__)
    else:
        print(table(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
