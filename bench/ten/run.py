#!/usr/bin/env python3
"""run.py FOLDER ASSAY [PROJECT[:BRANCH] ...]: compares `base` with `null` and with `slow` in each clone below FOLDER (fetch.sh, plant.py).

Prints a line for each: benchmarks, how many are decided, which differ and by how much, seconds of measuring and in all. The
reports stay in FOLDER/results. Exits with 1 where a benchmark of `null` is called different, or one of `slow` that the planted
function cannot reach.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

BUDGET = "120"
# What a run of 8 s needs where its benchmarks cannot be proven, as its message says.
BUDGETS = {"fast_float": "300"}
HERE = Path(__file__).resolve().parent
WORDS = HERE.parents[1] / "METHODOLOGY.md"

# The two commands as the project's own documents have them, further options, and which benchmarks call what is planted.
PROJECTS = {
    "ada": ("cmake -B build -DCMAKE_BUILD_TYPE=Release -DADA_BENCHMARKS=ON && cmake --build build --target bench",
            "build/benchmarks/bench", [], "AdaURL"),
    "fast_float": ("cmake -B build -DCMAKE_BUILD_TYPE=Release -DFASTFLOAT_BENCHMARKS=ON && cmake --build build --target realbenchmark",
                   "build/benchmarks/realbenchmark",
                   ["--adapter", r"regex:^(?<name>fastfloat \(\d+\)) +: +(?<value>[0-9.]+) (?<unit>MB/s)"], "fastfloat"),
    "CRoaring": ("cmake -B build -DCMAKE_BUILD_TYPE=Release -DENABLE_ROARING_MICROBENCHMARKS=ON -DENABLE_ROARING_TESTS=OFF"
                 " && cmake --build build --target bench", "build/microbenchmarks/bench", [], "Cardinality"),
    "abseil": ("cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build --target strings random_distributions random_seed_sequences && g++ -O2 -I. -o build/numbers"
               " absl/strings/numbers_benchmark.cc -Wl,--start-group $(find build -name '*.a') -Wl,--end-group"
               " -lbenchmark_main -lbenchmark -lpthread", "build/numbers", [], "strto32"),
    "itoa": ("cargo bench --no-run", "cargo bench", [], "/itoa"),
    "anstyle": ("cargo bench --no-run --manifest-path crates/anstyle-parse/Cargo.toml",
                "cargo bench --manifest-path crates/anstyle-parse/Cargo.toml", [], "advance"),
    "svector": ("meson setup build --buildtype=release && meson compile -C build bench-solo",
                "build/test/bench-solo insert_front_int 3 && build/test/bench-solo accumulate 3", [], "insert"),
    "lz4": ("make lz4", f"./lz4 -b1 -i1 {WORDS}", [], "compression"),
    "lua": ("make", f"./lua {HERE}/reverse.lua", ["--adapter", "wall"], ""),
    "xxhash": ("go test -c -o bench.test", "./bench.test -test.run '^$' -test.bench . -test.benchtime 10ms", [], "Sum64String"),
}


def compare(assay: str, clone: Path, branch: str, results: Path) -> tuple[dict | None, str, float]:
    build, bench, options, _ = PROJECTS[clone.name]
    report = results / f"{clone.name}-{branch}.json"
    report.unlink(missing_ok=True)
    command = [assay, "compare", "--build", build, "--bench", bench, *options, "--budget", BUDGETS.get(clone.name, BUDGET), "--quiet", "--json", str(report)]
    began = time.monotonic()
    ran = subprocess.run([*command, "base", branch], cwd=clone, capture_output=True, text=True)
    seconds = time.monotonic() - began
    said = ran.stdout + ran.stderr
    (results / f"{clone.name}-{branch}.txt").write_text(said)
    return (json.loads(report.read_text()) if report.exists() else None), said, seconds


def described(found: dict) -> str:
    code = found["code"]
    return f"{found['benchmark']} {code['ratio'] * 100 - 100:+.1f} % [{code['lower'] * 100 - 100:+.1f}, {code['upper'] * 100 - 100:+.1f}]"


def main(folder: Path, assay: str, projects: list[str]) -> int:
    results = folder / "results"
    results.mkdir(exist_ok=True)
    wrong = 0
    for name, _, only in (project.partition(":") for project in projects):
        for branch in [only] if only else ["null", "slow"]:
            page, said, seconds = compare(assay, folder / name, branch, results)
            if page is None:
                print(f"{name} {branch}: nothing measured after {seconds:.0f} s: {said.strip().splitlines()[0] if said.strip() else ''}", flush=True)
                continue
            judged = [found for found in page["benchmarks"] if found.get("verdict")]
            decided = [found for found in judged if found["verdict"] != "undecided"]
            differ = [found for found in judged if found["verdict"] in ("slower", "faster")]
            reached = re.compile(PROJECTS[name][3])
            bad = [found for found in differ if branch == "null" or not reached.search(found["benchmark"]) or found["verdict"] == "faster"]
            wrong += len(bad)
            proven = sum(bool(found.get("proven")) for found in judged)
            print(f"{name} {branch}: {len(judged)} benchmarks, {proven} proven, {len(decided)} decided; measured "
                  f"{page['measured']['seconds']:.0f} s of {seconds:.0f} s", flush=True)
            for found in differ:
                print(f"    {'WRONG ' if found in bad else ''}{described(found)}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__.splitlines()[0])
    sys.exit(main(Path(sys.argv[1]).resolve(), str(Path(sys.argv[2]).resolve()), sys.argv[3:] or list(PROJECTS)))
