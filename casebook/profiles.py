#!/usr/bin/env python3
"""Which simulated predictor explains measured time? Counts by each beside times, over the studies.

    casebook/profiles.py                                  make PROFILES.md and compared.tsv from the data
    casebook/profiles.py --check                          fail where one is not what the data say
    casebook/profiles.py measure --conditions TEXT [FILE...]    measure here: 20 to 30 minutes for all

`measure` runs the campaigns of FILES with short budgets and keeps each cell's time and its mispredictions by every CPU
profile and textbook predictor in profiles/CPU.json. Within each machine code, whose instructions are the same whatever
its input, the times are fitted to the mispredictions (within.py). A profile that explains less than `gshare` is marked,
in PROFILES.md and, by compared.tsv, in `assay run --predictor help`. Needs Python 3.11.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import results  # noqa: E402
import within  # noqa: E402

CASEBOOK = pathlib.Path(__file__).resolve().parent
TOP = CASEBOOK.parent
DATA = CASEBOOK / "profiles"
PAGE = CASEBOOK / "PROFILES.md"
COMPARED = TOP / "crates/assay/src/cli/stat/compared.tsv"

# Experiment file; the program that its functions belong to, as the same one in two files is the same machine code;
# further words for `assay run`; and which inputs are alike: their items are of one kind, on a working set in the same
# caches, so that little but prediction differs. None are where inputs change what an item is (lines of more bytes, keys
# that need fewer comparisons).
ALL = re.compile("")
FILES = [
    ("varint/experiment.toml", "decoders", [], ALL),
    ("varint/decoders.toml", "decoders", [], ALL),
    ("varint/store.toml", "store", [], ALL),
    ("varint/microbenchmarks.toml", "microbenchmarks", [], ALL),
    ("varint/likely.toml", "likely", [], ALL),
    ("lookup/one_value.toml", "one value", [], ALL),
    ("dispatch/experiment.toml", "dispatch", ["--compiler", "gcc"], ALL),
    ("hashing/experiment.toml", "hashing", [], re.compile("^(none|half|every)$")),
    ("sorting/experiment.toml", "sorting", [], None),
    ("utf8/experiment.toml", "utf8", [], None),
]
SECONDS = 30
# What a textbook predictor of directions leaves to others: the same others for all, so that only directions differ.
BESIDE = ["ittage", "return-stack-16"]
TEXTBOOK = ["bimodal", "gshare", "two-level", "tournament", "perceptron", "tage", "tage-sc-l-64k"]
PLAIN = "gshare"
# The profile that stands for a processor of results.PROCESSORS, as assay chooses it.
OWN = {"sunny-cove": "sunny-cove", "golden-cove": "golden-cove", "zen3": "zen4", "zen4": "zen4", "zen5": "zen4"}
SHOWN = 3


# ---- measuring


def assay_program():
    path = os.environ.get("ASSAY", str(TOP / "target/release/assay"))
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there: `make build` makes it, or ASSAY names another one")
    return path


def profiles_of(listed):
    """The CPU profiles in what `--predictor help` prints."""
    return re.findall(r"^  (\S+) +.*\(not the CPU\)$", listed, re.MULTILINE)


def cells_of(page, file, program):
    """The cells of a campaign's page that have both a time and simulated mispredictions."""
    found = []
    for cell in page["cells"]:
        counts = cell.get("per_unit", {})
        misses = counts.get("branch-misses", {}).get("by_predictor")
        if cell.get("failed") or not cell.get("ns_per_unit") or not misses:
            continue
        found.append(
            {"file": file, "code": " ".join([program, cell["variant"], cell["compiler"], cell["flags"]])}
            | {"input": cell["input"], "ns": results.shortened(cell["ns_per_unit"]["median"])}
            | {"instructions": results.shortened(counts.get("instructions", {}).get("value"))}
            | {"misses": {name: results.shortened(value) for name, value in misses.items()}}
        )
    return found


