#!/usr/bin/env python3
"""Writes the licences of what is linked into the program: each text once, below the crates that have it.

    scripts/third_party.py [--target TRIPLE] > THIRD-PARTY.txt

The crates are those that cargo links into the package `assay` for that target; their texts lie in their sources, which
cargo has unpacked. C libraries that a crate bundles have theirs one folder below.
"""

import json
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
# What our own crates carry of others beside crates: libraries for pages, a font for pictures, a predictor.
CARRIED = "crates/*/src/**/*"
NAMES = re.compile(r"^(licen[cs]e|copying|unlicense|notice)", re.IGNORECASE)


def cargo(*words):
    return subprocess.run(["cargo", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def linked(target):
    """Names and versions of the crates."""
    words = ["tree", "-p", "assay", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]
    lines = cargo(*words, *(["--target", target] if target else [])).splitlines()
    pairs = {tuple(line.split()[:2]) for line in lines if line}
    return sorted((name, version.lstrip("v")) for name, version in pairs if not name.startswith("assay"))


def texts(folder):
    """The licences in a crate's sources, by file."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and NAMES.match(path.name)]
    for below in sorted(path for path in folder.iterdir() if path.is_dir()):
        files += [path for path in sorted(below.iterdir()) if path.is_file() and NAMES.match(path.name)]
    return [path.read_text(errors="replace").strip() for path in files]


def main():
    target = sys.argv[2] if sys.argv[1:2] == ["--target"] else None
    packages = json.loads(cargo("metadata", "--format-version", "1", "--locked"))["packages"]
    known = {(package["name"], package["version"]): package for package in packages}
    owners, without = {}, []
    for key in linked(target):
        package = known[key]
        label = f"{key[0]} {key[1]} ({package['license'] or 'see its text'})"
        found = texts(pathlib.Path(package["manifest_path"]).parent)
        for text in found:
            owners.setdefault(text, []).append(label)
        if not found:
            without.append(label)
    print("assay links these crates. Each text stands below the crates that come with it.\n")
    if without:
        print("Without a text of their own (the licence that they name applies):")
        print("".join(f"  {label}\n" for label in without))
    for path in sorted(path for path in TOP.glob(CARRIED) if path.is_file() and NAMES.match(path.name)):
        owners.setdefault(path.read_text(errors="replace").strip(), []).append(f"files in {path.parent.relative_to(TOP)}")
    for text, labels in owners.items():
        print("=" * 100)
        print("".join(f"  {label}\n" for label in labels))
        print(text + "\n")


if __name__ == "__main__":
    main()
