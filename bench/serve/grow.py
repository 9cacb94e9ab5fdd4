#!/usr/bin/env python3
"""Makes a ledger of many samples from one that has a campaign: each round again and again, each time a little different.

    bench/serve/grow.py LEDGER OUT [SAMPLES]      OUT gets campaign 1 of LEDGER with at least so many samples (1,000,000)

What is made is for timing pages only: the samples are copies, within half a percent of those that were measured.
"""

import pathlib
import shutil
import sqlite3
import sys


def grow(ledger, samples):
    columns = [row[1] for row in ledger.execute("PRAGMA table_info(sample)")]
    (have,) = ledger.execute("SELECT count(*) FROM sample WHERE campaign = 1").fetchone()
    (rounds,) = ledger.execute("SELECT max(round) + 1 FROM round WHERE campaign = 1").fetchone()
    kept = [name for name in columns if name not in ("id", "round", "wall_ns", "cpu_ns")]
    for copy in range(1, -(-samples // have)):
        factor = 1 + (copy * 0.618034 % 1 - 0.5) / 100
        ledger.execute(
            "INSERT INTO round (campaign, round, rotations, started_at, elapsed_ns) SELECT campaign, round + ?, rotations, "
            "started_at, elapsed_ns FROM round WHERE campaign = 1 AND round < ?",
            (copy * rounds, rounds),
        )
        ledger.execute(
            f"INSERT INTO sample (round, wall_ns, cpu_ns, {', '.join(kept)}) SELECT round + ?, CAST(wall_ns * ? AS INTEGER), "
            f"CAST(cpu_ns * ? AS INTEGER), {', '.join(kept)} FROM sample WHERE campaign = 1 AND round < ? ORDER BY id",
            (copy * rounds, factor, factor, rounds),
        )
    ledger.commit()
    return ledger.execute("SELECT count(*) FROM sample WHERE campaign = 1").fetchone()[0]


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    source, target = map(pathlib.Path, sys.argv[1:3])
    shutil.copyfile(source, target)
    print(f"{grow(sqlite3.connect(target), int((sys.argv + ['1000000'])[3])):,} samples in {target}")


if __name__ == "__main__":
    main()
