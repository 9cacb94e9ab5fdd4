#!/usr/bin/env python3
"""Prints the second document's tables beside what was found here, as Markdown.

Use: casebook/varint/document_tables.py [--rates] EXPERIMENT.toml CAMPAIGN.json [EXPERIMENT.toml CAMPAIGN.json ...]

The document's figures are the claims of the experiment file; those found here come from `assay run --json` of it. A dash is
what the document does not print, or what was not counted here. With --rates: bytes and values per second, the document's from
document_rates.tsv, and the bytes of a value that follow from them.
"""

import json
import pathlib
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


UNITS = {"Mi": 2**20, "Gi": 2**30, "M": 1e6, "G": 1e9}


def rate(text):
    """1.5Gi as a number per second, or None for a dash."""
    number = text.rstrip("MGi")
    return None if text == "-" else float(number) * UNITS[text.removeprefix(number)]


def document_rates():
    """Benchmark: bytes and values per second, as the document has them."""
    lines = pathlib.Path(__file__).with_name("document_rates.tsv").read_text(encoding="utf-8").splitlines()
    named = (line.split("\t") for line in lines if not line.startswith("#"))
    return {name: (rate(size), rate(values)) for name, size, values in named}


def rates_table(experiments):
    """Rows of rates; a benchmark of the document that no campaign has is left out."""
    here = {}
    for experiment, campaign in experiments:
        for name, (_, cell) in rows(experiment, campaign).items():
            found = cell and not cell.get("failed") and cell.get("throughput")
            if found:
                here[name] = (found["gigabytes_per_second"] * 1e9, found["million_units_per_second"] * 1e6)
    titles = ("GB/s", "million/s", "bytes each")
    table = [["benchmark"] + [f"{title}, {whose}" for title in titles for whose in ("document", "here")]]
    for name, document in document_rates().items():
        if name in here:
            line = [f"`{name}`"]
            for one, scale in enumerate((1e9, 1e6)):
                line += [digits(side[one] and side[one] / scale) for side in (document, here[name])]
            table.append(line + [digits(size / values) if values else "-" for size, values in (document, here[name])])
    return table


def read(paths):
    """(experiment, campaign) of each pair of files."""
    for experiment, campaign in zip(paths[::2], paths[1::2]):
        with open(experiment, "rb") as file, open(campaign, encoding="utf-8") as page:
            yield tomllib.load(file), json.load(page)


def main(paths):
    rates = paths[:1] == ["--rates"]
    paths = paths[rates:]
    if not paths or len(paths) % 2:
        sys.exit(__doc__)
    table = rates_table(read(paths)) if rates else figures_table(read(paths))
    for line in [table[0], ["---"] * len(table[0]), *table[1:]]:
        print("| " + " | ".join(line) + " |")


def figures_table(experiments):
    """Rows of figures; columns without any are left out."""
    table = [["benchmark"] + [f"{title}, {whose}" for title in TITLES for whose in ("document", "here")]]
    for experiment, campaign in experiments:
        for name, (document, cell) in rows(experiment, campaign).items():
            # A name with <true> in it would be taken for a tag.
            line = [f"`{name}`" if "<" in name else name]
            for key, here in FIGURES.items():
                measured = here(cell) if cell and not cell.get("failed") else None
                line += [digits(document.get(key)), digits(measured)]
            table.append(line)
    kept = [column for column in zip(*table) if any(figure != "-" for figure in column[1:])]
    return list(zip(*kept))


if __name__ == "__main__":
    main(sys.argv[1:])
