#!/usr/bin/env python3
"""What each processor said of the studies: kept as data, shown as a table and a picture in each study.

    casebook/results.py                          make every table and picture from the data
    casebook/results.py --check                  fail where one is not what the data say
    casebook/results.py measure --conditions TEXT [STUDY...]    measure here what the studies show, and keep it

The data are STUDY/results/CPU.json: one campaign per experiment file, the newest that was kept, with the time of each
cell and each contrast. STUDY/results/rows.toml chooses the rows that the README shows; all else is data to look up. The
table stands in the README between `<!-- by processor -->` and `<!-- end of by processor -->`, the picture is
STUDY/results/by_processor.svg. A figure that a processor has not measured is a dash. Needs Python 3.11.
"""

import argparse
import json
import math
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import textwrap
import tomllib

CASEBOOK = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(CASEBOOK.parent / "scripts"))
import pictures  # noqa: E402

BEGIN, END = "<!-- by processor -->", "<!-- end of by processor -->"
# File name and column of a processor, by vendor, family and models; in the order of the columns.
PROCESSORS = [
    ("sunny-cove", "Intel, Sunny Cove", "GenuineIntel", 6, {0x6A, 0x6C, 0x7D, 0x7E, 0x8C, 0x8D, 0xA7}),
    ("golden-cove", "Intel, Golden Cove", "GenuineIntel", 6, {0x8F, 0x97, 0x9A, 0xB7, 0xBA, 0xBF, 0xCF}),
    ("zen3", "AMD, Zen 3", "AuthenticAMD", 25, {*range(0x00, 0x10), *range(0x20, 0x60)}),
    ("zen4", "AMD, Zen 4", "AuthenticAMD", 25, {*range(0x10, 0x20), *range(0x60, 0xB0)}),
    ("zen5", "AMD, Zen 5", "AuthenticAMD", 26, {*range(0x00, 0x50), *range(0x60, 0x80)}),
]
STYLES = {"AMD, Zen 4": "s0", "Intel, Golden Cove": "s1", "AMD, Zen 3": "s2", "Intel, Sunny Cove": "s3", "AMD, Zen 5": "s4"}
CELL = ["variant", "input", "compiler", "flags"]
CONTRAST = ["candidate", "baseline", "input", "compiler", "flags", "against"]


def studies():
    return sorted(path.parent.parent.name for path in CASEBOOK.glob("*/results/rows.toml"))


def processor(cpu_id):
    """File name and column of "AuthenticAMD 25 17"."""
    vendor, family, model = cpu_id.split()
    for name, column, *kind, models in PROCESSORS:
        if kind == [vendor, int(family)] and int(model) in models:
            return name, column
    sys.exit(f"no name is known for the processor {cpu_id}: add it to PROCESSORS of {__file__}")


def this_cpu():
    fields = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    return f'{fields["vendor_id"]} {fields["cpu family"]} {fields["model"]}'


def shortened(value):
    """Four significant digits: more than any figure here is worth."""
    return None if value is None else float(f"{value:.4g}")


def interval(found):
    return {"ns": shortened(found["median"]), "lower": shortened(found["lower"]), "upper": shortened(found["upper"])}


# ---- what a page says, as rows


def of_campaign(page):
    cells = []
    for cell in page["cells"]:
        if cell.get("failed") or not cell.get("ns_per_unit"):
            continue
        row = {key: cell[key] for key in CELL} | interval(cell["ns_per_unit"])
        if cell.get("as_built_ns"):
            row["as_built_ns"] = shortened(cell["as_built_ns"])
        if cell.get("range"):
            row["slow"], row["placements"] = cell["range"]["slow_placements"], cell["range"]["placements"]
        for event, count in cell.get("per_unit", {}).items():
            row[event] = shortened(count["value"])
        cells.append(row)
    if cost := page.get("branch_cost"):
        predictor = {"variant": "branch predictor", "input": "", "compiler": "", "flags": ""}
        cells.append(predictor | {"ns": shortened(cost["penalty_ns"]), "memorised": cost.get("learned_outcomes")})
    contrasts = []
    for found in page["contrasts"]:
        row = {key: found[key] for key in CONTRAST} | {"verdict": found["verdict"]}
        if build := found["against"]:
            row["against"] = f'{build["compiler"]}, {build["flags"]}'
        if found.get("code"):
            row |= {key: shortened(100 * (found["code"][key] - 1)) for key in ("ratio", "lower", "upper")}
        if found.get("as_built"):
            row["as_built"] = shortened(100 * (found["as_built"]["ratio"] - 1))
        contrasts.append(row)
    return page["campaign"]["started"], cells, contrasts


