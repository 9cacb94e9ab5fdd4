#!/usr/bin/python3
"""What do `assay compare` and Google Benchmark's own compare.py say of two revisions of one suite?

  bench/compare/run.py [BUDGET]   seconds of measuring per comparison, 240 if not given

Builds fixtures/compare in three revisions (base; cold: an unrelated function added; slow: crc32 does 5 % more), asks
both tools about base against cold and base against slow, and prints one table. compare.py is asked as its users do: the
binaries as built, nine repetitions each, one after the other; its U test flags what has p < 0.05.
Needs: cmake, Google Benchmark with its tools and scipy (Debian: libbenchmark-dev, libbenchmark-tools), make build.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = "cmake -B build > /dev/null && cmake --build build"
TOOLS = "/usr/share/benchmark"
ALPHA = 0.05


def repository(folder):
    """The three revisions as branches of a repository."""
    project = folder / "project"
    shutil.copytree(ROOT / "fixtures/compare/suite", project)
    (project / ".gitignore").write_text("build/\n.assay/\n")

    def git(*words):
        identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *words], cwd=project, check=True)

    git("init", "--quiet", "--initial-branch=base")
    git("add", ".")
    git("commit", "--quiet", "-m", "base")
    for name in ("cold", "slow"):
        git("checkout", "--quiet", "-b", name, "base")
        git("apply", str(ROOT / f"fixtures/compare/{name}.patch"))
        git("commit", "--quiet", "-am", name)
    git("checkout", "--quiet", "base")
    return project


def repeated(project, folder, name):
    """Nine repetitions of every benchmark of a revision as built, by benchmark: CPU times and wall times."""
    tree = folder / f"tree-{name}"
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(tree), name], cwd=project, check=True)
    subprocess.run(BUILD, shell=True, cwd=tree, check=True, stdout=subprocess.DEVNULL)
    words = ["build/suite", "--benchmark_repetitions=9", "--benchmark_min_time=0.05", "--benchmark_format=json"]
    out = subprocess.run(words, cwd=tree, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    figures = {}
    for run in json.loads(out)["benchmarks"]:
        if run["run_type"] == "iteration":
            cpu, wall = figures.setdefault(run["name"], ([], []))
            cpu.append(run["cpu_time"])
            wall.append(run["real_time"])
    return figures


def u_test(base, other):
    """By benchmark: whether compare.py flags it, and the ratio of its medians."""
    sys.path.insert(0, TOOLS)
    from gbench import report  # pylint: disable=import-error, import-outside-toplevel

    flagged = {}
    for name, (cpu, wall) in base.items():
        timings = lambda one, two: [one, two]
        _, p_cpu, _ = report.calc_utest(timings(cpu, other[name][0]), timings(wall, other[name][1]))
        middle = lambda values: sorted(values)[len(values) // 2]
        flagged[name] = (p_cpu is not None and p_cpu < ALPHA, middle(other[name][0]) / middle(cpu))
    return flagged


def assay(project, folder, other, budget):
    page = folder / f"{other}.json"
    words = ["compare", "--build", BUILD, "--bench", "build/suite", "--budget", str(budget), "--quiet", "--all"]
    program = os.environ.get("ASSAY", str(ROOT / "target/release/assay"))
    ran = subprocess.run([program, *words, "--json", str(page), "base", other], cwd=project, stdout=subprocess.PIPE)
    sys.stderr.write(ran.stdout.decode())
    return json.loads(page.read_text())


def main():
    budget = float(sys.argv[1]) if len(sys.argv) > 1 else 240
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        project = repository(folder)
        as_built = {name: repeated(project, folder, name) for name in ("base", "cold", "slow")}
        for other in ("cold", "slow"):
            flagged = u_test(as_built["base"], as_built[other])
            found = assay(project, folder, other, budget)
            verdicts = {entry["benchmark"]: entry for entry in found["benchmarks"]}
            print(f"base against {other}")
            print(f"  {'benchmark':<20} {'compare.py':>18}   {'assay':>8}  verdict")
            for name, (flag, ratio) in flagged.items():
                entry = verdicts[name]
                code = f"{(entry['code']['ratio'] - 1) * 100:+.1f} %" if entry["code"] else "-"
                word = "different" if flag else "alike"
                print(f"  {name:<20} {(ratio - 1) * 100:+6.1f} % {word:>9}   {code:>8}  {entry['verdict']}")
            wrong = [name for name, (flag, _) in flagged.items() if flag and (other, name) != ("slow", "crc32")]
            called = [name for name, entry in verdicts.items() if entry["verdict"] in ("faster", "slower")]
            print(f"  of {len(flagged)} benchmarks compare.py flags {len(wrong)} that did not change; assay calls faster or slower: {called}\n")


if __name__ == "__main__":
    main()
