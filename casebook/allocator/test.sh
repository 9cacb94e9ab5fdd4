#!/bin/bash
# Proves that the allocator keeps its promises (tiny.h), in its stages, alone and as the malloc of real programs, and that
# results/README.md says the truth of its source. Under a minute.
# Use: casebook/allocator/test.sh
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LC_ALL=C

fail() {
    echo "test.sh: $*" >&2
    exit 1
}

# The flags of a stage, from STAGES.toml.
. ./flags_of.sh

common="-std=gnu11 -g -Wall -Wextra -Werror -pthread"
build() { # $1 compiler, $2 program, then flags
    local compiler=$1 program=$2
    shift 2
    # shellcheck disable=SC2086 # flags
    "$compiler" $common "$@" -o "$program" test_tiny.c tiny.c
}

# ---- the promises, sanitised and as measured

promises() {
    local compiler found=0
    for compiler in gcc clang; do
        if ! command -v "$compiler" > /dev/null 2>&1; then
            echo "skipped: $compiler (not on PATH)"
            continue
        fi
        found=1
        echo "$compiler -O2, 10 million operations:"
        build "$compiler" "$folder/plain" -O2
        "$folder/plain" 10000000 2000
    done
    [ $found = 1 ] || fail "neither gcc nor clang is on PATH; install one of them"
    compiler=$(command -v gcc || command -v clang)
    if build "$compiler" "$folder/address" -O1 -fsanitize=address,undefined -fno-sanitize-recover=all; then
        echo "address and undefined behaviour sanitisers:"
        "$folder/address" 200000 3000
    else
        echo "skipped: the address sanitiser ($compiler has no runtime for it)"
    fi
    if build "$compiler" "$folder/thread" -O1 -fsanitize=thread && "$folder/thread" 0 > /dev/null 2>&1; then
        echo "thread sanitiser:"
        "$folder/thread" 50000 2000
    else
        echo "skipped: the thread sanitiser (it does not run here)"
    fi
}

stages() {
    local name
    for name in debug release release_lto config_once two_layers two_layers_warm hints final header one_pool final_lto; do
        if [[ " debug hints two_layers_warm header one_pool " = *" $name "* ]]; then # these have all that the others have
            # shellcheck disable=SC2046 # flags
            build gcc "$folder/$name" $(flags_of $name)
            "$folder/$name" 100000 500
        fi
        # shellcheck disable=SC2046
        make -s stage FLAGS="$(flags_of $name)" OUT="$folder/out-$name"
        "$folder/out-$name/bench" mixed 100000 256 42 > /dev/null
        "$folder/out-$name/bench" larson 20000 512 7 3 6 > /dev/null
        "$folder/out-$name/bench" replay traces/python.trace > /dev/null
    done
    echo "eleven stages: promises, workloads, recorded trace"
    make -s bench-release OUT="$folder/out-bench-release"
    "$folder/out-bench-release/bench" mixed 100000 256 42 > /dev/null
    ./effort.py --check
    ./hits.sh --check
}

# ---- real programs

cat > "$folder/script.py" << 'PYTHON'
import collections, json, re, sys, threading, zlib
table = {str(i): [i, i * i, {"k": "v%d" % i}] for i in range(3000)}
text = json.dumps(table, sort_keys=True)
words = collections.Counter(re.findall(r"\w+", text))
results = []
def work(k):
    results.append((k, sum(len(str(i * k)) for i in range(20000)), zlib.crc32(("%d" % k * 100000).encode())))
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(text), zlib.crc32(text.encode()), words.most_common(5), sorted(results), json.loads(text) == table)
PYTHON

same() { # $1 what, then a command: the same output and exit with and without
    local what=$1 plain=0 with=0
    shift
    "$@" > "$folder/plain.out" 2> "$folder/plain.err" || plain=$?
    LD_PRELOAD="$library" "$@" > "$folder/with.out" 2> "$folder/with.err" || with=$?
    [ "$plain" = 0 ] || fail "$what fails without the allocator: $(head -3 "$folder/plain.err")"
    [ "$with" = 0 ] || fail "$what ends with $with under the allocator: $(head -3 "$folder/with.err")"
    cmp -s "$folder/plain.out" "$folder/with.out" || fail "$what says something else under the allocator"
    [ -s "$folder/plain.out" ] || fail "$what says nothing"
}

with_python3() {
    local python
    python=$(python3 -c 'import sys; print(sys.executable)') # what is on PATH may be a script that starts others
    same "python3" "$python" "$folder/script.py"
    PYTHONMALLOC=malloc same "python3, every object by malloc" "$python" "$folder/script.py"
}

with_sqlite3() {
    cat > "$folder/script.sql" << 'SQL'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
    insert into t select i, hex(i * 7919 % 65536), i / 3.0 from n;
create index t_b on t(b);
select count(*), sum(a), min(b), max(b), round(avg(c), 3) from t;
select a % 7, count(*), group_concat(b, ',') from t where a < 400 group by a % 7 order by 2, 1;
delete from t where a % 3 = 0;
vacuum;
select count(*), sum(length(b)) from t;
pragma integrity_check;
SQL
    same "sqlite3" sh -c "rm -f '$folder/db'; sqlite3 '$folder/db' < '$folder/script.sql'"
}

