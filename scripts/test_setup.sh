#!/usr/bin/env bash
# Which Rust do the scripts take, what would they install, and what do they refuse to install? With made-up tools in a folder
# that is the whole PATH; nothing is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
ok() { passed=$((passed + 1)); echo "ok: $1"; }
fail() { echo "FAILED: $1" >&2; exit 1; }

tool() { # $1 its file, then the lines of a shell script
    local file=$1
    shift
    mkdir -p "$(dirname "$file")"
    { echo "#!/bin/bash"; printf '%s\n' "$@"; } > "$file"
    chmod +x "$file"
}
rust() { # $1 a folder, $2 a version; without rustfmt and clippy
    tool "$1/rustc" "echo 'rustc $2 (made up)'"
    tool "$1/cargo" '[ "$1" = --version ]'
}
rustup() { # $1 a folder, $2 the default's version, $3 that of its toolchain stable, or nothing
    tool "$1/rustc" "if [ \"\${RUSTUP_TOOLCHAIN:-}\" = stable ]; then echo 'rustc $3 (made up)'; else echo 'rustc $2 (made up)'; fi"
    tool "$1/cargo" '[ "$1" = --version ]'
    tool "$1/rustup" "case \$* in 'toolchain list') echo 1.70.0; [ -z '$3' ] || echo stable-x86_64 ;; esac"
}
base=$scratch/base
mkdir "$base"
for name in bash sh ln env sed cut dirname basename grep sort cat mktemp rm id uname tr readlink mkdir printf head true; do
    ln -s "$(type -P "$name")" "$base/$name"
done
in_machine() { # $1 a machine's folder, then a command with nothing but its tools
    local machine=$1
    shift
    env -i PATH="$machine/usr:$base" HOME="$machine" "$@"
}
takes() { # $1 a machine, $2 whose rustc is expected, $3 which toolchain
    local path toolchain
    path=$(in_machine "$1" scripts/rust.sh path)
    toolchain=$(in_machine "$1" scripts/rust.sh toolchain)
    [ "$(PATH=$path command -v rustc)" = "$2" ] || fail "$1: PATH is $path"
    [ "$toolchain" = "$3" ] || fail "$1: the toolchain is '$toolchain'"
}

# ---- which Rust

m=$scratch/distribution
rust "$m/usr" 1.96.0+dfsg1-1
rustup "$m/.cargo/bin" 1.70.0 ""
takes "$m" "$m/usr/rustc" ""
m=$scratch/old_distribution
rust "$m/usr" 1.63.0
rustup "$m/.cargo/bin" 1.95.0 1.95.0
takes "$m" "$m/.cargo/bin/rustc" ""
m=$scratch/old_default
rustup "$m/.cargo/bin" 1.70.0 1.95.0
takes "$m" "$m/.cargo/bin/rustc" stable
m=$scratch/old_rustup
rust "$m/usr" 1.63.0
rustup "$m/.cargo/bin" 1.70.0 ""
takes "$m" "$m/usr/rustc" ""
ok "a Rust that is new enough is taken wherever it is on PATH"

# ---- what would be installed

told=$(in_machine "$scratch/old_rustup" scripts/setup.sh --list build)
[[ $told == *"rustup toolchain install stable"* && $told != *"rustup default"* ]] || fail "an old rustup: $told"
mkdir -p "$scratch/bare/usr"
told=$(in_machine "$scratch/bare" scripts/setup.sh --list build)
[[ $told == *"sh.rustup.rs"* ]] || fail "no Rust: $told"
ok "rustup's default stays as it is"
m=$scratch/stranger
tool "$m/usr/gcc" "cat > /dev/null"
tool "$m/usr/id" "echo 1000"
# What stands for rustup's installer puts a Rust where rustup puts it.
tool "$m/usr/curl" "cat $scratch/installer"
rust "$scratch/new_rust" 1.95.0
printf '[ "$*" = "-y --no-modify-path" ] && mkdir -p "$HOME/.cargo" && ln -s %s "$HOME/.cargo/bin"\n' "$scratch/new_rust" > "$scratch/installer"
told=$(in_machine "$m" scripts/setup.sh build) || fail "without root: $told"
[[ $told == *"missing: a Rust toolchain"*"installing Rust: curl"* ]] || fail "without root: $told"
[ "$(in_machine "$m" scripts/setup.sh build)" = "setup: everything for 'build' is installed" ] || fail "Rust is not found again"
ok "without root rustup installs Rust, announced, and it is found"
m=$scratch/distribution
tool "$m/usr/dpkg" "echo \"rustc-web: \$2\""
told=$(in_machine "$m" scripts/setup.sh --list test)
[[ $told == *"install -y --no-install-recommends rustfmt-web rust-web-clippy"* ]] || fail "rustfmt of rustc-web: $told"
tool "$m/usr/dpkg" "echo \"rustc: \$2\""
told=$(in_machine "$m" scripts/setup.sh --list test)
[[ $told == *"install -y --no-install-recommends rustfmt rust-clippy"* ]] || fail "rustfmt of rustc: $told"
m=$scratch/old_distribution
told=$(in_machine "$m" scripts/setup.sh --list test)
[[ $told == *"rustup component add rustfmt clippy"* ]] || fail "rustfmt of rustup: $told"
ok "rustfmt and clippy come from where rustc comes from"

# ---- what is not installed

: > "$scratch/file"
tool "$scratch/program" "exit 1"
if told=$(scripts/stage.sh --check "$scratch/file/usr" 2>&1); then fail "a folder in a file can be written"; fi
[[ $told == *"PREFIX=~/.local"* ]] || fail "what to do instead: $told"
scripts/stage.sh --check "$scratch/new/prefix"
[ ! -e "$scratch/new" ] || fail "to ask makes a folder"
if told=$(scripts/stage.sh "$scratch/program" "$scratch/new" 2>&1); then fail "a program without the plugin is installed"; fi
[[ $told == *"without the emulator's plugin"* && ! -e $scratch/new ]] || fail "a program without the plugin: $told"
ok "a program without the plugin, or where nothing can be written, is refused"
echo "$passed passed, 0 failed, 0 skipped"
