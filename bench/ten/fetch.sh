#!/bin/sh
# fetch.sh FOLDER: the ten projects of other people on whose benchmarks `assay compare` is tried, each as a clone with all of its
# history below FOLDER, which lies outside of this repository. Nothing is built.
set -eu
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
cd "$1"
while read -r name address; do
    [ -d "$name" ] || git clone --quiet "$address" "$name"
    echo "$name $(git -C "$name" rev-parse --short=12 HEAD)"
done << 'LIST'
ada https://github.com/ada-url/ada
fast_float https://github.com/fastfloat/fast_float
CRoaring https://github.com/RoaringBitmap/CRoaring
abseil https://github.com/abseil/abseil-cpp
itoa https://github.com/dtolnay/itoa
anstyle https://github.com/rust-cli/anstyle
svector https://github.com/martinus/svector
lz4 https://github.com/lz4/lz4
lua https://github.com/lua/lua
xxhash https://github.com/cespare/xxhash
LIST