def run(assay, words, schema):
    """The page that assay writes as JSON; None where it has none."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.json"
        kept = ["--ledger", str(pathlib.Path(folder) / "ledger.db")] if words[0] == "run" else []
        command = [assay, *words, *kept, "--json", str(page)]
        ended = subprocess.run(command, cwd=TOP, stdout=subprocess.DEVNULL, check=False)
        # 1: a variant failed; the page says which, and the rest was measured.
        if ended.returncode > 1 or not page.exists():
            return None
        found = json.loads(page.read_text(encoding="utf-8"))
        assert found["schema"].startswith(schema), found["schema"]
        return found


def measure(conditions, files):
    assay = assay_program()
    name, column = results.processor(results.this_cpu())
    chosen = [row for row in FILES if not files or row[0] in files]
    path = DATA / f"{name}.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if files and path.exists() else {"cells": [], "without": []}
    listed = subprocess.run([assay, "run", "--predictor", "help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    predictors = [*profiles_of(listed), *TEXTBOOK, *BESIDE]
    limits = run(assay, ["limits"], "assay.limits/")
    cost = next((one for one in limits["costs"] if one["name"] == "misprediction"), None) if limits else None
    if cost is None:
        sys.exit("`assay limits` did not tell what a misprediction costs: measure again while less else runs")
    again = [file for file, *_ in chosen]
    cells = [cell for cell in kept["cells"] if cell["file"] not in again]
    failed = [file for file in kept["without"] if file not in again]
    for file, program, words, _ in chosen:
        command = ["run", f"casebook/{file}", "--budget", str(SECONDS), "--timeout", "60", *words]
        print(f"assay {' '.join(command)}", flush=True)
        command += ["--quiet", "--predictor", ",".join(predictors)]
        page = run(assay, command, "assay.campaign/")
        if page is None:
            failed.append(file)
            continue
        found = cells_of(page, file, program)
        uncounted = {cell["uncounted"]["reason"] for cell in page["cells"] if cell.get("uncounted")}
        print(f"  {len(found)} of {len(page['cells'])} cells{''.join(f'; {reason}' for reason in sorted(uncounted))}")
        cells += found
    started = time.strftime("%Y-%m-%d", time.gmtime(limits["measured_at"]))
    figures = {key: results.shortened(cost["ns"][key]) for key in ("median", "lower", "upper")}
    value = {"processor": column, "cpu": limits["machine"]["cpu"], "date": started, "conditions": conditions}
    value |= {"without": failed, "penalty_ns": figures, "cells": cells}
    DATA.mkdir(exist_ok=True)
    path.write_text(written(value), encoding="utf-8")
    if failed:
        print("not measured: " + ", ".join(failed))


def written(value):
    """JSON with a cell on each line, so that a change shows as lines."""
    head = [f" {json.dumps(key)}: {json.dumps(value[key], ensure_ascii=False)}," for key in value if key != "cells"]
    cells = ",\n".join(f"  {json.dumps(cell, ensure_ascii=False)}" for cell in value["cells"])
    return "\n".join(["{", *head, ' "cells": [', cells, " ]", "}"]) + "\n"


# ---- what the data say


def mispredictions(cell, predictor):
    """Per unit by a predictor; a textbook one has others beside it for what it does not predict."""
    names = [predictor, *BESIDE] if predictor in TEXTBOOK else [predictor]
    return sum(cell["misses"][name] for name in names)


def is_alike(cell):
    """Whether its input is one of those that differ in little but prediction."""
    alike = next(alike for file, *_, alike in FILES if file == cell["file"])
    return alike is not None and alike.search(cell["input"]) is not None


def codes_of(cells):
    """Cells by machine code; one on a single input has nothing to compare."""
    by_code = {}
    for cell in cells:
        by_code.setdefault((cell["file"].split("/")[0], cell["code"]), []).append(cell)
    return {code: own for code, own in by_code.items() if len(own) > 1}


def sums_of(codes, predictor, beside=False):
    """Sums of each machine code; `beside` takes its instructions off first, where they were counted."""
    found = []
    for own in codes.values():
        counts = [cell.get("instructions") for cell in own]
        pairs = [(mispredictions(cell, predictor), cell["ns"]) for cell in own]
        found.append(within.of_group(pairs, counts if beside and None not in counts else None))
    return found


def predictors_of(cells):
    return [name for name in cells[0]["misses"] if name not in BESIDE]


def compare(cells):
    """For each predictor, the best first: what it explains, at which price, and both over resamples."""
    codes = codes_of(cells)
    studies = [study for study, _ in codes]
    sums = {name: sums_of(codes, name) for name in predictors_of(cells)}
    variance = {}
    for study, own in zip(studies, sums[PLAIN]):
        variance[study] = variance.get(study, 0.0) + own.yy
    largest = max(variance, key=variance.get)
    slopes, shares = {name: [] for name in sums}, {name: [] for name in sums}
    for times in within.draws(len(codes)):
        for name, own in sums.items():
            fit = within.drawn(own, times)
            slopes[name].append(fit.slope or 0.0)
            shares[name].append(fit.explained)
    rows = []
    for name, own in sums.items():
        whole = within.total(own)
        rest = within.total([one for study, one in zip(studies, own) if study != largest])
        rows.append(
            {"name": name, "explained": whole.explained, "slope": whole.slope, "rest": rest.explained}
            | {"interval": within.interval(slopes[name]), "drawn": shares[name]}
            | {"beside": within.total(sums_of(codes, name, beside=True)).explained}
        )
    rows.sort(key=lambda row: (-row["explained"], row["name"]))
    share = variance[largest] / sum(variance.values())
    counts = {"codes": len(codes), "cells": sum(map(len, codes.values()))}
    return {"rows": rows, "largest": largest, "share": share} | counts


def apart_most(cells, one, other, slopes):
    """Cells on which a predictor's fit is further from the time than another's, the furthest first."""
    found = []
    for (study, code), own in codes_of(cells).items():
        mean = sum(cell["ns"] for cell in own) / len(own)
        errors = []
        for name in (one, other):
            counts = [mispredictions(cell, name) for cell in own]
            middle = sum(counts) / len(counts)
            errors.append([cell["ns"] - mean - slopes[name] * (count - middle) for cell, count in zip(own, counts)])
        for cell, mine, others in zip(own, *errors):
            found.append((mine**2 - others**2, study, code, cell))
    return sorted(found, key=lambda row: -row[0])


# ---- the page


def percent(share):
    return f"{100 * share:.0f} %"


def points(difference):
    return f"{round(100 * difference, 2) + 0.0:.2f}"  # never -0.00


def named(found, name):
    return next(row for row in found["rows"] if row["name"] == name)


def price(row):
    low, high = row["interval"]
    return f"{row['slope']:.2f} ({low:.2f} to {high:.2f})" if row["slope"] is not None else "-"


def apart(one, other):
    """How much more one predictor explains than another: an interval over the same resamples."""
    return within.interval([mine - others for mine, others in zip(one["drawn"], other["drawn"])])


def remark(row, plain):
    """A profile is marked where it explains less than the plain predictor."""
    if row["name"] in TEXTBOOK or row["explained"] >= plain["explained"]:
        return ""
    return f"less than `{PLAIN}`" + (", within chance" if apart(row, plain)[1] >= 0 else "")


def of_own(name, cells, found):
    """How the profile that stands for this CPU does, and where it loses to the best."""
    places = [row["name"] for row in found["rows"] if row["name"] not in TEXTBOOK]
    own, best = OWN[name], found["rows"][0]
    stands = "of this CPU," if own == name else "that stands for this CPU, which has none of its own,"
    if own == best["name"]:
        return f"`{own}`, the profile {stands} does best."
    low, high = apart(best, named(found, own))
    lost = f"{points(best['explained'] - named(found, own)['explained'])} ({points(low)} to {points(high)})"
    chance = ": within chance" if low <= 0 <= high else ""
    slopes = {row["name"]: row["slope"] or 0.0 for row in found["rows"]}
    alike = [cell for cell in cells if is_alike(cell)]
    where = [
        f"{code} on `{cell['input']}` ({mispredictions(cell, own):.3g} mispredictions, `{best['name']}` "
        f"{mispredictions(cell, best['name']):.3g})"
        for _, _, code, cell in apart_most(alike, own, best["name"], slopes)[:SHOWN]
    ]
    return (
        f"`{own}`, the profile {stands} is number {places.index(own) + 1} of {len(places)} profiles and "
        f"explains {lost} percentage points less than `{best['name']}`{chance}. It loses most on {'; '.join(where)}."
    )
    return text


def answer(found, every, data):
    """What the tables say, in sentences."""
    rows, best = found["rows"], found["rows"][0]
    plain = named(found, PLAIN)
    marked = [f"`{row['name']}`" for row in rows if remark(row, plain)]
    penalty, rest = data["penalty_ns"], max(rows, key=lambda row: row["rest"])
    beside = max(rows, key=lambda row: row["beside"])
    unlike, of_all = every["cells"] - found["cells"], every["rows"][0]
    verdict = f"Less than that explain: {', '.join(marked)}." if marked else "No profile explains less than that."
    return [
        f"`{best['name']}` explains {percent(best['explained'])} of how times differ between inputs, at "
        f"{best['slope']:.2f} ns per misprediction; plain `{PLAIN}` explains {percent(plain['explained'])}. {verdict} "
        f"Measured alone (`assay limits`), a misprediction costs {penalty['median']:.2f} ns ({penalty['lower']:.2f} to "
        f"{penalty['upper']:.2f}).",
        "",
        f"Read it with care: {percent(found['share'])} of that variance is in one study, {found['largest']}; without "
        f"it `{rest['name']}` explains most, {percent(rest['rest'])}. Of what instructions leave, `{beside['name']}` "
        f"explains most, {percent(beside['beside'])}. With the {unlike} cells whose inputs differ in more than "
        f"prediction, `{of_all['name']}` explains most, {percent(of_all['explained'])}, and `{best['name']}` "
        f"{percent(named(every, best['name'])['explained'])}.",
    ]


def section(name, data):
    """The lines of one processor, and its rows for the program."""
    found, every = compare([cell for cell in data["cells"] if is_alike(cell)]), compare(data["cells"])
    plain = named(found, PLAIN)
    left_out = f" Not measured: {', '.join(data['without'])}." if data["without"] else ""
    head = [data["processor"], "explains", "ns per misprediction (95 %)"]
    head += [f"without {found['largest']}", "beside instructions"]
    text = [f"## {data['processor']}", "", *answer(found, every, data), "", of_own(name, data["cells"], found), ""]
    text += [f"| {' | '.join(head)} | |", "|---|--:|--:|--:|--:|---|"]
    listed = []
    for row in found["rows"]:
        mark, kind = remark(row, plain), "textbook" if row["name"] in TEXTBOOK else ""
        figures = [percent(row["explained"]), price(row), percent(row["rest"]), percent(row["beside"])]
        text.append(f"| `{row['name']}` | {' | '.join(figures)} | {kind or mark} |")
        shares = [round(100 * one["explained"]) for one in (row, plain)]
        listed.append((row["name"], data["processor"], *shares, "worse" if mark else ""))
    text += [
        "",
        f"{found['cells']} cells of {found['codes']} machine codes, {data['cpu']}, {data['date']}; "
        f"{data['conditions']}.{left_out} Data: [profiles/{name}.json](profiles/{name}.json).",
    ]
    return text, listed


HEAD = """# Which simulated predictor explains measured time?

