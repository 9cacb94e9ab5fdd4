#!/usr/bin/env python3
"""Runs `cargo test ...` (its arguments) and says at the end which ten tests took longest, and then what failed, with its output.

libtest tells times only to a nightly compiler, but they follow from what it prints. It starts tests in the order of their
names and keeps as many running as there are threads; a line comes as a test ends, and then the next one starts. So the test
at place k of the names starts when the line at place k minus threads comes. Exact but for the time between a test's end
and its line. Each program of tests runs alone, so the sum of its times divided by the threads is at most its wall time.
"""

import os
import re
import subprocess
import sys
import time

SHOWN = 10
ENDED = re.compile(r"^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored.*)$")
PROGRAM = re.compile(r"^\s*(?:Running .+ \(.*/(.+?)-[0-9a-f]+\)|Doc-tests (\S+))$")
# libtest shows what the failed tests of a program printed between these.
SHOWS = re.compile(r"^---- (.+) stdout ----$")
LISTS = re.compile(r"^failures:$")
# Lines of a failed test that are said again.
MOST_LINES = 40
# Tests of crashing programs let the emulator say this; who looks for what failed must not find it.
EXPECTED = "qemu: uncaught target signal"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def durations(begun, ends, threads):
    """Name and seconds of each test of one program, from its start and the (name, time) of its ends as they came."""
    starts = [begun] * threads + [ended for _, ended in ends]
    started = dict(zip(sorted(name for name, _ in ends), starts))
    return [(name, ended - started[name]) for name, ended in ends]


class Programs:
    """What the lines tell, program after program."""

    def __init__(self, threads):
        self.threads, self.found = threads, []
        self.label, self.begun, self.ends = "", None, []
        self.failed, self.shown = [], None

    def read(self, line):
        now = time.monotonic()
        if match := PROGRAM.match(line):
            self.finish()
            self.label = match[1] or f"{match[2]} (examples)"
        elif re.match(r"^running \d+ tests?$", line):
            self.finish()
            self.begun = now
        elif (match := ENDED.match(line)) and self.begun is not None:
            self.ends.append((match[1], now))
            if match[2] == "FAILED":
                self.failed.append((f"{self.label} {match[1]}", []))
        elif match := SHOWS.match(line):
            name = f"{self.label} {match[1]}"
            self.shown = next((said for failed, said in self.failed if failed == name), None)
        elif LISTS.match(line):
            self.shown = None
        elif self.shown is not None:
            self.shown.append(line)

    def finish(self):
        if self.begun is not None:
            for name, seconds in durations(self.begun, self.ends, self.threads):
                self.found.append((seconds, self.label, name))
        self.begun, self.ends = None, []


def main():
    # A quarter of the time of our tests is waiting: for a program that measures on one core, for a file, for a time to pass.
    processors = len(os.sched_getaffinity(0))
    threads = int(os.environ.get("RUST_TEST_THREADS") or processors + (processors + 1) // 2)
    environment = {**os.environ, "RUST_TEST_THREADS": str(threads)}
    if sys.stdout.isatty():
        environment.setdefault("CARGO_TERM_COLOR", "always")
    child = subprocess.Popen(
        sys.argv[1:], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    programs = Programs(threads)
    for line in child.stdout:
        if line.startswith(EXPECTED):
            continue
        sys.stdout.write(line)
        sys.stdout.flush()
        programs.read(COLOUR.sub("", line.rstrip("\n")))
    programs.finish()
    slowest = sorted(programs.found, reverse=True)[:SHOWN]
    if slowest:
        print(f"the {len(slowest)} slowest of {len(programs.found)} tests:")
    for seconds, label, name in slowest:
        print(f"{seconds:8.1f} s  {label}  {name}")
    for name, said in programs.failed:
        print(f"FAILED: {name}")
        end = said.index("stack backtrace:") if "stack backtrace:" in said else len(said)
        print("".join(f"    {line}\n" for line in said[:end][:MOST_LINES] if line), end="")
    return child.wait()


if __name__ == "__main__":
    sys.exit(main())
