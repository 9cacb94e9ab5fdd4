#!/usr/bin/env python3
"""What the log of an instrumented program costs the program, over ten kernels and two compilers.

Usage: bench/log/run.py [REPEATS] [KERNEL...]    (default 5 repeats, all kernels; needs cargo, gcc and clang)

Each kernel is built with -O2 as it is and with records. Its three ways to run take turns: as built, with records that nobody reads,
and with a reader. Times are the process's own, of the user and of the system; figures are medians of the ratios within each
turn. Standard library only.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SECONDS = 0.1  # of a run as built
BOUNDS = {"median": 1.3, "worst": 3.0}
NULLS = "fixtures/nulls/"
KERNELS = {
    # These branch on their data, or call in their loops.
    "partition_branchy": NULLS,
    "shell_sort": NULLS,
    "heap_sort": NULLS,
    "interpreter_switch": NULLS,
    "function_pointer": NULLS,
    "varint": "bench/log/",
    # A loop's own branch each few instructions.
    "small_callee": NULLS,
    "adler32": NULLS,
    # These hardly branch.
    "fir_filter": NULLS,
    "siphash": NULLS,
}


def driver():
    """The program that builds with records and reads them."""
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--locked", "-p", "assay-trace", "--example", "log_costs"],
        check=True,
        cwd=TOP,
    )
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(TOP, "target"))
    return os.path.join(target, "release", "examples", "log_costs")


def output(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=TOP, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout.split()


def measure(log_costs, store, compiler, kernel, repeats):
    """Ratios of each turn, thrown away and read; branches for each nanosecond as built."""
    asked = [store, compiler, "harness", f"{KERNELS[kernel]}{kernel}.c", "bench/log/main.c"]
    plain, logging = output([log_costs, "build", *asked])
    once = max(int(output([plain, "20"])[0]) / 20, 1000)
    passes = str(max(int(SECONDS * 1e9 / once), 1))
    thrown, read, rate = [], [], 0
    for _ in range(repeats):
        native, answer = output([plain, passes])
        alone, same = output([logging, passes])
        told, again, branches = output([log_costs, "read", passes, *asked])
        if not answer == same == again:
            sys.exit(f"{kernel}, {compiler}: the answer with records is another: {answer} {same} {again}")
        thrown.append(int(alone) / int(native))
        read.append(int(told) / int(native))
        rate = int(branches) / int(native)
    return statistics.median(thrown), statistics.median(read), rate


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    kernels = sys.argv[2:] or list(KERNELS)
    log_costs = driver()
    for compiler in ("gcc", "clang"):
        if shutil.which(compiler) is None:
            print(f"skipped: {compiler} is not on PATH")
            continue
        print(f"{compiler:20} {'branches/ns':>12} {'thrown away':>12} {'read':>8}")
        rows = []
        with tempfile.TemporaryDirectory() as store:
            for kernel in kernels:
                rows.append(measure(log_costs, store, compiler, kernel, repeats))
                thrown, read, rate = rows[-1]
                print(f"{kernel:20} {rate:12.2f} {thrown:12.2f} {read:8.2f}", flush=True)
        for name, of in (("median", statistics.median), ("worst", max)):
            thrown, read = of(row[0] for row in rows), of(row[1] for row in rows)
            missed = "  over its bound" if read > BOUNDS[name] else ""
            print(f"{name:20} {'':12} {thrown:12.2f} {read:8.2f}  bound {BOUNDS[name]}{missed}")


if __name__ == "__main__":
    main()
