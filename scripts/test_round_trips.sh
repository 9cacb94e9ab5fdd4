#!/usr/bin/env bash
# Do other tools read what `assay export` writes, and does `assay import` read what they write? With the tools themselves:
# benchstat and `go test`, Google Benchmark and its compare.py, critcmp, hyperfine, DuckDB for Parquet. Each figure that a tool
# gives back is compared with assay's own; no time is judged. A tool that is not installed is skipped and counted:
# `scripts/setup.sh round-trips` installs them.
#    Use: scripts/test_round_trips.sh        ASSAY=PROGRAM: another assay than target/debug/assay
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
assay=${ASSAY:-$root/target/debug/assay}
[ -x "$assay" ] || { echo "test_round_trips.sh: there is no $assay: cargo build" >&2; exit 1; }
tools=$root/target/round_trips
go=$(command -v go || echo /usr/local/go/bin/go)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
passed=0 skipped=0
ok() { echo "ok: $1"; passed=$((passed + 1)); }
skip() { echo "skipped: $1"; skipped=$((skipped + 1)); }
fail() { echo "test_round_trips.sh: $1" >&2; exit 1; }
command -v gcc > /dev/null || { echo "skipped: the round trips: there is no gcc"; exit 0; }

# ---- one small campaign, and its figures by assay itself
cp "$root/harness/assay.h" .
cat > work.c << 'END'
#include <assay.h>
static uint64_t sum(const uint8_t *data, size_t size) { uint64_t s = 0; while (size) s += data[--size]; return s; }
static uint64_t add(const uint8_t *data, size_t size) { uint64_t s = 0; for (size_t i = 0; i < size; i++) s += data[i]; return s; }
ASSAY_VARIANT("sum", sum)
ASSAY_VARIANT("add", add)
ASSAY_MAIN()
END
cat > experiment.toml << 'END'
name = "trips"
question = "Is add faster than sum?"
unit = "byte"
baseline = "sum"
variants = ["sum", "add"]
compilers = ["gcc"]
flags = ["-O1"]
budget = 1
[program]
sources = ["work.c"]
[placement]
rotations = 3
max_rotations = 3
phases = [0, 32]
[inputs.bytes]
generator = "constant"
format = "bytes"
length = 1
units = 4096
END
"$assay" run experiment.toml --quiet > run.log 2>&1 || [ $? = 1 ] || { cat run.log >&2; exit 1; }
"$assay" export google-benchmark -o google.json 2> /dev/null
"$assay" export csv -o samples.csv 2> /dev/null

# A history of this name has this many numbers: what was read of a tool's file.
imported() { # $1 format, $2 file, $3 numbers
    "$assay" import "$1" "$2" --name "trip-$1" > import.log 2>&1 || { cat import.log >&2; fail "assay does not read what $1 writes"; }
    local found
    found=$(python3 -c '
import sqlite3, sys
print(*sqlite3.connect(".assay/ledger.db").execute("SELECT count(*) FROM imported_figure f JOIN imported i ON f.imported = i.id WHERE i.name = ?", [sys.argv[1]]).fetchone())' "trip-$1")
    [ "$found" = "$3" ] || fail "of what $1 wrote $found numbers were read, not $3"
    "$assay" history "trip-$1" > history.log 2>&1 || { cat history.log >&2; fail "the history of what $1 wrote cannot be shown"; }
}

# ---- Go
if [ -x "$tools/bin/benchstat" ]; then
    "$assay" export go -o go.txt 2> /dev/null
    "$tools/bin/benchstat" -format csv -col /variant go.txt > benchstat.csv 2> benchstat.log || { cat benchstat.log >&2; fail "benchstat refuses the export"; }
    python3 - << 'END'
import csv, json, statistics
wanted = {}
for one in json.load(open("google.json"))["benchmarks"]:
    if one.get("run_type", "iteration") == "iteration":
        wanted.setdefault("sum" if "/sum" in one["name"] else "add", []).append(one["real_time"])
rows = list(csv.reader(open("benchstat.csv")))
heads = next(row for row in rows if "sum" in row and "add" in row)
times = next(row for row in rows[rows.index(heads):] if row and row[0].startswith("Trips"))
for variant, values in wanted.items():
    at = heads.index(variant)
    found, own = float(times[at]) * 1e9, statistics.median(values)
    assert abs(found / own - 1) < 1e-3, f"{variant}: benchstat {found} ns, assay {own} ns"
assert len(wanted) == 2
END
    ok "benchstat reads the export and has its medians"
else
    skip "reading the export with benchstat: it is not installed"
fi
if "$go" version > /dev/null 2>&1; then
    mkdir go && cd go
    printf 'module trips\n\ngo 1.19\n' > go.mod
    cat > trips_test.go << 'END'
package trips

import "testing"

var sink uint64

func BenchmarkSum(b *testing.B) {
	for _, n := range []uint64{1, 2} {
		b.Run(map[uint64]string{1: "one", 2: "two"}[n], func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				sink += uint64(i) * n
			}
		})
	}
}
END
    GOFLAGS=-mod=mod GOTOOLCHAIN=local "$go" test -bench . -benchtime 1000x -count 3 > ../real-go.txt 2>&1 || { cat ../real-go.txt >&2; fail "go test failed"; }
    cd ..
    imported go real-go.txt 6
    ok "what go test writes is imported"
