#!/usr/bin/env bash
# The two libraries that pages draw with, as their registry packages have them (ISC licence).
#
#   scripts/page/vendor.sh check     are the files in the tree those that are named here?
#   scripts/page/vendor.sh fetch     put them there anew, with npm
#
# To take a newer version: change it and the sums below, fetch, then scripts/page/test.sh. The licences of the libraries and of
# what they bundle are in LICENSES beside them, which goes into every page.
set -euo pipefail
cd "$(dirname "$0")/../../crates/assay-report/src/html/vendor"

d3=7.9.2
plot=0.6.17
sums="912111098ea99503a6f4967361d2bbdc9dbf58cf9c678c8e27e5b02d1a07f0c1  d3.min.js
4358086467740777dd788d6b27a95cebdbaefdd50c730a3060117073bd7134cb  plot.umd.min.js"

fetch() {
    scratch=$(mktemp -d) # not local: the trap outlives this function
    trap 'rm -rf "$scratch"' EXIT
    npm install --prefix "$scratch" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
        "d3@$d3" "@observablehq/plot@$plot"
    cp "$scratch/node_modules/d3/dist/d3.min.js" "$scratch/node_modules/@observablehq/plot/dist/plot.umd.min.js" .
    local package
    for package in d3 @observablehq/plot interval-tree-1d isoformat binary-search-bounds; do
        node -p "'$package ' + require('$scratch/node_modules/$package/package.json').version + '\n'"
        cat "$scratch/node_modules/$package/LICENSE"
        echo
    done > LICENSES
}

case ${1:-} in
    check) ;;
    fetch) fetch ;;
    *) echo "usage: scripts/page/vendor.sh check|fetch" >&2; exit 2 ;;
esac
echo "$sums" | sha256sum --check --strict --quiet || {
    echo "vendor.sh: the libraries are not those that are named here" >&2
    exit 1
}
