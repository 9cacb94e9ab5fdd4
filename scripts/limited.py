#!/usr/bin/env python3
"""Runs a command for so many seconds at most: limited.py SECONDS COMMAND...

A test that hangs must say so while somebody still listens. When its time is over, the processes that it left running are
listed with what each waits for, all are killed, and the exit code is 124, as timeout's is. Otherwise it is the command's own.
"""

import os
import pathlib
import signal
import subprocess
import sys


def processes():
    """Parent, state and command line of every process, by number."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[:2]
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:  # it has ended meanwhile
            continue
        found[int(folder.name)] = (int(parent), state, line)
    return found


def below(root, known):
    """The numbers of a process and of all that it started, with how deep each lies, parents first."""
    rest, found = [(root, 0)], []
    while rest:
        one, depth = rest.pop()
        found.append((one, depth))
        rest += [(child, depth + 1) for child, (parent, _, _) in sorted(known.items(), reverse=True) if parent == one]
    return found


def waits_for(one):
    """Where the threads of a process wait in the kernel; empty where the kernel does not say."""
    places = set()
    for task in pathlib.Path(f"/proc/{one}/task").glob("*"):
        try:
            places.add((task / "wchan").read_text())
        except OSError:
            continue
    return " ".join(sorted(places - {"0", ""}))


def end(root, show):
    """Kills a process and all that it started, in sessions of their own too."""
    known = processes()
    tree = below(root, known)
    for one, depth in tree if show else ():
        _, state, line = known.get(one, (0, "?", ""))
        print(f"{'  ' * depth}{one} {state} {waits_for(one)}: {line[:200]}", flush=True)
    for one, _ in tree:
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            pass


def main():
    seconds, command = float(sys.argv[1]), sys.argv[2:]
    child = subprocess.Popen(command)

    def stop(number, _):
        end(child.pid, show=False)
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        code = child.wait(seconds)
    except subprocess.TimeoutExpired:
        print(f"{' '.join(command)} has not ended after {seconds:.0f} s. These run:", flush=True)
        end(child.pid, show=True)
        child.wait()
        return 124
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
