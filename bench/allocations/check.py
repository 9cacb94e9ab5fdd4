#!/usr/bin/env python3
"""Allocations, allocated bytes and the peak of five programs as assay counts them, beside valgrind's.

Usage: bench/allocations/check.py        (needs gcc, g++, rustc and valgrind; 20 s)

Under valgrind a program does one pass over an input, and in another process two or none: what the harness itself
allocates cancels out. memcheck's summary has the allocations and their bytes, dhat's the most at once (t-gmax). As a
harness may have held more while it started than when it calls, peaks are compared by their growth from half of the
input to all of it.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
top = here.parents[1]
work = pathlib.Path(tempfile.mkdtemp())
INPUT = work / "input"
INPUT.write_bytes(bytes(min(i // 16, 255) for i in range(4000)))


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **options)


def build():
    run("gcc", "-O2", "-shared", "-fPIC", top / "crates/assay-lab/src/campaign/count/allocations/heap.c", "-o", work / "heap.so")
    programs = []
    for source in sorted([*here.glob("*.c"), *here.glob("*.cpp")]):
        compiler = ["gcc", "-std=gnu11"] if source.suffix == ".c" else ["g++", "-std=c++17"]
        run(*compiler, "-O1", "-fno-builtin-malloc", "-I", top / "harness", source, "-o", work / source.stem)
        programs.append(work / source.stem)
    crate = top / "crates/assay-harness/src/lib.rs"
    rust = ["rustc", "--edition", "2024", "-O"]
    run(*rust, "--crate-type", "rlib", "--crate-name", "assay_harness", crate, "-o", work / "libassay_harness.rlib")
    run(*rust, here / "rust.rs", "--extern", f"assay_harness={work}/libassay_harness.rlib", "-o", work / "rust")
    return [*programs, work / "rust"]


def talk(program, variant, passes, prefix=(), share=1, **variables):
    size, part = INPUT.stat().st_size, INPUT.stat().st_size // share
    requests = (f"load id=0 size={size} units={size} windows=1 path={INPUT}\nwindow 0 {part} {part}\n"
                f"trace variant={variant} input=0 window=0 windows=1 passes={passes}\nbye\n")
    environment = {**os.environ, "ASSAY_CHANNEL": "0,1", **variables}
    return run(*prefix, program, input=requests, env=environment)


def variants(program):
    return [line.split(" ")[0] for line in run(program, "--list").stdout.splitlines()]


def memcheck(program, variant, passes):
    said = talk(program, variant, passes, ["valgrind", "--run-libc-freeres=no"]).stderr
    allocations, allocated = re.search(r"total heap usage: ([\d,]+) allocs, [\d,]+ frees, ([\d,]+) bytes", said).groups()
    return int(allocations.replace(",", "")), int(allocated.replace(",", ""))


def counted(program, variant, share):
    said = talk(program, variant, 1, share=share, LD_PRELOAD=str(work / "heap.so")).stdout
    return [int(re.search(rf" {key}=(\d+)", said).group(1)) for key in ("allocations", "allocated", "peak")]


def most(program, variant, share):
    out = f"--dhat-out-file={work}/dhat"
    said = talk(program, variant, 1, ["valgrind", "--tool=dhat", out], share).stderr
    return int(re.search(r"At t-gmax:\s+([\d,]+) bytes", said).group(1).replace(",", ""))


differing = 0
print(f"{'program':24} {'allocations':>12} {'valgrind':>10} {'bytes':>10} {'valgrind':>10} {'peak +':>8} {'dhat':>8}")
for program in build():
    for number, name in enumerate(variants(program)):
        ours, half = counted(program, number, 1), counted(program, number, 2)
        ours[2] -= half[2]
        one, two = memcheck(program, number, 1), memcheck(program, number, 2)
        peak = most(program, number, 1) - most(program, number, 2)
        theirs = [two[0] - one[0], two[1] - one[1], peak]
        differing += ours != theirs
        print(f"{program.name + ' ' + name:24} {ours[0]:12} {theirs[0]:10} {ours[1]:10} {theirs[1]:10} {ours[2]:8} {theirs[2]:8}")
print("all equal" if differing == 0 else f"{differing} differ")
sys.exit(differing != 0)
