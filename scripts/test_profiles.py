#!/usr/bin/env python3
"""Is the arithmetic of casebook/PROFILES.md right?

1. within.py against the normal equations with columns for each group, solved in exact fractions, on small data.
2. A planted slope under noise is recovered, and the 95 % interval holds it about as often as it says; without a
   relation hardly anything is explained.
3. casebook/profiles.py on a small recorded set (RECORDED): its fits are those of numpy's least squares, its marks and
   the order of its rows follow, and pages of `assay run` are read as they are.
4. The page and the program's list are what the data say, and a missing program is named with its remedy.

Needs Python 3.11, no assay; nothing is measured. Some ten seconds.
"""

import os
import pathlib
import random
import subprocess
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
# Cells as measured on AMD's Zen 4: file, machine code, input, ns; mispredictions by NAMES.
RECORDED = """\
varint/experiment.toml|decoders branch|geometric|6.803|0.9368|0.934|0.9369|0.9923|0
varint/experiment.toml|decoders branch|log_uniform_4k|2.224|0|0.796|0.9321|1.215|0
varint/experiment.toml|decoders branch|all_1|1.165|0.0003174|0.000293|0.0003174|0.000293|0
varint/experiment.toml|decoders branch|all_5|3.378|0.0003418|0.0003174|0.0004395|1|0
varint/decoders.toml|decoders mask8|log_uniform|3.76|0.3943|0.3969|0.00166|0.001099|0.3938
varint/decoders.toml|decoders mask8|all_1|0.3584|0.0003174|0.000293|0.0004639|0.000293|0
varint/decoders.toml|decoders mask8|log_uniform_4k|3.333|0.2332|0.3796|0.0002441|0.0004883|0
dispatch/experiment.toml|dispatch virtual|mono|1.506|0.0003174|0.0005371|0.0005615|0.0005371|0
dispatch/experiment.toml|dispatch virtual|round_robin|1.912|0.0003255|0.000651|0.000651|0.000651|0
dispatch/experiment.toml|dispatch virtual|random|7.527|0.6685|0.6686|0.0005859|0.0005371|0.6659
sorting/experiment.toml|sorting insertion|sorted|0.6855|0.001075|0.00105|0.0012|0.00105|0
sorting/experiment.toml|sorting insertion|nearly|6.184|0.6997|0.7107|0.8288|0.9476|0
"""
NAMES = ["zen4", "zen1", "gshare", "bimodal", "ittage"]
# By numpy.linalg.lstsq 2.4.6 on indicators of the machine codes and the mispredictions: slope and share, of the cells
# without sorting and of all of them.
BY_NUMPY = {
    "zen4": (6.27317290546492, 0.8571047397411458, 6.5781714170559695, 0.8835681544281693),
    "zen1": (4.9116089766473605, 0.5870067201200622, 5.419252981213193, 0.660174524847654),
    "gshare": (4.080972875913707, 0.4463177364371389, 4.624536429203805, 0.551723183592995),
    "bimodal": (3.9095935066730694, 0.4146992173681272, 4.399730646061259, 0.5369003202989435),
}
TOP = pathlib.Path(__file__).resolve().parent.parent
if sys.version_info < (3, 11):
    sys.exit(print("skipped: python3 is older than 3.11"))
sys.path.insert(0, str(TOP / "casebook"))
import profiles  # noqa: E402
import within  # noqa: E402


def check(told, what):
    if not told:
        sys.exit(f"test_profiles.py: {what}")


def solved(matrix, right):
    """Gauss's elimination; exact with fractions."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for at in range(len(rows)):
        pivot = next(row for row in range(at, len(rows)) if rows[row][at] != 0)
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [value / rows[at][at] for value in rows[at]]
        for other in range(len(rows)):
            if other != at:
                rows[other] = [a - rows[other][at] * b for a, b in zip(rows[other], rows[at])]
    return [row[-1] for row in rows]


def by_normal_equations(groups, beside=None):
    """Slope and explained share of a regression on the groups' indicators, `beside` in each group, and x."""
    design, times = [], []
    for number, pairs in enumerate(groups):
        for place, (x, y) in enumerate(pairs):
            row = [Fraction(int(number == other)) for other in range(len(groups))]
            row += [value * beside[number][place] for value in row] if beside else []
            design.append([*row, Fraction(x)])
            times.append(Fraction(y))

    def residuals(columns):
        used = [[row[column] for column in columns] for row in design]
        matrix = [[sum(row[a] * row[b] for row in used) for b in range(len(columns))] for a in range(len(columns))]
        found = solved(matrix, [sum(row[a] * y for row, y in zip(used, times)) for a in range(len(columns))])
        left = [y - sum(c * v for c, v in zip(found, row)) for row, y in zip(used, times)]
        return found, sum(value * value for value in left)

    effects = list(range(len(design[0]) - 1))
    _, without = residuals(effects)
    found, left = residuals([*effects, len(effects)])
    return found[-1], 1 - left / without