else
    skip "importing what go test writes: there is no go"
fi

# ---- Google Benchmark
if [ -e /usr/share/benchmark/compare.py ] && /usr/bin/python3 -c 'import scipy' 2> /dev/null; then
    /usr/bin/python3 /usr/share/benchmark/compare.py --no-color filters google.json /sum /add > compare.log 2>&1 || { cat compare.log >&2; fail "compare.py refuses the export"; }
    python3 - << 'END'
import json, re, statistics
times = {"sum": [], "add": []}
for one in json.load(open("google.json"))["benchmarks"]:
    if one.get("run_type", "iteration") == "iteration":
        times["sum" if "/sum" in one["name"] else "add"].append(one["real_time"])
own = statistics.median(times["add"]) / statistics.median(times["sum"]) - 1
told = re.search(r"vs\. /add\]\S*_median +([-+][0-9.]+)", open("compare.log").read())
assert told and abs(float(told[1]) - own) < 1e-4, f"compare.py says {told and told[1]}, assay {own:+.4f}"
END
    ok "Google Benchmark's compare.py finds the difference of the export's medians"
else
    skip "reading the export with compare.py: it is not installed"
fi
if [ -e /usr/include/benchmark/benchmark.h ] && command -v g++ > /dev/null; then
    cat > real.cpp << 'END'
#include <benchmark/benchmark.h>
static void sum(benchmark::State &state) {
  for (auto _ : state) { long s = 0; for (long i = 0; i < state.range(0); i++) benchmark::DoNotOptimize(s += i); }
}
BENCHMARK(sum)->Arg(8)->Arg(64);
BENCHMARK_MAIN();
END
    g++ -O1 -std=c++17 real.cpp -lbenchmark -lpthread -o real
    ./real --benchmark_min_time=0.001 --benchmark_repetitions=3 --benchmark_out=real-google.json > /dev/null 2>&1 || ./real --benchmark_min_time=0.001s --benchmark_repetitions=3 --benchmark_out=real-google.json > /dev/null
    imported google-benchmark real-google.json 6
    ok "what a program of Google Benchmark writes is imported"
else
    skip "importing what Google Benchmark writes: it is not installed"
fi

# ---- criterion
if [ -x "$tools/bin/critcmp" ]; then
    "$assay" export criterion -o target/criterion 2> /dev/null
    "$tools/bin/critcmp" --target-dir target --list new > critcmp.log 2>&1 || { cat critcmp.log >&2; fail "critcmp refuses the export"; }
    for variant in sum add; do grep -q "$variant" critcmp.log || { cat critcmp.log >&2; fail "critcmp does not know $variant"; }; done
    "$assay" import criterion target/criterion --name trip-criterion > import.log 2>&1 || { cat import.log >&2; fail "assay does not read its own export for criterion"; }
    ok "critcmp reads the export, and assay reads it again"
else
    skip "reading the export with critcmp: it is not installed"
fi

# ---- hyperfine
if command -v hyperfine > /dev/null; then
    hyperfine --shell none --runs 3 --warmup 1 --export-json real-hyperfine.json 'sh -c :' 'sleep 0.002' > /dev/null 2>&1
    imported hyperfine real-hyperfine.json 6
    "$assay" export hyperfine -o hyperfine.json 2> /dev/null
    python3 - << 'END'
import json
own, real = (set(json.load(open(name))["results"][0]) for name in ("hyperfine.json", "real-hyperfine.json"))
assert {"command", "mean", "stddev", "median", "min", "max", "times"} <= own & real, f"keys: {own} and {real}"
END
    ok "what hyperfine writes is imported, and the export has its keys"
else
    skip "importing what hyperfine writes: it is not installed"
fi

# ---- Parquet
if "$tools/venv/bin/python3" -c 'import duckdb' 2> /dev/null; then
    "$assay" export parquet -o samples.parquet 2> /dev/null
    "$tools/venv/bin/python3" - << 'END'
import csv, duckdb
parquet = duckdb.sql("SELECT * FROM 'samples.parquet'")
rows = list(csv.DictReader(open("samples.csv")))
assert parquet.columns == list(rows[0]), f"columns: {parquet.columns} and {list(rows[0])}"
found = parquet.fetchall()
assert len(found) == len(rows) and rows, f"rows: {len(found)} and {len(rows)}"
numbers = 0
for one, other in zip(found, rows):
    for value, text in zip(one, other.values()):
        if isinstance(value, bool):
            same = text in (str(int(value)), str(value).lower())
        elif isinstance(value, (int, float)):
            same = abs(float(text) - value) <= 1e-9 * max(1.0, abs(value))
            numbers += 1
        else:
            same = (value or "") == text
        assert same, f"{value!r} and {text!r}"
assert numbers > len(rows)
END
    ok "DuckDB reads every sample of the Parquet file as the CSV has it"
else
    skip "reading the Parquet file with DuckDB: it is not installed"
fi
echo "round trips: $passed passed, $skipped skipped"