What each CPU profile and textbook predictor says of the casebook's branches, compared with how long the code takes.
`casebook/profiles.py measure` measures a processor, `casebook/profiles.py` makes this page.
"""
TAIL = f"""## How to read the tables

A machine code executes the same instructions on each input; what differs is the data. So within each machine code the
time per item is fitted to the mispredictions per item, with one price for all codes. *Explains* is the share of the
variance within codes. The price's interval is a bootstrap over machine codes. *Without* leaves out the study that has
most of the variance. *Beside instructions*: each machine code also has a price per instruction of its own, and the
share is of what that leaves.

A profile that explains less than `{PLAIN}` is marked, here and in `assay run --predictor help`. Textbook predictors of
directions have `{BESIDE[0]}` for indirect targets and `{BESIDE[1]}` for returns beside them.

**Which cells.** Those of inputs that differ in little but prediction: values of one to five bytes, calls, keys of one
table. Where inputs change what an item is, no predictor explains the times: presorted keys need fewer comparisons, a
line of text has more bytes, a large table is in no cache. Such cells are measured and left out of the table; the text
above it says what the figures are with them. They were set apart after a first fit over all cells, most of whose
variance was theirs.

**What the tables do not show.** What overlaps with a misprediction is not in the fit, nor that a decoder takes longer
for five bytes than for one, but beside instructions. So a price can be above that of `assay limits`, and ranks say more
than shares. Nor is a rank proof that a CPU is built like the profile: predictors that miss on the same data explain
alike.
"""


def made():
    """The contents of both files."""
    text, table = [HEAD], []
    for name, *_ in results.PROCESSORS:
        path = DATA / f"{name}.json"
        if path.exists():
            lines, rows = section(name, json.loads(path.read_text(encoding="utf-8")))
            # A figure and its % stay on one line.
            whole = "\n".join(lines).replace(" %", "\0%")
            text.append(results.wrapped(whole).replace("\0%", " %") + "\n")
            table += rows
    text.append(TAIL)
    listed = "".join("\t".join(map(str, row)) + "\n" for row in table)
    head = (
        f"# Made by casebook/profiles.py: predictor, CPU, % of times' variance that it explains, % that {PLAIN}\n"
        f"# explains, and `worse` where a profile explains less.\n"
    )
    return {PAGE: "\n".join(text), COMPARED: head + listed}


def make(check):
    wrong = []
    for path, content in made().items():
        if path.exists() and path.read_text(encoding="utf-8") == content:
            continue
        if check:
            wrong.append(str(path.relative_to(TOP)))
        else:
            path.write_text(content, encoding="utf-8")
            print(f"wrote {path.relative_to(TOP)}")
    if wrong:
        sys.exit(f"not what the data say: {', '.join(wrong)}; casebook/profiles.py makes them")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail where a file is not what the data say")
    verbs = parser.add_subparsers(dest="verb")
    measuring = verbs.add_parser("measure", help="measure here, and keep it")
    measuring.add_argument("--conditions", required=True, help="what else runs on the machine, in words")
    measuring.add_argument("files", nargs="*", metavar="FILE", help="these again, the others as they are kept")
    arguments = parser.parse_args()
    if arguments.verb == "measure":
        if unknown := set(arguments.files) - {file for file, *_ in FILES}:
            parser.error(f"no file of FILES: {', '.join(sorted(unknown))}")
        measure(arguments.conditions, arguments.files)
    make(arguments.check)


if __name__ == "__main__":
    main()