def of_sweep(page):
    cells = []
    for series in page["series"]:
        build = {"compiler": series["compiler"], "flags": series["flags"]}
        for curve in series["curves"]:
            for time in curve["times"]:
                cells.append(
                    {"variant": curve["variant"], "input": f'{page["key"]["sweep"]} {time["at"]:.6g}'}
                    | build
                    | interval(time["ns_per_unit"])
                )
    return page["measured"]["started"], cells, []


def of_diary(page):
    cells = []
    for role in page["roles"]:
        for cell in role["cells"]:
            row = {"variant": cell["entrant"], "input": role["name"], "compiler": "", "flags": ""}
            if cell.get("time"):
                row["ns"] = shortened(cell["time"]["ns_per_unit"])
            if cell.get("counts"):
                row["branches"] = shortened(cell["counts"]["branches_per_unit"])
            if len(row) > len(CELL):
                cells.append(row)
    contrasts = []
    for step in page["steps"]:
        code = (step.get("time") or {}).get("code")
        if code:
            effect = {key: shortened(100 * (code[key] - 1)) for key in ("ratio", "lower", "upper")}
            names = {"candidate": step["stage"], "baseline": step["baseline"], "input": step["role"]}
            contrasts.append(
                names | {"compiler": "", "flags": "", "against": None, "verdict": step["time"]["verdict"]} | effect
            )
    return max(session["started"] for session in page["sessions"]), cells, contrasts


def of_script(page):
    """What a study's own script has measured: its cells are rows already."""
    return page["started"], page["cells"], []


FORMS = {
    "assay.campaign/": of_campaign,
    "assay.sweep/": of_sweep,
    "assay.stages/": of_diary,
    "casebook.script/": of_script,
}


def read_page(path):
    page = json.loads(path.read_text(encoding="utf-8"))
    for schema, form in FORMS.items():
        if page.get("schema", "").startswith(schema):
            started, cells, contrasts = form(page)
            return started[:10], cells, contrasts
    sys.exit(f"{path}: not a page of `assay run`, `sweep` or `stages` (its schema is {page.get('schema')!r})")


# ---- data


def kept(study):
    """Column: the campaigns that a processor has, by experiment."""
    found = {}
    for name, column, *_ in PROCESSORS:
        path = CASEBOOK / study / "results" / f"{name}.json"
        if path.exists():
            campaigns = json.loads(path.read_text(encoding="utf-8"))["campaigns"]
            found[column] = {campaign["experiment"]: campaign for campaign in campaigns}
    return found


def written(value):
    """JSON with a cell or a contrast on each line, so that a change shows as lines."""
    lines = ["{", f' "processor": {json.dumps(value["processor"])},', ' "campaigns": [']
    for number, campaign in enumerate(value["campaigns"]):
        lines.append("  {")
        for key in ("experiment", "date", "command", "conditions"):
            lines.append(f"   {json.dumps(key)}: {json.dumps(campaign[key], ensure_ascii=False)},")
        for key, comma in (("cells", ","), ("contrasts", "")):
            rows = [f"    {json.dumps(row, ensure_ascii=False)}" for row in campaign[key]]
            lines.append(f"   {json.dumps(key)}: [" + ("\n" + ",\n".join(rows) + "\n   " if rows else "") + f"]{comma}")
        lines.append("  }" + ("," if number + 1 < len(value["campaigns"]) else ""))
    return "\n".join([*lines, " ]", "}"]) + "\n"


def keep(study, experiment, command, conditions, page):
    name, column = processor(this_cpu())
    date, cells, contrasts = read_page(page)
    path = CASEBOOK / study / "results" / f"{name}.json"
    value = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"processor": column, "campaigns": []}
    campaign = {
        "experiment": experiment,
        "date": date,
        "command": command,
        "conditions": conditions,
        "cells": cells,
        "contrasts": contrasts,
    }
    others = [other for other in value["campaigns"] if other["experiment"] != experiment]
    value["campaigns"] = sorted([*others, campaign], key=lambda one: one["experiment"])
    path.parent.mkdir(exist_ok=True)
    path.write_text(written(value), encoding="utf-8")
    print(f"{path.relative_to(CASEBOOK.parent)}: {experiment}, {len(cells)} cells, {len(contrasts)} contrasts")


