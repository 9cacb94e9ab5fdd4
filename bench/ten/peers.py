#!/usr/bin/env python3
"""peers.py FOLDER BENCHMARK_TOOLS [PROJECT[:BRANCH] ...]: what the projects' own tools say of the builds that run.py left in FOLDER.

BENCHMARK_TOOLS is the folder of Google Benchmark's compare.py. hyperfine and benchstat are on the PATH, numpy and scipy where this
Python finds them. A difference counts as claimed where the tool calls it one: compare.py by a p-value below its 5 % and more than
2 %, criterion by its words, benchstat by a change that it prints, hyperfine where its ratio lies farther from 1 than its deviation
and than 2 %. Tools that only print a figure claim what differs by more than 2 %.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORDS = HERE.parents[1] / "METHODOLOGY.md"
LEAST = 0.02


def said(command: list[str] | str, folder: Path, **environment: str) -> str:
    ran = subprocess.run(command, cwd=folder, shell=isinstance(command, str), capture_output=True, text=True,
                         env={**os.environ, **environment}, timeout=900)
    if ran.returncode:
        sys.exit(f"{command} in {folder}: {ran.stderr[-2000:]}")
    return ran.stdout


def compare_py(program: str, seconds: str):
    def ask(trees: list[Path], tools: Path) -> dict[str, float]:
        out = trees[1] / "compare.json"
        said([sys.executable, str(tools / "compare.py"), "-a", "-d", str(out), "benchmarks", str(trees[0] / program),
              str(trees[1] / program), "--benchmark_repetitions=9", f"--benchmark_min_time={seconds}"], trees[0])
        claimed = {}
        for found in json.loads(out.read_text()):
            p, medians = found.get("utest", {}).get("cpu_pvalue"), found["measurements"]
            if found.get("aggregate_name") == "median":
                claimed.setdefault(found["name"].removesuffix("_median"), [None, 0])[1] = medians[0]["cpu"]
            elif p is not None:
                claimed.setdefault(found["name"], [None, 0])[0] = p
        return {name: change for name, (p, change) in claimed.items() if p is not None and p < 0.05 and abs(change) > LEAST}
    return ask


def criterion(program: str):
    def ask(trees: list[Path], _: Path) -> dict[str, float]:
        claimed = {}
        home = str(trees[1] / "criterion-home")
        for tree, option in zip(trees, ["--save-baseline", "--baseline"]):
            file = newest(tree, program)
            text = said([str(file), "--bench", "--warm-up-time", "1", "--measurement-time", "2", "--noplot", option, "base"],
                        tree, CRITERION_HOME=home)
        for name, change, word in re.findall(
                r"^(\S[^\n]*?)\s*\n?\s+time:[^\n]*\n\s+change:\s+\[\S+ (\S+)% \S+[^\n]*\n\s+(Performance has \w+|Change within|No change)",
                text, re.M):
            if word.startswith("Performance"):
                claimed[name.strip()] = float(change.replace("−", "-")) / 100
        return claimed
    return ask


def printed(command, pattern: str, higher_is_better: bool = False):
    def ask(trees: list[Path], _: Path) -> dict[str, float]:
        figures = []
        for tree in trees:
            text, of_tree, seen = said(command(tree), tree), {}, {}
            for m in re.finditer(pattern, text, re.M):
                name = m["name"].strip()
                seen[name] = seen.get(name, 0) + 1
                # divan's groups have benchmarks of the same names; a line that is written over is the last one's.
                of_tree[name if "\r" in text else f"{name} {seen[name]}"] = value_of(m)
            figures.append(of_tree)
        if not figures[0]:
            sys.exit(f"{trees[0]}: no figures")
        found = {}
        for name in figures[0].keys() & figures[1].keys():
            ratio = figures[1][name] / figures[0][name]
            change = (1 / ratio if higher_is_better else ratio) - 1
            if abs(change) > LEAST:
                found[name] = change
        return found
    return ask


def value_of(match: re.Match) -> float:
    factor = {"ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9}.get(match.groupdict().get("unit") or "ns", 1)
    return float(match["value"].replace(",", "")) * factor


def hyperfine(command: str):
    def ask(trees: list[Path], _: Path) -> dict[str, float]:
        out = trees[1] / "hyperfine.json"
        said(["hyperfine", "--shell=none", "--warmup", "2", "--runs", "40", "--export-json", str(out),
              *[command.replace("TREE", str(tree)) for tree in trees]], trees[0])
        one, other = json.loads(out.read_text())["results"]
        ratio = other["mean"] / one["mean"]
        deviation = ratio * ((one["stddev"] / one["mean"]) ** 2 + (other["stddev"] / other["mean"]) ** 2) ** 0.5
        return {command: ratio - 1} if abs(ratio - 1) > max(deviation, LEAST) else {}
    return ask


def benchstat(command: str):
    def ask(trees: list[Path], _: Path) -> dict[str, float]:
        files = []
        for tree in trees:
            files.append(tree / "benchstat.txt")
            files[-1].write_text(said(command, tree))
        text = said(["benchstat", "-format", "csv", *map(str, files)], trees[0])
        found = {}
        for row in text.splitlines():
            cells = row.split(",")
            if len(cells) > 6 and re.match(r"[+-][\d.]+%", cells[5]):
                found[cells[0]] = float(cells[5].rstrip("%")) / 100
            if "B/s" in row and "vs base" in row:
                break
        return {name: change for name, change in found.items() if name != "geomean"}
    return ask


def newest(tree: Path, program: str) -> Path:
    files = [file for file in tree.glob(program) if file.is_file() and "." not in file.name]
    return max(files, key=lambda file: file.stat().st_mtime)


DIVAN = r"^[│ ]*[├╰]─ (?P<name>\S+)\s+(?P<fastest>[\d.]+) \S+\s+│ [\d.]+ \S+\s+│ (?P<value>[\d.]+) (?P<unit>\S+)"
PROJECTS = {
    "ada": ("compare.py, 9 repetitions", compare_py("build/benchmarks/bench", "0.2s")),
    "abseil": ("compare.py, 9 repetitions", compare_py("build/numbers", "0.05")),
    "CRoaring": ("compare.py, 9 repetitions", compare_py("build/microbenchmarks/bench", "0.005s")),
    "itoa": ("criterion", criterion("target/release/deps/bench-*")),
    "anstyle": ("divan", printed(lambda tree: [str(newest(tree, "target/release/deps/parse-*")), "--bench"], DIVAN)),
    "svector": ("nanobench", printed(lambda tree: "build/test/bench-solo insert_front_int 3; build/test/bench-solo accumulate 3",
                                     r"^\|\s+(?P<value>[\d.,]+) \|.*\| `?(?P<name>[^|`\n]+)`?$")),
    "fast_float": ("its own table", printed(lambda tree: "build/benchmarks/realbenchmark",
                                            r"^(?P<name>fastfloat \(\d+\)) +: +(?P<value>[0-9.]+) MB/s", True)),
    "lz4": ("lz4 -b", printed(lambda tree: f"./lz4 -b1 -i3 {WORDS} 2>&1",
                             r"(?P<name>METHODOLOGY)\.md\s+:[^\r\n]*?(?P<value>[\d.]+) MB/s,? *[\d.]+ MB/s", True)),
    "lua": ("hyperfine, 40 runs", hyperfine(f"TREE/lua {HERE}/reverse.lua")),
    "xxhash": ("benchstat, 10 runs", benchstat("./bench.test -test.run '^$' -test.bench . -test.benchtime 10ms -test.count 10")),
}


# What a tree has that was built.
BUILT = {"ada": "build/benchmarks/bench", "abseil": "build/numbers", "CRoaring": "build/microbenchmarks/bench", "itoa": "target/release",
         "anstyle": "target/release", "svector": "build/test/bench-solo", "fast_float": "build/benchmarks/realbenchmark",
         "lz4": "lz4", "lua": "lua", "xxhash": "bench.test"}


def tree_of(clone: Path, branch: str) -> Path:
    commit = subprocess.run(["git", "-C", str(clone), "rev-parse", branch], check=True, capture_output=True, text=True).stdout[:12]
    trees = [tree for tree in clone.glob(f".assay/store/sides/*/trees/{commit}") if (tree / BUILT[clone.name]).exists()]
    if not trees:
        sys.exit(f"{clone.name}: run.py has left no build of {branch}")
    return max(trees, key=lambda tree: tree.stat().st_mtime)


def main(folder: Path, tools: Path, projects: list[str]) -> None:
    for name, _, only in (project.partition(":") for project in projects):
        tool, ask = PROJECTS[name]
        for branch in [only] if only else ["null", "slow"]:
            trees = [tree_of(folder / name, side) for side in ("base", branch)]
            claimed = ask(trees, tools)
            told = ", ".join(f"{what} {change * 100:+.1f} %" for what, change in sorted(claimed.items()))
            print(f"{name} {branch}: {tool}: {len(claimed)} claimed: {told}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__.splitlines()[0])
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:] or list(PROJECTS))
