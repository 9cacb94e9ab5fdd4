#!/usr/bin/env bash
# Builds assay for release and packs it: an archive, a Debian package and a Python wheel, in target/packages.
#
#   scripts/build_packages.sh [x86_64|aarch64 ...]     the machine of this one by default
#
# The program needs a C library no newer than glibc 2.30 (2019), whatever this machine has: zig, from PyPI, links it
# (cargo-zigbuild); both go to target/packaging. A static program would need Rust's own library for musl, and gains
# nothing: the plugin inside must be loaded by the distribution's emulator, so it needs that glibc anyway.
# Another machine needs Rust's library for it: rustup target add aarch64-unknown-linux-gnu, or Debian's rustc-web with
# libstd-rust-web-dev:arm64 (tried in a bare Debian 12).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/rust.sh
# Rust's library asks for gettid (1.95, and Debian's 1.89), which an older one has not.
oldest=2.30
tools=target/packaging
# A target folder of its own: the plugin's file has one name for all flags, so another build there would replace it.
built=$PWD/$tools/build
own=$(uname -m)
# No path of this machine in what others get.
registry=${CARGO_HOME:-${HOME:-/root}/.cargo}/registry/src
export RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$registry=/registry --remap-path-prefix=$PWD=/assay"

if [ ! -x "$tools/bin/cargo-zigbuild" ] || ! "$tools/bin/python3" -c 'import ziglang' 2> /dev/null; then
    echo "packages: installing from PyPI, into $tools: cargo-zigbuild, ziglang"
    python3 -m venv "$tools"
    "$tools/bin/python3" -m pip install --quiet --disable-pip-version-check cargo-zigbuild==0.24.0 ziglang==0.15.2
fi
ASSAY_COMMIT=$(git describe --always --dirty --exclude '*' 2> /dev/null || true)
export ASSAY_COMMIT
ask=()
for machine in "${@:-$own}"; do
    target=$machine-unknown-linux-gnu
    program=$built/$target/release/assay
    if [ ! -d "$(rustc --print target-libdir --target "$target")" ]; then
        echo "packages: Rust has no library for $machine here: rustup target add $target, or as root" >&2
        echo "  dpkg --add-architecture arm64 && apt-get update && apt-get install libstd-rust-web-dev:arm64" >&2
        exit 1
    fi
    echo "packages: cargo zigbuild --release -p assay --locked --target $target.$oldest"
    PATH="$PWD/$tools/bin:$PATH" cargo zigbuild --release -p assay --locked --target "$target.$oldest" --target-dir "$built"
    if grep -qaF -e "$registry" -e "$PWD/" "$program"; then
        echo "packages: $program names folders of this machine" >&2
        exit 1
    fi
    scripts/third_party.py --target "$target" > "$built/$target/THIRD-PARTY.txt"
    if [ "$machine" = "$own" ]; then
        ask=()
    elif [ -x "$built/$own-unknown-linux-gnu/release/assay" ]; then
        ask=(--ask "$built/$own-unknown-linux-gnu/release/assay")
    else
        echo "packages: build $own first: its program is asked for the manual pages" >&2
        exit 1
    fi
    scripts/package.py "$program" "${ask[@]}" --third-party "$built/$target/THIRD-PARTY.txt"
done