def rows_of(study):
    path = CASEBOOK / study / "results/rows.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def measure(study, assay, conditions):
    """Each command of the study, kept as it ends; one that fails does not take the others with it.

    A command is assay's (`run experiment.toml --budget 60`) or a script of the study's own (`times.py 400 21`).
    """
    failed = []
    for command in rows_of(study)["measured"]:
        verb, *words = shlex.split(command)
        # The file is the campaign's name, with a sweep's behind it.
        experiment = verb if verb.endswith(".py") else " ".join(word for word in words[:2] if not word.startswith("--"))
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.json"
            ledger = pathlib.Path(folder) / "ledger.db"
            words = [f"casebook/{study}/{word}" if word.endswith(".toml") else word for word in words]
            if verb.endswith(".py"):
                program, shown, written_to = [f"casebook/{study}/{verb}"], [f"casebook/{study}/{verb}"], []
            else:
                program, shown, written_to = [assay, verb], ["assay", verb], ["--ledger", str(ledger)]
            shown = " ".join([*shown, *words])
            print(shown, flush=True)
            command_line = [*program, *words, "--json", str(page), *written_to]
            ended = subprocess.run(command_line, cwd=CASEBOOK.parent, stdout=subprocess.DEVNULL, check=False)
            # 1: a claim is refuted or a variant failed; the page says which, and the rest was measured.
            if ended.returncode > 1 or not page.exists():
                failed.append(f"{command}: exit code {ended.returncode}")
                continue
            keep(study, experiment, shown, conditions, page)
    return failed


# ---- tables and pictures


def matches(row, wanted, keys):
    return all(row.get(key) == wanted[key] for key in keys if key in wanted)


def one(rows, row, keys):
    """The row of the data that is meant; none, and it is an error where several are."""
    found = [other for other in rows if matches(other, row, keys)]
    if len(found) > 1:
        sys.exit(f"`{row['name']}` means {len(found)} rows of {row['experiment']}: name compiler and flags too")
    return found[0] if found else None


def change(found, verdict):
    """A change with its interval, as assay prints it: an interval on one side of 0 never reads as if it held 0."""
    ratio, lower, upper = found
    half = max(upper - ratio, ratio - lower)
    digits = 0 if half >= 9.95 else 1 if half >= 0.095 else 2
    if (lower > 0 or upper < 0) and round(half, digits) >= round(abs(ratio), digits):
        nearest = min(abs(lower), abs(upper))
        digits = next((more for more in range(digits, 2) if round(nearest, more) > 0), 2)
        text = f"{ratio:+.{digits}f} % ({lower:+.{digits}f} to {upper:+.{digits}f})"
    else:
        text = f"{ratio:+.{digits}f} % ± {half:.{digits}f}"
    return text + ("" if verdict in ("faster", "slower", "equivalent") else " (open)")


def change_of_times(campaign, row):
    """The change where no contrast is kept, only both times."""
    sides = [one(campaign["cells"], {**row, "variant": row[side]}, CELL) for side in ("candidate", "baseline")]
    if not all(side and side.get("ns") for side in sides):
        return None
    ratio = 100 * (sides[0]["ns"] / sides[1]["ns"] - 1)
    return ratio, f"{ratio:+.0f} % (no interval)"


def figure(campaigns, row):
    """The number of a row on one processor and how it is printed, or None."""
    campaign = campaigns.get(row["experiment"])
    if campaign is None:
        return None
    if "baseline" in row:
        found = one(campaign["contrasts"], {"against": None, **row}, CONTRAST)
        if found is None:
            return change_of_times(campaign, row)
        if "ratio" not in found:
            return None
        return found["ratio"], change([found[key] for key in ("ratio", "lower", "upper")], found["verdict"])
    found = one(campaign["cells"], row, CELL)
    key = row.get("figure", "ns")
    if found is None or found.get(key) is None:
        return None
    if key == "memorised":
        return found[key], f"{found[key]:,}"
    if key == "slow":
        return found["slow"], f'{found["slow"]} of {found["placements"]}'
    if key == "ns" and "lower" in found:
        half = max(found["upper"] - found["ns"], found["ns"] - found["lower"])
        digits = min(max(0, 1 - math.floor(math.log10(half))), 3) if half > 0 else 3
        return found["ns"], f'{found["ns"]:.{digits}f} ± {half:.{digits}f}'
    return found[key], pictures.number(found[key])


def known_keys(study, table):
    """A row that names nothing would be a dash for ever."""
    for row in table["rows"]:
        other = set(row) - {"name", "experiment", "figure", "picture", *CELL, *CONTRAST}
        lacks = {"name", "experiment"} - set(row)
        if other or lacks:
            what = f"unknown: {', '.join(sorted(other))}" if other else f"missing: {', '.join(sorted(lacks))}"
            sys.exit(f"casebook/{study}/results/rows.toml: {row.get('name', row)}: {what}")


