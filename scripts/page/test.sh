#!/usr/bin/env bash
# Proves in Chromium what pages promise: every chart is drawn, nothing is complained of on the console, no request leaves the file, axe
# finds nothing serious, all is reached by keyboard, it fits a phone and paper, dark and light; the same of `assay serve`.
# The pages are of a campaign, one with a failed cell, a sweep, a comparison, a diary, a history, the machine's limits and branch sites,
# all measured here for a second or two each (the limits for ten); of data that have no page of their own; and of the campaign's data
# with a variant called <script>, which no experiment file may have but data of others can.
# Pages of invented data look as in the pictures that are kept (scripts/page/kept). Numbers and plurals on a page read as in Rust
# (scripts/page/words.cjs).
#    Use: scripts/page/test.sh [FOLDER]    FOLDER: keep the pages and a picture of each there
#         scripts/page/test.sh --renew     draw the kept pictures anew, where a page is meant to look otherwise
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD

skip() { echo "skipped: $1"; exit 0; }
scripts/page/vendor.sh check
command -v node > /dev/null || skip "the pages in a browser: there is no node"
node scripts/page/words.cjs
CHROMIUM=$(command -v chromium) || skip "the pages in a browser: there is no chromium"
export CHROMIUM
[ -d target/page/node_modules/axe-core ] || skip "the pages in a browser: scripts/setup.sh test installs playwright-core and axe-core"
assay=${ASSAY:-$root/target/debug/assay}
[ -x "$assay" ] || { echo "test.sh: there is no $assay: cargo build" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
renew=no
if [ "${1:-}" = --renew ]; then renew=yes; shift; fi
pages=${1:-$scratch/pages}
mkdir -p "$pages"
ledger=$scratch/ledger.db
export NODE_PATH=$root/target/page/node_modules
if [ $renew = yes ]; then # whatever page lends its frame
    printf '{"schema":"assay.other/1"}' > "$scratch/other.json"
    "$assay" report "$scratch/other.json" -o "$pages/other.html"
    node scripts/page/test.cjs "$pages" - renew
    exit
fi
cp scripts/page/fixture/* "$scratch/"
sed -i "s|HARNESS|$root/harness|" "$scratch/experiment.toml"
# No counts where nothing is shown of them.
sed '/^events/d' "$scratch/experiment.toml" > "$scratch/plain.toml"

# ---- one of each kind; what they find is of no interest, so an undecided or failed one is as good
cd "$scratch"
ask() { # a command that may end with 0, 1 or 3
    local code=0
    "$@" > ask.log 2>&1 || code=$?
    if [ $code != 0 ] && [ $code != 1 ] && [ $code != 3 ]; then cat ask.log >&2; echo "test.sh: $* ended with $code" >&2; exit 1; fi
}
write() { "$assay" report "$@" 2> write.log || { cat write.log >&2; exit 1; }; }
# First the machine's limits, which campaigns compare their times with; not those that somebody may have kept in the home folder.
export ASSAY_LIMITS=$scratch/kept.json
ask "$assay" limits --quick --json limits.json
write limits.json -o "$pages/limits.html"
ask "$assay" run experiment.toml --ledger "$ledger" --quiet
write --ledger "$ledger" -o "$pages/campaign.html"
write --ledger "$ledger" -o "$pages/samples.csv"
write --ledger "$ledger" -o campaign.json
sed 's|"backwards"|"<script>alert(1)</script>"|; s|"long"|"<img src=x onerror=alert(2)>"|; s|"O2"|"</script><!--"|' campaign.json > hostile.json
write hostile.json -o "$pages/hostile.html"
ask "$assay" sweep plain.toml --ledger "$ledger" --quiet
write sweep/1 --ledger "$ledger" -o "$pages/sweep.html"
ask "$assay" compare --adapter wall --budget 2 --ledger "$ledger" --quiet -- true 'sh -c :'
write comparison/1 --ledger "$ledger" -o "$pages/comparison.html"
# A variant whose answers differ, with names that are long where they are told; a broader margin makes an axis of its own.
sed 's|ASSAY_MAIN()|static uint64_t wrong(const uint8_t *data, size_t size) { return size + data[0] + 1; }\nASSAY_VARIANT("wrong_in_every_way", wrong)\n&|' work.c > failing.c
sed 's|"twice"\]|"wrong_in_every_way"]|; s|work\.c|failing.c|; s|"sums"|"failing"|; /^O1 = /d; s|"5 %"|"30 %"|' plain.toml > failing.toml
ask "$assay" run failing.toml --ledger "$ledger" --quiet
write failing --ledger "$ledger" -o "$pages/failed.html"
write campaign/1 failing --ledger "$ledger" -o "$pages/beside.html"
for run in $(seq 1 14); do # the second half is slower
    printf 'goos: linux\ngoarch: amd64\npkg: x\ncpu: any\n' > go.txt
    for at in 1 2 3 4; do
        printf 'BenchmarkDecodeWithTheLongestNameThatAnyBenchmarkHas/case_1-2 1000 %d.%02d ns/op\n' $((run > 7 ? 14 : 10)) $(((run * 7 + at) % 10)) >> go.txt
    done
    ask "$assay" import go go.txt --name decode --at "2026-10-$(printf %02d "$run")" --ledger "$ledger"
done
ask "$assay" history decode --ledger "$ledger" -o "$pages/history.html"
sed 's|assay.limits/1|assay.other/1|' limits.json > other.json
write other.json -o "$pages/other.html"
cp "$root"/fixtures/stages/* .
ask "$assay" stages STAGES.toml --ledger "$ledger" --budget 4 --predictor none --quiet
write diary/queue --ledger "$ledger" -o "$pages/diary.html"
if "qemu-$(uname -m)" --version > /dev/null 2>&1; then
    ask "$assay" sites --json sites.json -- /bin/true
    write sites.json -o "$pages/sites.html"
else
    echo "skipped: the page of branch sites: there is no user-mode QEMU"
fi
if grep -q 'https\?://[^ "]*\.\(js\|css\|woff2\?\)' "$pages"/*.html; then echo "test.sh: a page names a file elsewhere" >&2; exit 1; fi

# ---- in a browser
"$assay" serve --port 0 --ledger "$ledger" > serve.log &
server=$!
trap 'kill $server 2> /dev/null || true; rm -rf "$scratch"' EXIT
for _ in $(seq 1200); do [ -s serve.log ] && break; sleep 0.05; done
address=$(sed -n 's|^\(http://[^ ]*/\) .*|\1|p' serve.log)
[ -n "$address" ] || { echo "test.sh: assay serve said nothing" >&2; exit 1; }
# One that is under way until its page was seen: it has too little to decide, and too much time.
sed 's|"sums"|"under_way"|; s|max_rotations = 3|max_rotations = 1000|; s|"5 %"|"0.01 %"|; /^O1 = /d' plain.toml > live.toml
"$assay" run live.toml --ledger "$ledger" --budget 600 --quiet > live.log 2>&1 &
live=$!
trap 'kill $live $server 2> /dev/null || true; wait $live 2> /dev/null || true; rm -rf "$scratch"' EXIT
LIVE=$live node "$root/scripts/page/test.cjs" "$pages" "$address" ${1:+keep}
