#!/usr/bin/env python3
"""Runs the tutorial: every file of it is written, every command executed, every output compared.

    scripts/test_tutorial.py [DOCUMENT]      docs/book/tutorial.md by default

In a block ```c NAME the text is a file. In a block ```console a line with `$ ` is a command, and what follows is what it
prints: numbers stand for any number, `...` for any text, line breaks for any white space. What is measured differs from
run to run, so of such a page the document shows what is always there.

ASSAY names the program; else the newer one of target/release/assay and target/debug/assay. Without one, without gcc or without git
the test is skipped and says so.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[+\-−±]?\s?\d[\d,]*(\.\d+)*(e-?\d+)?")
HEXADECIMAL = re.compile(r"\b[0-9a-f]{16}\b")


def masked(text):
    """Without what differs from run to run: numbers, and how text is broken into lines."""
    return re.sub(r"\s+", " ", NUMBER.sub("#", HEXADECIMAL.sub("#", text))).strip()


def agrees(expected, printed):
    """Whether all that is expected was printed, in order; between `...` and whole where there is none."""
    # What a program says beside its figures on a busy machine.
    printed = printed.replace("other work interrupted every sample", "")
    parts = [masked(part) for part in re.split(r"^\.\.\.$", expected, flags=re.MULTILINE)]
    printed = masked(printed)
    if len(parts) == 1:
        return parts[0] == printed
    at = 0
    for index, part in enumerate(parts):
        found = printed.find(part, at)
        if found < 0 or index == 0 and part and found > 0:
            return False
        at = found + len(part)
    return True


def commands(block):
    """Commands with what they print."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def program():
    if given := os.environ.get("ASSAY"):
        return pathlib.Path(given).resolve()
    built = [path for path in (TOP / "target/release/assay", TOP / "target/debug/assay") if os.access(path, os.X_OK)]
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


def main():
    document = pathlib.Path(sys.argv[1]) if sys.argv[1:] else TOP / "docs/book/tutorial.md"
    assay = program()
    lacking = [name for name in ("gcc", "cc", "git") if not shutil.which(name)]
    if not assay or lacking:
        print(f"skipped: the tutorial, for {'assay is not built' if not assay else 'there is no ' + lacking[0]}")
        return
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for name in ("bin", "work", "home"):
            (scratch / name).mkdir()
        (scratch / "bin/assay").symlink_to(assay)
        environment = {
            **os.environ,
            "PATH": f"{scratch / 'bin'}:{os.environ['PATH']}",
            "HOME": str(scratch / "home"),
            "XDG_CACHE_HOME": str(scratch / "home/cache"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "COLUMNS": "80",
            "NO_COLOR": "1",
        }
        for language, name, text in BLOCK.findall(document.read_text()):
            if name:
                (scratch / "work" / name).write_text(text)
            if language != "console":
                continue
            for command, expected in commands(text):
                ran = subprocess.run(
                    ["bash", "-c", command], cwd=scratch / "work", env=environment, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600,
                )  # fmt: skip
                if agrees(expected, ran.stdout):
                    passed += 1
                    print(f"ok: {command}")
                else:
                    failed += 1
                    print(f"FAILED: {command}\nexpected:\n{expected}\nprinted:\n{ran.stdout}\n{ran.stderr}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