with_git() {
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' \
        GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
    same "git" sh -ec "rm -rf '$folder/repo'; git init -q -b main '$folder/repo'; cp ./*.c ./*.h '$folder/repo'; cd '$folder/repo'
        git add .; git commit -q -m one; for i in 1 2 3 4 5; do echo \$i >> tiny.c; git commit -q -a -m \"change \$i\"; done
        git checkout -q -b side HEAD~2; echo side > side; git add side; git commit -q -m side; git merge -q -m merge main
        git gc -q --aggressive; git fsck --full; git log --stat --format='%H %s'; git diff HEAD~3 | head -50; git blame tiny.c | md5sum"
}

real_programs() {
    local stage program
    for stage in final debug; do
        library=$folder/out-$stage/libtiny.so
        for program in python3 sqlite3 git; do
            if ! command -v $program > /dev/null 2>&1; then
                echo "skipped: $program under LD_PRELOAD (not on PATH)"
                continue
            fi
            with_$program
            echo "$program under LD_PRELOAD ($stage): the same"
        done
    done
}

# ---- what results/README.md says of the source

documents() {
    local count=0 number file line
    while read -r number file line; do
        grep -q "fault $number\\b" <(sed -n "${line}p" "$file") || fail "results/README.md: fault $number is not at $file:$line"
        count=$((count + 1))
    done < <(sed -n 's/^| \([0-9]*\) | `\([a-z]*\.h\):\([0-9]*\)` |.*/\1 \2 \3/p' results/README.md)
    [ "$count" = "$(grep -Eho 'fault [0-9]+' ./*.h | sort -u | wc -l)" ] || fail "results/README.md lists $count faults, the source has others"
    [ "$count" -ge 10 ] || fail "results/README.md lists only $count faults"
    echo "results/README.md: $count planted faults at the lines it names"
}

# ---- branches of the short ways, exactly

assay=${ASSAY:-}
for built in ../../target/release/assay ../../target/debug/assay; do
    if [ -z "${ASSAY:-}" ] && [ -x "$built" ] && { [ -z "$assay" ] || [ "$built" -nt "$assay" ]; }; then assay=$built; fi
done
assay=${assay:+$(realpath "$assay")}

branches() { # $1 operations: branches of the whole command
    "$assay" stat -q --source traced --predictor none -x, -e branches -o "$folder/stat" -- "$folder/out-final/bench" fast "$1" 64 > /dev/null ||
        return 1
    awk -F, '/traced.branches/ { print $1 }' "$folder/stat"
}

short_ways() {
    local few many
    if [ -z "$assay" ]; then
        echo "skipped: branches of the short ways (assay is not built)"
    elif ! few=$(branches 100000) || ! many=$(branches 200000); then
        echo "skipped: branches of the short ways (assay cannot trace here)"
    else
        # Of a step of the loop: malloc 3 and free 3 (their returns included), two calls and the loop's own jump.
        [ $((many - few)) = 900000 ] || fail "100000 more pairs are $((many - few)) more branches, not 900000"
        echo "short ways: 3 branches in malloc, 3 in free, exactly"
    fi
}

# ---- what assay doctor finds of the planted faults, by file and line

doctor() { # $1 stage, $2 slots: its findings' lines into $folder/found
    local status=0
    "$assay" doctor --program "$folder/out-$1/bench mixed 20000 $2 42" --units 20000 --predictor none \
        --json "$folder/doctor.json" > /dev/null 2>&1 || status=$?
    [ $status -le 1 ] || return 1
    python3 -c '
import json, os, sys
for finding in json.load(open(sys.argv[1]))["findings"]:
    place = finding["code"]
    print(os.path.basename(place.get("file") or "-") + ":" + str(place.get("line")))' "$folder/doctor.json" | sort -u > "$folder/found"
}

hygiene() {
    if [ -z "$assay" ] || ! "$assay" doctor --help > /dev/null 2>&1; then
        echo "skipped: the planted faults (assay is not built, or has no doctor)"
    elif ! command -v python3 > /dev/null 2>&1 || ! doctor debug 256; then
        echo "skipped: the planted faults (assay cannot trace here, or there is no python3)"
    else
        local named line
        cp "$folder/found" "$folder/few_slots"
        doctor debug 32768 || fail "assay doctor ends badly where lists run dry" # with few slots refills are too rare to name
        sort -u -o "$folder/found" "$folder/found" "$folder/few_slots"
        while read -r line; do
            grep -qx "debug.h:$line" "$folder/found" || fail "assay doctor does not name the time-stamp counter at debug.h:$line"
        done < <(grep -n ia32_rdtsc debug.h | cut -d: -f1)
        sed -n 's/^| [0-9]* | `\([a-z]*\.h:[0-9]*\)` |.*/\1/p' results/README.md | sort -u > "$folder/planted"
        named=$(comm -12 "$folder/found" "$folder/planted" | wc -l)
        [ "$named" -ge 10 ] || fail "assay doctor names only $named of the planted faults"
        doctor final 256 || fail "assay doctor ends badly on the final stage"
        [ ! -s "$folder/found" ] || fail "assay doctor finds in the final stage: $(tr '\n' ' ' < "$folder/found")"
        echo "assay doctor: $named of the planted faults by line in the first stage, nothing in the last"
    fi
}

promises
stages
real_programs
documents
short_ways
hygiene
