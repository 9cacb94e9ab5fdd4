#!/usr/bin/env python3
"""From a file to mispredictions: `assay trace simulate` beside other simulators, which you have built yourself.

Usage: bench/predict/peers.py [--repeats N] [--peer PREDICTOR='COMMAND {}'] ... TRACE...

Each peer is a command for the predictor of ours that it is compared with; {} is the trace. Commands take turns, so that
other work on the machine meets all of them. A figure is the median wall time over the repeats (default 5), divided
by the trace's branches, with start and end of the program; in brackets the processor time of all its processes.
"""

import argparse
import json
import os
import resource
import shlex
import statistics
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT_SECONDS = 1800


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--peer", action="append", default=[], metavar="PREDICTOR=COMMAND")
    parser.add_argument("traces", nargs="+")
    return parser.parse_args()


def built():
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--locked", "-p", "assay"], check=True, cwd=TOP
    )
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(TOP, "target"))
    return os.path.join(target, "release", "assay")


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def timed(command):
    """Wall and processor seconds."""
    started, before = time.perf_counter(), processor_seconds()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LIMIT_SECONDS)
    elapsed, used = time.perf_counter() - started, processor_seconds() - before
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return elapsed, used


def branches_of(simulate, trace):
    """This also has the file in the page cache."""
    page = json.loads(subprocess.run([*simulate, "--json", trace], check=True, stdout=subprocess.PIPE).stdout)
    return page["traces"][0]["branches"]


def in_turns(commands, repeats, branches):
    """For each command, wall and processor ns per branch."""
    times = [[] for _ in commands]
    for _ in range(repeats):
        for command, of_one in zip(commands, times):
            of_one.append(timed(command))
    median = lambda of_one, at: statistics.median(pair[at] for pair in of_one) * 1e9 / branches
    return [(median(of_one, 0), median(of_one, 1)) for of_one in times]


def main():
    asked = arguments()
    simulate = [built(), "trace", "simulate", "--quiet"]
    peers = [peer.partition("=")[::2] for peer in asked.peer]
    print("| trace | predictor | ns per branch (processor) | peer | ratio |")
    print("|---|---|---|---|---|")
    for trace in asked.traces:
        branches = branches_of([*simulate, "--predictor", "always-taken"], trace)
        for predictor, command in peers:
            ours = [*simulate, "--predictor", predictor, trace]
            peer = [word.replace("{}", trace) for word in shlex.split(command)]
            (wall, used), (wall_of_peer, used_of_peer) = in_turns([ours, peer], asked.repeats, branches)
            row = [os.path.basename(trace), predictor, f"{wall:.1f} ({used:.1f})"]
            row += [f"{wall_of_peer:.1f} ({used_of_peer:.1f})", f"{wall / wall_of_peer:.2f}"]
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
