#!/usr/bin/env python3
"""Elapsed, user and system time and the memory of each step, over real sockets: what the document prints after each change.

Use: casebook/transport/times.py [KIB] [ROUNDS] [STAGES] [--raw] [--json FILE]
400 KiB, 21 rounds and the document's rows unless told. STAGES: MODE-STAGE, joined by commas, such as
Debug-0,ReleaseSafe-7; from 9 on the number is build.sh's -Dsteps. --json: the medians as casebook/results.py keeps
them.

Method: sender and receiver as processes of their own on 127.0.0.1, all builds in turn in each round, medians; user and
system time are the kernel's (wait4). Peaks of memory come from a round of their own, in which /proc is read all the time
(wait4's would be that of this program, from which the others are forked). What arrived is compared with what was sent.
Known limits: an elapsed time is mostly waiting, and a lost datagram costs a timer; nothing is dropped on purpose.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROWS = [f"Debug-{stage}" for stage in range(8)] + ["ReleaseSafe-0", "ReleaseSafe-7"]
STEPS = ["original", "quiet", "direct", "unchecked", "built-in moves", "10 KB", "hints", "table", "batches"]


def build(row, folder):
    mode, stage = row.split("-")
    chosen = f"-Dstage={stage}" if int(stage) < len(STEPS) else f"-Dsteps={stage}"
    subprocess.run([HERE / "build.sh", chosen, f"-Dmode={mode}", folder], check=True)
    return folder / "transport"


def peak(process, until):
    """KiB of memory at most, read until it has ended."""
    most = 0
    while until(process):
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        except ProcessLookupError:
            break
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        most = max(most, int(found[1]) if found else 0)
        time.sleep(0.0002)
    return most


def peaks(program, file, folder):
    """KiB of memory at most of the sender and of the receiver."""
    quiet = {"stderr": subprocess.DEVNULL, "text": True}
    receiver = subprocess.Popen([program, "receive", "0", folder], stdout=subprocess.PIPE, **quiet)
    port = receiver.stdout.readline().split()[-1]
    sender = subprocess.Popen([program, "send", "127.0.0.1", port, file], stdout=subprocess.DEVNULL, **quiet)
    with concurrent.futures.ThreadPoolExecutor() as threads:
        runs = [threads.submit(peak, process, lambda process: process.poll() is None) for process in (sender, receiver)]
        receiver.stdout.read()
        found = [run.result() for run in runs]
    (folder / file.name).unlink()
    return found


def finished(process):
    """Waits: user and system time, as the kernel counted them."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"times.py: {process.args} ends with {process.returncode}")
    return usage.ru_utime, usage.ru_stime


def transfer(program, file, folder):
    """(elapsed s, user s, system s) of the sender and of the receiver."""
    quiet = {"stderr": subprocess.DEVNULL, "text": True}
    begin = time.monotonic()
    receiver = subprocess.Popen([program, "receive", "0", folder], stdout=subprocess.PIPE, **quiet)
    port = receiver.stdout.readline().split()[-1]
    heard = time.monotonic()
    sender = subprocess.Popen([program, "send", "127.0.0.1", port, file], stdout=subprocess.DEVNULL, **quiet)
    sent = finished(sender)
    sent_at = time.monotonic()
    while receiver.stdout.readline():
        pass
    got = finished(receiver)
    received_at = time.monotonic()
    if (folder / file.name).read_bytes() != file.read_bytes():
        sys.exit(f"times.py: {program} delivered another file")
    (folder / file.name).unlink()
    return (sent_at - heard, *sent), (received_at - begin, *got)


def cells_of(seen, memory):
    """The medians as casebook/results.py keeps them."""
    cells = []
    for row, found in seen.items():
        for side, role in enumerate(("sender", "receiver")):
            elapsed = 1000 * statistics.median(sides[side][0] for sides in found)
            processor = 1000 * statistics.median(sides[side][1] + sides[side][2] for sides in found)
            cells.append(
                {"variant": row, "input": role, "compiler": "", "flags": ""}
                | {"elapsed_ms": round(elapsed, 1), "cpu_ms": round(processor, 1), "peak_kib": memory[row][side]}
            )
    return cells


def main(words):
    raw = "--raw" in words
    words = [word for word in words if word != "--raw"]
    kept = None
    if "--json" in words[:-1]:
        place = words.index("--json")
        kept = pathlib.Path(words[place + 1])
        del words[place : place + 2]
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    if len(words) > 3 or not all(re.fullmatch(r"\d+", word) for word in words[:2]):
        sys.exit(__doc__)
    kib, rounds = (int(words[place]) if len(words) > place else default for place, default in ((0, 400), (1, 21)))
    rows = words[2].split(",") if len(words) > 2 else ROWS
    seen = {row: [] for row in rows}
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        file, folder = root / "file.bin", root / "got"
        folder.mkdir()
        file.write_bytes(os.urandom(kib << 10))
        programs = {row: build(row, root / row) for row in rows}
        # Both processes on one core, and not on the first, which serves most interrupts.
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        for _ in range(rounds):
            for row in rows:
                seen[row].append(transfer(programs[row], file, folder))
        memory = {row: peaks(programs[row], file, folder) for row in rows}
    if raw:
        for row, found in seen.items():
            for sides in found:
                print(row, *(f"{figure:.6f}" for side in sides for figure in side), sep="\t")
        return
    if kept:
        kept.write_text(json.dumps({"schema": "casebook.script/1", "started": started, "cells": cells_of(seen, memory)}))
    titles = [f"{side} {what}" for side in ("sender", "receiver") for what in ("elapsed ms", "user ms", "system ms", "peak KiB")]
    print("| build | step | " + " | ".join(titles) + " |\n|---|---|" + "--:|" * len(titles))
    for row, found in seen.items():
        cells = []
        for side in range(2):
            middle = [statistics.median(sides[side][what] for sides in found) for what in range(3)]
            cells += [f"{1000 * figure:.1f}" for figure in middle] + [str(memory[row][side])]
        step = int(row.split("-")[1])
        print(f"| {row} | {STEPS[step] if step < len(STEPS) else 'these steps'} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
