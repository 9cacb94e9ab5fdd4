#!/usr/bin/env python3
"""How fast is a file moved over loopback, beside what one socket can do at all?

Use: casebook/transport/bench.py [MIB] [ROUNDS]     (1024 and 5)
Builds the last stage (ReleaseFast), then in turn, ROUNDS times: a blast of plain datagrams by sendmmsg and recvmmsg, a
blast cut and joined by the kernel, and a transfer between two files in memory: read, checked twice, written, renamed.
Prints each round, then medians and ratios of the same round. Rates are of payloads that arrived, by the wall clock; and what
the busier of the two processes allows, by its processor time, which says more on a machine with other work.
The files are in a file system of huge pages of its own if one may be mounted (root), else in /dev/shm, where allocating
small pages is most of what receiving costs.
"""

import contextlib
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


PAYLOAD = 10208 / 10240  # of a packet


def blast(program, mebibytes):
    """Of plain and of joined datagrams: MB/s of payload that arrived, and what the busier process allows."""
    said = subprocess.run([program, "blast", str(mebibytes)], check=True, capture_output=True, text=True).stdout
    lines = re.findall(r"arrived (\d+) MB/s, lost .*; processor (\d+) and (\d+) us", said)
    return [(PAYLOAD * int(rate), PAYLOAD * (mebibytes << 20) / max(int(one), int(other))) for rate, one, other in lines]


def transfer(program, file, folder):
    """The same of a whole transfer, from the greeting to the renamed file; and what was said of it."""
    receiver = subprocess.Popen([program, "receive", "0", folder], stdout=subprocess.PIPE, text=True)
    port = receiver.stdout.readline().split()[-1]
    said = subprocess.run([program, "send", "127.0.0.1", port, file], check=True, capture_output=True, text=True).stdout
    heard = receiver.communicate()[0]
    assert receiver.returncode == 0
    subprocess.run(["cmp", file, folder / file.name], check=True)
    (folder / file.name).unlink()
    size, micros = map(int, re.match(r"sent (\d+) bytes in (\d+) us", said).groups())
    busier = max(int(re.search(r"processor (\d+) us", text)[1]) for text in (said, heard))
    return (size / micros, size / busier), re.search(r"\d+ packets again", said)[0]


@contextlib.contextmanager
def memory(mebibytes):
    """A folder in memory for two files of that size."""
    root = pathlib.Path(tempfile.mkdtemp(prefix="transport-", dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None))
    words = ["mount", "-t", "tmpfs", "-o", f"huge=within_size,size={3 * mebibytes + 64}m", "tmpfs", root]
    mounted = subprocess.run(words, capture_output=True).returncode == 0
    print("files in", "a file system of huge pages" if mounted else "/dev/shm (no file system of huge pages may be mounted)")
    try:
        yield root
    finally:
        if mounted:
            subprocess.run(["umount", root], check=True)
        shutil.rmtree(root, ignore_errors=True)


def main():
    mebibytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with memory(mebibytes) as root:
        subprocess.run([HERE / "build.sh", "-Dstage=8", "-Dmode=ReleaseFast", root / "out"], check=True)
        program = root / "out" / "transport"
        file, folder = root / "file.bin", root / "got"
        folder.mkdir()
        with file.open("wb") as out, open("/dev/urandom", "rb") as random:
            for _ in range(mebibytes):
                out.write(random.read(1 << 20))
        seen = []
        print(f"{mebibytes} MiB, MB/s of payload, in brackets by processor: plain blast, joined blast, transfer")
        for _ in range(rounds):
            rates = blast(program, mebibytes)
            moved, again = transfer(program, file, folder)
            seen.append((*rates, moved))
            print("  ".join(f"{wall:6.0f} ({busy:5.0f})" for wall, busy in seen[-1]), f"  {again}", flush=True)
        for clock, name in enumerate(("wall clock", "processor")):
            moved = statistics.median(row[2][clock] for row in seen)
            plain, joined = (statistics.median(row[2][clock] / row[blast][clock] for row in seen) for blast in (0, 1))
            print(f"{name}: {moved:.0f} MB/s, {plain:.2f} of the plain blast, {joined:.2f} of the joined one (medians)")


if __name__ == "__main__":
    main()
