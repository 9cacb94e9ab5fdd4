#!/usr/bin/env python3
"""Prints the second document's tables beside what was found here, as Markdown.

Use: casebook/varint/document_tables.py EXPERIMENT.toml CAMPAIGN.json [EXPERIMENT.toml CAMPAIGN.json ...]

The document's figures are the claims of the experiment file; those found here come from `assay run --json` of it. A dash is
what the document does not print, or what was not counted here.
"""

import json
import sys
import tomllib

# A claim's key, and where a cell of the campaign has it.
FIGURES = {
    "ns_per_unit": lambda cell: cell["ns_per_unit"]["median"],
    "misses_per_unit": lambda cell: count(cell, "branch-misses"),
    "instructions_per_unit": lambda cell: count(cell, "instructions"),
    "branches_per_unit": lambda cell: count(cell, "branches"),
    "cycles_per_unit": lambda cell: count(cell, "cycles"),
}
TITLES = ["ns", "misses", "instructions", "branches", "cycles"]
PREFIX = "document 2, "


def count(cell, event):
    """An event per unit, or None."""
    found = cell.get("per_unit", {}).get(event)
    return None if found is None else found["value"]


def digits(number):
    """Four significant figures as far as they mean something."""
    if number is None:
        return "-"
    if 0 < number < 0.0005:
        return f"{number:.0e}"
    return f"{number:.3f}" if number < 1 else f"{number:.2f}"


def rows(experiment, campaign):
    """Benchmark, and per figure (document, here), in the order of the claims."""
    cells = {(cell["variant"], cell["input"]): cell for cell in campaign["cells"]}
    found = {}
    for claim in experiment["claims"]:
        source = claim.get("source", "")
        if not source.startswith(PREFIX) or len(claim.get("inputs", [])) != 1:
            continue
        cell = cells.get((claim.get("candidate"), claim["inputs"][0]))
        row = found.setdefault(source.removeprefix(PREFIX), ({}, cell))
        row[0].update({key: claim[key] for key in FIGURES if key in claim})
    # Some claims compare, and print no figure.
    return {name: row for name, row in found.items() if row[0]}


def main(paths):
    if not paths or len(paths) % 2:
        sys.exit(__doc__)
    table = [["benchmark"] + [f"{title}, {whose}" for title in TITLES for whose in ("document", "here")]]
    for experiment, campaign in zip(paths[::2], paths[1::2]):
        with open(experiment, "rb") as file:
            experiment = tomllib.load(file)
        with open(campaign, encoding="utf-8") as file:
            campaign = json.load(file)
        for name, (document, cell) in rows(experiment, campaign).items():
            # A name with <true> in it would be taken for a tag.
            line = [f"`{name}`" if "<" in name else name]
            for key, here in FIGURES.items():
                measured = here(cell) if cell and not cell.get("failed") else None
                line += [digits(document.get(key)), digits(measured)]
            table.append(line)
    kept = [column for column in zip(*table) if any(figure != "-" for figure in column[1:])]
    lines = list(zip(*kept))
    for line in [lines[0], ["---"] * len(kept), *lines[1:]]:
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