def table_and_picture(study):
    table, data = rows_of(study), kept(study)
    known_keys(study, table)
    # A processor that has measured none of the rows has no column.
    data = {column: found for column, found in data.items() if any(figure(found, row) for row in table["rows"])}
    columns = list(data)
    lines = [f"{table['says']}", ""] if table.get("says") else []
    lines += ["| " + " | ".join([table["unit"], *columns]) + " |", "|---|" + "--:|" * len(columns)]
    drawn = []
    for row in table["rows"]:
        found = [figure(campaigns, row) for campaigns in data.values()]
        if not any(found):
            sys.exit(f"casebook/{study}/results/rows.toml: no processor has the figure of `{row['name']}`")
        lines.append("| " + " | ".join([row["name"], *(one[1] if one else "-" for one in found)]) + " |")
        if row.get("picture", True):
            drawn.append({"name": row["name"].replace("`", ""), "values": [one and one[0] for one in found]})
    dates = [
        f"{column} {', '.join(sorted({campaigns[row['experiment']]['date'] for row in table['rows'] if figure(campaigns, row)}))}"
        for column, campaigns in data.items()
    ]
    kept_in = "Commands, what else ran and all other cells are in the JSON files of [results/](results/)."
    lines += ["", f"Measured: {'; '.join(dates)}, by `casebook/results.py measure {study}`. {kept_in}"]
    if not drawn:
        return "\n".join(lines), None
    lines += ["", f"![{table['title']}](results/by_processor.svg)"]
    # A processor without a dot has no place in the legend, and each has the same colour in every picture.
    shown = [place for place, _ in enumerate(columns) if any(row["values"][place] is not None for row in drawn)]
    for row in drawn:
        row["values"] = [row["values"][place] for place in shown]
    sheet = {
        "kind": "points",
        "title": table["title"],
        "note": table["note"],
        "series": [columns[place] for place in shown],
        "styles": [STYLES[columns[place]] for place in shown],
        "rows": drawn,
        "logarithmic": table.get("logarithmic", False),
        "unit": table.get("axis", ""),
    }
    return "\n".join(lines), pictures.points(sheet)


def wrapped(text):
    """Prose at most 120 characters wide; rows of a table are left alone."""
    return "\n".join(
        line if line.startswith("|") else textwrap.fill(line, 120, break_long_words=False, break_on_hyphens=False)
        for line in text.splitlines()
    )


def make(check):
    wrong = []
    for study in studies():
        text, picture = table_and_picture(study)
        readme = CASEBOOK / study / "README.md"
        before = readme.read_text(encoding="utf-8")
        head, begins, rest = before.partition(BEGIN)
        _, ends, tail = rest.partition(END)
        if not begins or not ends:
            sys.exit(f"{readme.relative_to(CASEBOOK.parent)}: put `{BEGIN}` and `{END}` where its table belongs")
        after = f"{head}{BEGIN}\n\n{wrapped(text)}\n\n{END}{tail}"
        files = [(readme, after)]
        if picture:
            files.append((CASEBOOK / study / "results/by_processor.svg", picture))
        for path, content in files:
            if path.exists() and path.read_text(encoding="utf-8") == content:
                continue
            if check:
                wrong.append(str(path.relative_to(CASEBOOK.parent)))
            else:
                path.write_text(content, encoding="utf-8")
                print(f"wrote {path.relative_to(CASEBOOK.parent)}")
    if wrong:
        sys.exit(f"not what the data say: {', '.join(wrong)}; casebook/results.py makes them")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail where a table or picture is not what the data say")
    verbs = parser.add_subparsers(dest="verb")
    measuring = verbs.add_parser("measure", help="measure here what the studies show, and keep it")
    measuring.add_argument("studies", nargs="*", metavar="STUDY")
    measuring.add_argument("--conditions", required=True, help="what else runs on the machine, in words")
    arguments = parser.parse_args()
    if arguments.verb == "measure":
        unknown = sorted(set(arguments.studies) - set(studies()))
        if unknown:
            parser.error(f"no such study: {', '.join(unknown)}; there are {', '.join(studies())}")
        processor(this_cpu())
        assay = os.environ.get("ASSAY", str(CASEBOOK.parent / "target/release/assay"))
        if not os.access(assay, os.X_OK):
            sys.exit(f"{assay} is not there: `make build` makes it, or ASSAY names another one")
        failed = [fault for study in arguments.studies or studies() for fault in measure(study, assay, arguments.conditions)]
        make(check=False)
        if failed:
            sys.exit("\n".join(["not measured:", *failed]))
    else:
        make(arguments.check)


if __name__ == "__main__":
    main()
