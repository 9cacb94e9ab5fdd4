#!/usr/bin/env bash
# Puts assay below a folder as a Unix program is installed: program, header, manual pages, completions, documents.
#
#   scripts/stage.sh PROGRAM FOLDER      FOLDER is DESTDIR joined with the prefix, as /usr/local
#   scripts/stage.sh --check FOLDER      can it be written? asked before a build of minutes
#
# PROGRAM carries the rest itself: the emulator's plugin and the crate for Rust benchmarks (crates/assay/build.rs).
# Pages and completions are asked of the program; of another one, where this one is for another machine: ASSAY_ASK=PROGRAM.
set -euo pipefail
if [ $# != 2 ]; then echo "usage: scripts/stage.sh PROGRAM|--check FOLDER" >&2; exit 2; fi
program=$1 folder=$2 ask=${ASSAY_ASK:-$1}
for part in bin include share; do
    at=$folder/$part
    while [ ! -e "$at" ]; do at=$(dirname "$at"); done
    if [ ! -d "$at" ] || [ ! -w "$at" ]; then
        echo "stage.sh: $at cannot be written; install below your home (make install PREFIX=~/.local), or as root" >&2
        exit 1
    fi
done
if [ "$program" = --check ]; then exit 0; fi
# The plugin says its version, with digits; the program that looks for it has the words alone.
if ! grep -qa 'assay-plugin-version=[0-9]' "$program"; then
    echo "stage.sh: $program was built without the emulator's plugin (assay --version); build it by \`make build\`" >&2
    exit 1
fi
top=$(cd "$(dirname "$0")/.." && pwd)
case $ask in */*) ;; *) ask=./$ask ;; esac

# What is made here is for everybody, whatever the caller's umask.
umask 022
install -D -m 755 "$program" "$folder/bin/assay"
install -D -m 644 "$top/harness/assay.h" "$folder/include/assay.h"
# CMake's find_package(assay), pkg-config --cflags assay.
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$top/Cargo.toml" | head -n 1)
for part in cmake/assay/assayConfig.cmake cmake/assay/assayConfigVersion.cmake pkgconfig/assay.pc; do
    install -D -m 644 "$top/harness/$(basename "$part")" "$folder/share/$part"
    sed -i "s/@VERSION@/$version/" "$folder/share/$part"
done
"$ask" man "$folder/share/man/man1"
complete() { # $1 a shell, $2 the file
    mkdir -p "$(dirname "$folder/$2")"
    "$ask" completions "$1" > "$folder/$2"
}
complete bash share/bash-completion/completions/assay
complete zsh share/zsh/site-functions/_assay
complete fish share/fish/vendor_completions.d/assay.fish
install -D -m 644 -t "$folder/share/doc/assay" \
    "$top/README.md" "$top/METHODOLOGY.md" "$top/GLOSSARY.md" "$top/LICENSE-MIT" "$top/LICENSE-APACHE"
