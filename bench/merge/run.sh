#!/usr/bin/env bash
# How long does it take to merge ledgers? LEDGER of one campaign becomes 100 of 10,000 samples, as of so many machines.
#   bench/merge/run.sh LEDGER
set -euo pipefail
assay=$(cd "$(dirname "$0")/../.." && pwd)/target/release/assay
[ -f "${1:-}" ] || { echo "usage: bench/merge/run.sh LEDGER (with one campaign)" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 - "$1" "$folder" << 'PYTHON'
import shutil, sqlite3, sys
source, folder = sys.argv[1:]
base = f"{folder}/base.db"
sqlite3.connect(source).execute("VACUUM INTO ?", [base])
ledger = sqlite3.connect(base)
columns = [row[1] for row in ledger.execute("PRAGMA table_info(sample)") if row[1] != "id"]
# A later sample each, so that none is another's copy.
values = ", ".join("at + 0.5 + id * 1e-6" if name == "at" else name for name in columns)
while (missing := 10_000 - ledger.execute("SELECT count(*) FROM sample").fetchone()[0]) > 0:
    ledger.execute(f"INSERT INTO sample ({', '.join(columns)}) SELECT {values} FROM sample LIMIT {missing}")
ledger.commit()
ledger.close()
for shard in range(100):
    path = f"{folder}/{shard}.db"
    shutil.copy(base, path)
    ledger = sqlite3.connect(path)
    ledger.execute("UPDATE campaign SET started_at = started_at + ?", [60 * shard])
    ledger.commit()
    ledger.close()
PYTHON
rm "$folder/base.db"
echo "100 ledgers of 10,000 samples:"
time "$assay" merge "$folder"/*.db --ledger "$folder/all/ledger.db" > /dev/null
echo "the same again, nothing new:"
time "$assay" merge "$folder"/*.db --ledger "$folder/all/ledger.db" > /dev/null