def exact_fractions_agree():
    # By hand: group means off, x is -1 0 1 and -1 1, y is -2 0 2 and -4 4: xy 12, xx 4, yy 40; slope 3, share 144/160.
    found = within.total([within.of_group([(0, 1), (1, 3), (2, 5)]), within.of_group([(5, 10), (7, 18)])])
    check((found.slope, found.explained) == (3.0, 0.9), f"by hand: {found}")
    chance = random.Random(3)
    for _ in range(10):
        groups = [
            [(chance.randrange(50), chance.randrange(200)) for _ in range(chance.randrange(2, 6))] for _ in range(4)
        ]
        agree(groups, None)
        groups = [pairs + [(chance.randrange(50), chance.randrange(200)) for _ in range(2)] for pairs in groups]
        agree(groups, [chance.sample(range(1, 100), len(pairs)) for pairs in groups])
    constant = within.of_group([(0, 1), (1, 3), (2, 5)], [1000, 1001, 1003])
    check(constant == within.of_group([(0, 1), (1, 3), (2, 5)]), "0.3 % more instructions are taken for a difference")


def agree(groups, beside):
    slope, share = by_normal_equations(groups, beside)
    own = beside or [None] * len(groups)
    found = within.total([within.of_group(pairs, counts) for pairs, counts in zip(groups, own)])
    check(abs(found.slope - slope) < 1e-9, f"slope {found.slope}, exactly {slope}")
    expected = share if slope > 0 else 0
    check(abs(found.explained - expected) < 1e-9, f"share {found.explained}, exactly {share}")


def planted(chance, slope, noise):
    """36 machine codes on 9 inputs; effects of their own, and mispredictions that vary more in some than in others."""
    groups = []
    for _ in range(36):
        effect, scale = chance.uniform(0, 50), 10 ** chance.uniform(-1.5, 0)
        counts = [scale * chance.random() for _ in range(9)]
        groups.append(within.of_group([(x, effect + slope * x + chance.gauss(0, noise)) for x in counts]))
    return groups


def planted_slopes_are_recovered():
    chance = random.Random(7)
    held, slopes, runs = 0, [], 400
    drawn = list(within.draws(36, resamples=400))
    for _ in range(runs):
        groups = planted(chance, 5.0, 0.3)
        slopes.append(within.total(groups).slope)
        low, high = within.interval([within.drawn(groups, times).slope for times in drawn])
        held += low <= 5.0 <= high
    mean = sum(slopes) / runs
    print(f"planted slope 5: {mean:.3f} on average, its 95 % interval holds it in {held} of {runs}")
    check(abs(mean - 5.0) < 0.02, f"a planted slope of 5 is found as {mean}")
    check(0.90 * runs <= held <= 0.97 * runs, f"95 % intervals hold the slope in {held} of {runs}")
    unrelated = [within.total(planted(chance, 0.0, 0.3)).explained for _ in range(50)]
    check(max(unrelated) < 0.05, f"unrelated times are explained to {max(unrelated)}")
    exact = within.total(planted(chance, 5.0, 0.0))
    check(abs(exact.slope - 5) < 1e-9 and exact.explained > 1 - 1e-9, f"without noise: {exact}")
    falling = within.total([within.of_group([(0, 2), (1, 1)])])
    check(falling.explained == 0, "a misprediction that saves time explains something")


def recorded():
    cells = []
    for line in RECORDED.splitlines():
        file, code, name, ns, *misses = line.split("|")
        misses = dict(zip([*NAMES, "return-stack-16"], [*map(float, misses), 0.0]))
        cells.append({"file": file, "code": code, "input": name, "ns": float(ns), "misses": misses})
    return cells


