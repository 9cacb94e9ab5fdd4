#!/usr/bin/env bash
# Which Rust of this machine is new enough for the lab? The first one on PATH need not be: a distribution's old rustc hides
# rustup's in ~/.cargo/bin, and rustup's old default hides the distribution's newer one.
#
#   scripts/rust.sh path         prints PATH with that Rust first
#   scripts/rust.sh toolchain    prints the toolchain of rustup to ask for, where it is not the one in use, else nothing
#   . scripts/rust.sh            sets both, and has new_enough for others
#
# A Rust that is first already, or none that is new enough, leaves both as they are; rustup's folder is then last on PATH.
# Checked by: scripts/test_setup.sh

oldest_rust=$(sed -n 's/^rust-version = "1\.\([0-9]*\)"$/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../Cargo.toml")

new_enough() { # $1 a version, as 1.96.0+dfsg1-1
    local minor=${1#1.}
    minor=${minor%%[!0-9]*}
    [[ $1 == 1.* && -n $minor ]] && [ "$minor" -ge "$oldest_rust" ]
}

works() { # $1 a folder: are there a new enough rustc and a cargo?
    [ -x "$1/cargo" ] && new_enough "$("$1/rustc" --version 2> /dev/null | cut -d' ' -f2)"
}

find_rust() { # sets PATH, and RUSTUP_TOOLCHAIN where it is needed
    local rustup=${CARGO_HOME:-${HOME:-/root}/.cargo}/bin folder folders
    # To ask rustup for what it has must not make it download anything.
    local -x RUSTUP_AUTO_INSTALL=0
    case ":$PATH:" in *":$rustup:"*) ;; *) PATH=$PATH:$rustup ;; esac
    if works "$(dirname "$(command -v rustc || echo /none/rustc)")"; then return; fi
    IFS=: read -ra folders <<< "$PATH"
    for folder in "${folders[@]}"; do
        if works "$folder"; then PATH=$folder:$PATH; return; fi
    done
    for folder in "${folders[@]}"; do
        if [ -x "$folder/rustup" ] && "$folder/rustup" toolchain list 2> /dev/null | grep -q ^stable &&
            RUSTUP_TOOLCHAIN=stable works "$folder"; then
            PATH=$folder:$PATH
            export RUSTUP_TOOLCHAIN=stable
            return
        fi
    done
}

find_rust
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    case ${1:-} in
        path) echo "$PATH" ;;
        toolchain) echo "${RUSTUP_TOOLCHAIN:-}" ;;
        *) echo "usage: scripts/rust.sh path|toolchain" >&2; exit 2 ;;
    esac
fi
