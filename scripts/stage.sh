#!/usr/bin/env bash
# Puts assay below a folder as a Unix program is installed: program, header, manual pages, completions, documents.
#
#   scripts/stage.sh PROGRAM FOLDER      FOLDER is DESTDIR joined with the prefix, as /usr/local
#
# PROGRAM carries the rest itself: the emulator's plugin and the crate for Rust benchmarks (crates/assay/build.rs).
# Pages and completions are asked of the program; of another one, where this one is for another machine: ASSAY_ASK=PROGRAM.
set -euo pipefail
if [ $# != 2 ]; then echo "usage: scripts/stage.sh PROGRAM FOLDER" >&2; exit 2; fi
program=$1 folder=$2 ask=${ASSAY_ASK:-$1}
top=$(cd "$(dirname "$0")/.." && pwd)
case $ask in */*) ;; *) ask=./$ask ;; esac

install -D -m 755 "$program" "$folder/bin/assay"
install -D -m 644 "$top/harness/assay.h" "$folder/include/assay.h"
(umask 022 && "$ask" man "$folder/share/man/man1")
chmod 644 "$folder"/share/man/man1/assay*.1
complete() { # $1 a shell, $2 the file
    mkdir -p "$(dirname "$folder/$2")"
    "$ask" completions "$1" > "$folder/$2"
    chmod 644 "$folder/$2"
}
complete bash share/bash-completion/completions/assay
complete zsh share/zsh/site-functions/_assay
complete fish share/fish/vendor_completions.d/assay.fish
install -D -m 644 -t "$folder/share/doc/assay" \
    "$top/README.md" "$top/METHODOLOGY.md" "$top/GLOSSARY.md" "$top/LICENSE-MIT" "$top/LICENSE-APACHE"