def recorded_cells_give_the_table():
    cells = recorded()
    alike = [cell for cell in cells if profiles.is_alike(cell)]
    check(len(cells) == 12 and len(alike) == 10, f"{len(alike)} of {len(cells)} cells are alike")
    for chosen, at in ((alike, 0), (cells, 2)):
        found = profiles.compare(chosen)
        for row in found["rows"]:
            slope, share = BY_NUMPY[row["name"]][at : at + 2]
            told = f"{row['name']}: {row['slope']}, {row['explained']}, by numpy {slope}, {share}"
            check(abs(row["slope"] - slope) < 1e-9 and abs(row["explained"] - share) < 1e-9, told)
            check(row["interval"][0] <= slope <= row["interval"][1], f"{row['name']}: {row['interval']}")
    found = profiles.compare(alike)
    check([row["name"] for row in found["rows"]] == list(BY_NUMPY), "the rows are not in the order of their shares")
    # By hand, sums of squares of the times: branch 18.0, mask8 6.9, virtual 22.6 ns^2.
    check(found["largest"] == "varint" and round(found["share"], 2) == 0.52, f"{found['largest']}, {found['share']}")
    rows = {row["name"]: row for row in found["rows"]}
    rest = [[(cell["misses"]["zen1"], cell["ns"]) for cell in alike if cell["file"].startswith("dispatch")]]
    check(abs(rows["zen1"]["rest"] - by_normal_equations(rest)[1]) < 1e-9, f"without varint: {rows['zen1']['rest']}")
    check(profiles.compare([*alike, alike[0] | {"code": "other"}])["codes"] == 3, "one input alone is compared")
    inputs = [{"file": "hashing/experiment.toml", "input": name} for name in ("half", "large_half")]
    check([profiles.is_alike(cell) for cell in inputs] == [True, False], "a large table is taken for a small one")
    check(profiles.remark(rows["bimodal"], rows["gshare"]) == "", "a textbook predictor is marked")
    check(profiles.remark(rows["zen1"], rows["gshare"]) == "", "a profile that explains more is marked")
    marked = profiles.remark(rows["zen1"], {**rows["zen4"], "name": "gshare"})
    check(marked.startswith("less than `gshare`"), f"a profile that explains less is not marked: {marked!r}")
    data = {"processor": "AMD, Zen 4", "cpu": "AMD EPYC", "date": "2026-11-28", "conditions": "quiet", "without": []}
    data |= {"penalty_ns": {"median": 5.31, "lower": 5.29, "upper": 5.33}, "cells": cells}
    text, listed = profiles.section("zen4", data)
    check(any(line.startswith("| `zen4` | 86 % | 6.27 (") for line in text), f"no row of zen4: {text}")
    check("`zen4`, the profile of this CPU, does best." in text, f"zen4 does best: {text}")
    check(("gshare", "AMD, Zen 4", 45, 45, "") in listed, f"{listed}")


def pages_are_read_as_they_are():
    counted = {"value": 0.5, "predictor": "zen4", "by_predictor": {"zen4": 0.5, "gshare": 0.61234}}
    cell = {"variant": "branch", "compiler": "gcc-12", "flags": "O2", "input": "a", "ns_per_unit": {"median": 2.0}}
    counts = {"branch-misses": counted, "instructions": {"value": 12.0}}
    page = {"cells": [cell | {"per_unit": counts}, cell | {"per_unit": {}}, {"failed": "it crashed"}]}
    found = profiles.cells_of(page, "varint/experiment.toml", "decoders")
    expected = {"file": "varint/experiment.toml", "code": "decoders branch gcc-12 O2", "input": "a", "ns": 2.0}
    check(found == [expected | {"instructions": 12.0, "misses": {"zen4": 0.5, "gshare": 0.6123}}], f"{found}")
    listed = "  zen4      model of AMD Zen 4: TAGE (not the CPU)\n            source: AMD\n  gshare    counters\n"
    check(profiles.profiles_of(listed) == ["zen4"], "the list of predictors is not read")


def files_are_what_the_data_say():
    script = TOP / "casebook/profiles.py"
    ended = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    check(ended.returncode == 0, ended.stderr)
    nowhere = os.environ | {"ASSAY": "/nowhere/assay"}
    command = [sys.executable, script, "measure", "--conditions", "none"]
    ended = subprocess.run(command, env=nowhere, capture_output=True, text=True, check=False)
    check(ended.returncode == 1 and "/nowhere/assay is not there: `make build`" in ended.stderr, ended.stderr)


for test in (
    exact_fractions_agree,
    planted_slopes_are_recovered,
    recorded_cells_give_the_table,
    pages_are_read_as_they_are,
    files_are_what_the_data_say,
):
    test()
    print(f"ok: {test.__name__.replace('_', ' ')}")
