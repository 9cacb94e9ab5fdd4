#!/usr/bin/env bash
# What does this machine lack for `make install`, `make packages`, `make demo`, `make dispatch`, casebook/transport, casebook/allocator, `make test` or `make calibrate-peers`, and can we install it?
#
#   scripts/setup.sh build|packages|demo|dispatch|transport|allocator|test|peers|round-trips|ci    install what is missing, say what, go on if the essentials are there
#   scripts/setup.sh --list demo|test|...  only say what is missing and what would be installed
#
# Rust, where it is missing or too old, is Debian's if that is new enough (bookworm: rustc-web), else rustup's. A rustup
# that is here gets the toolchain `stable` beside its others; its default stays.
#
# Method: every need is checked by using it (compiling, running), not by asking a package manager, so tools from
# anywhere count. Missing ones are installed with apt-get when we are root and apt-get exists; otherwise the exact
# command is printed, and what will be skipped. Only Rust is then installed all the same, by rustup into the home folder.
# Exit 1 only when something essential is still missing.
# Untried: rustup's own installer (by_rustup).
# Known limit: Debian's package names; elsewhere the kind of tool is named.
# Checked by: scripts/test_setup.sh; running it in a bare Debian 12 root, as root, as another user and without apt-get.
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
# The Rust that is new enough comes first on PATH.
# shellcheck source=scripts/rust.sh
. "$(dirname "$0")/rust.sh"

usage() {
    echo "usage: scripts/setup.sh [--list] build|packages|demo|dispatch|transport|allocator|test|peers|round-trips|ci" >&2
    exit 2
}

list_only=no
if [ "${1:-}" = --list ]; then list_only=yes; shift; fi
[ $# = 1 ] || usage
goal=$1

# ---- the needs: name, essential or what is skipped without it, why, packages (first that apt knows is taken)

all_needs="cargo cc make git python3 clang plain_clang gcc_pair clang_pair lld cxx sanitizers fmt clippy qemu cross valgrind csmith ps benchmark hyperfine cmake ninja venv zig sqlite3 mallocs node chromium browser_tools zsh fish mandoc slurm go benchstat compare_py critcmp duckdb"
case $goal in
    build) needs="cargo cc" ;;
    packages) needs="cargo cc python3 venv" ;;
    demo) needs="cargo cc clang qemu" ;;
    dispatch) needs="cargo cc cxx gcc_pair clang_pair" ;;
    allocator) needs="cargo cc make python3 qemu git sqlite3 mallocs" ;;
    transport) needs="cargo cc python3 qemu venv zig" ;;
    test) needs="cargo fmt clippy cc plain_clang lld cxx sanitizers qemu cross valgrind csmith ps git python3 cmake ninja venv zig sqlite3 node chromium browser_tools zsh fish mandoc" ;;
    peers) needs="cargo cc cxx qemu valgrind benchmark hyperfine" ;;
    round-trips) needs="cargo cc cxx python3 venv benchmark hyperfine go benchstat compare_py critcmp duckdb" ;;
    ci) needs="make cargo fmt clippy cc plain_clang lld cxx sanitizers qemu cross valgrind csmith ps git python3 cmake ninja venv zig sqlite3 node chromium browser_tools zsh fish mandoc slurm" ;;
    *) usage ;;
esac

# name -> "essential" or the sentence that says what goes missing
without() {
    case $1 in
        cargo | cc | make) echo essential ;;
        python3) case $goal in ci | test | packages) echo essential ;; *) echo "the checks written in Python" ;; esac ;;
        clang) echo "measuring with a second compiler; only gcc is measured" ;;
        gcc_pair) echo "comparing two versions of gcc; only the installed one is measured" ;;
        clang_pair) echo "comparing two versions of clang; only the installed ones are measured" ;;
        lld) echo "the tests of links made by lld; GNU ld is still tested" ;;
        cxx) if [ "$goal" = peers ] || [ "$goal" = dispatch ]; then echo essential; else echo "the harness as C++ with g++"; fi ;;
        plain_clang) echo "the tests with clang and clang++; gcc is still tested" ;;
        sanitizers) echo "the decoders and the harness under clang's sanitizers" ;;
        fmt) echo "checking the format of Rust code" ;;
        clippy) echo "linting Rust code" ;;
        git) echo "reading the list of tracked files from git (the folder is walked instead)" ;;
        qemu) echo "exact branch counts and simulated predictors" ;;
        cross) echo "the tests that trace AArch64 programs" ;;
        valgrind) echo "the comparison of exact counts with cachegrind's" ;;
        csmith) echo "the tests that log random programs" ;;
        ps) echo "nothing; tests that list processes fail" ;;
        cmake | ninja) echo "the tests that capture the links of CMake projects" ;;
        venv) if [ "$goal" = packages ]; then echo essential; else echo "installing zig from PyPI"; fi ;;
        zig) echo "the study of a transport in Zig (casebook/transport)" ;;
        node | chromium | browser_tools) echo "the tests of pages in a browser" ;;
        zsh | fish) echo "completing words in $1" ;;
        mandoc) echo "mandoc's lint of the manual pages" ;;
        slurm) echo "the tests that hand jobs to a Slurm of their own" ;;
        sqlite3) echo "running sqlite3 on the study's allocator" ;;
        mallocs) echo "comparing the study's allocator with jemalloc, mimalloc and tcmalloc; only the installed ones are measured" ;;
        benchmark) if [ "$goal" = round-trips ]; then echo "importing what a program of Google Benchmark writes"; else echo "the column of Google Benchmark"; fi ;;
        hyperfine) if [ "$goal" = round-trips ]; then echo "importing what hyperfine writes"; else echo "the column of hyperfine"; fi ;;
        go | benchstat) echo "reading exports with benchstat, importing what go test writes" ;;
        compare_py) echo "reading exports with Google Benchmark's compare.py" ;;
        critcmp) echo "reading exports with critcmp" ;;
        duckdb) echo "reading exported Parquet files with DuckDB" ;;
    esac
}

why() {
    case $1 in
        cc) echo "a C compiler with its headers and linker" ;;
        make) echo "make" ;;
        clang) echo "a second compiler to measure" ;;
        lld) echo "the linker that shuffles sections" ;;
        cxx) echo "a C++ compiler" ;;
        plain_clang) echo "clang and clang++, by these names" ;;
        gcc_pair) echo "two major versions of g++, to compare" ;;
        clang_pair) echo "two major versions of clang++, to compare" ;;
        sanitizers) echo "clang's sanitizer runtime" ;;
        git) echo "git" ;;
        python3) echo "python3" ;;
        qemu) echo "user-mode QEMU 7.2 or newer, for exact counts without hardware counters" ;;
        cross) echo "a C compiler for AArch64" ;;
        valgrind) echo "valgrind" ;;
        csmith) echo "csmith with its headers" ;;
        ps) echo "ps" ;;
        cmake) echo "cmake" ;;
        ninja) echo "ninja" ;;
        venv) echo "python3's module venv with pip" ;;
        zig) echo "zig 0.15.2, PyPI's package ziglang" ;;
        sqlite3) echo "sqlite3" ;;
        zsh) echo "zsh, a shell" ;;
        fish) echo "fish, a shell" ;;
        mandoc) echo "mandoc, another reader of manual pages" ;;
        slurm) echo "Slurm with munge: controller, node and commands" ;;
        node) echo "node 18 or newer with npm" ;;
        chromium) echo "chromium" ;;
        browser_tools) echo "playwright-core 1.65.1 and axe-core 4.14.1, npm packages" ;;
        mallocs) echo "jemalloc, mimalloc and tcmalloc" ;;
        benchmark) echo "Google Benchmark, to compare with" ;;
        hyperfine) echo "hyperfine, to compare with" ;;
        go) echo "Go" ;;
        benchstat) echo "benchstat, a Go program" ;;
        compare_py) echo "Google Benchmark's compare.py with SciPy" ;;
        critcmp) echo "critcmp 0.1.8, a Rust program" ;;
        duckdb) echo "DuckDB 1.4.1, PyPI's package duckdb" ;;
        cargo) echo "a Rust toolchain, 1.$oldest_rust or newer" ;;
        fmt) echo "rustfmt" ;;
        clippy) echo "clippy" ;;
    esac
}

# Debian's names, best first. To measure with, a newer clang is nicer than bookworm's own 14, which the tests take
# because they call it by its plain name.
packages() {
    case $1 in
        cc) echo "gcc,libc6-dev,binutils" ;;
        make) echo "make" ;;
        clang) echo "clang-16 clang" ;;
        plain_clang) echo "clang" ;;
        gcc_pair) echo "g++-11,g++-12 g++-12,g++-13 g++-13,g++-14 g++" ;;
        clang_pair) echo "clang-16,clang-14 clang-19,clang-18 clang-18,clang-17 clang" ;;
        lld) echo "lld" ;;
        cxx) echo "g++" ;;
        sanitizers) echo "libclang-rt-$(clang_version)-dev libclang-rt-dev" ;;
        git) echo "git" ;;
        python3) echo "python3" ;;
        qemu) echo "qemu-user" ;;
        cross) echo "gcc-aarch64-linux-gnu,libc6-dev-arm64-cross" ;;
        valgrind) echo "valgrind" ;;
        csmith) echo "csmith,libcsmith-dev" ;;
        ps) echo "procps" ;;
        cmake) echo "cmake" ;;
        ninja) echo "ninja-build" ;;
        venv) echo "python3-venv" ;;
        sqlite3 | zsh | fish | mandoc) echo "$1" ;;
        slurm) echo "slurm-wlm,munge" ;;
        node) echo "nodejs,npm" ;;
        chromium) echo "chromium" ;;
        mallocs) echo "libjemalloc2,libmimalloc2.0,libtcmalloc-minimal4" ;;
        benchmark) echo "libbenchmark-dev" ;;
        hyperfine) echo "hyperfine" ;;
        go) echo "golang-go" ;;
        compare_py) echo "libbenchmark-tools,python3-scipy" ;;
    esac
}

# ---- checks, by use

newest_clang() { # of PATH: clang-NN with the highest number, else clang
    { compgen -c clang- | grep -E '^clang-[0-9]+$' | sort -t- -k2,2nr || true; command -v clang || true; } |
        { read -r first && echo "$first" || true; cat > /dev/null; }
}

clang_version() { # major version of clang, or of the one that apt would install
    local version
    version=$(clang -dumpversion 2> /dev/null || apt-cache policy clang 2> /dev/null | sed -n 's/.*Candidate: *[0-9]*://p')
    echo "${version%%.*}"
}

links() { # $1 language, then a compiler with its flags: does a small program compile and link?
    local language=$1 include='#include <stdio.h>'
    shift
    [ -n "${1:-}" ] || return 1
    [ "$language" = c ] || include='#include <cstdio>'
    printf '%s\nint main(void) { return puts("x") < 0; }\n' "$include" |
        "$@" -x "$language" - -o /dev/null 2> /dev/null
}

have() {
    case $1 in
        cargo) new_enough "$(rustc --version 2> /dev/null | cut -d' ' -f2)" && cargo --version > /dev/null 2>&1 ;;
        cc) links c gcc || links c cc ;;
        slurm) command -v slurmctld > /dev/null && command -v slurmd > /dev/null && command -v munged > /dev/null ;;
        make | git | python3 | sqlite3 | hyperfine | valgrind | ps | cmake | ninja | zsh | fish | mandoc) command -v "$1" > /dev/null ;;
        csmith) command -v csmith > /dev/null && [ -e /usr/include/csmith/csmith.h ] ;;
        qemu) "qemu-$(uname -m)" --version > /dev/null 2>&1 ;;
        cross) links c aarch64-linux-gnu-gcc ;;
        clang) links c "$(newest_clang)" ;;
        plain_clang) links c clang && links c++ clang++ ;;
        gcc_pair) pair g++ ;;
        clang_pair) pair clang++ ;;
        lld) command -v ld.lld > /dev/null ;;
        cxx) links c++ g++ ;;
        sanitizers) links c clang -fsanitize=address,undefined ;;
        fmt) cargo fmt --version > /dev/null 2>&1 ;;
        clippy) cargo clippy --version > /dev/null 2>&1 ;;
        venv) have zig || python3 -c 'import venv, ensurepip' 2> /dev/null ;;
        zig) "$(dirname "$0")/../casebook/transport/find_zig.sh" > /dev/null 2>&1 ;;
        mallocs) preloads libjemalloc.so.2 && preloads libmimalloc.so.2 && preloads libtcmalloc_minimal.so.4 ;;
        node) npm --version > /dev/null 2>&1 && node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 18 ? 1 : 0)' ;;
        chromium) command -v chromium > /dev/null ;;
        browser_tools) has_browser_tools ;;
        go) "$(go_program)" version > /dev/null 2>&1 ;;
        benchstat) has_help "$tools/bin/benchstat" ;;
        critcmp) "$tools/bin/critcmp" --version > /dev/null 2>&1 ;;
        duckdb) "$tools/venv/bin/python3" -c 'import duckdb' 2> /dev/null ;;
        compare_py) [ -e /usr/share/benchmark/compare.py ] && /usr/bin/python3 -c 'import scipy' 2> /dev/null ;;
        benchmark) [ -e /usr/include/benchmark/benchmark.h ] || [ -e /usr/local/include/benchmark/benchmark.h ] ;;
    esac
}

tools="$(dirname "$0")/../target/round_trips" # where the programs of the round trips lie

go_program() { command -v go || echo /usr/local/go/bin/go; }

has_help() { # $1 a Go program: its -h ends with 2
    local code=0
    "$1" -h > /dev/null 2>&1 || code=$?
    [ $code = 0 ] || [ $code = 2 ]
}

preloads() { # $1 a library: does the dynamic linker find it?
    [ -z "$(LD_PRELOAD=$1 /bin/true 2>&1)" ]
}

has_browser_tools() { # in target/page, of the versions that the tests were written for
    local modules
    modules="$(dirname "$0")/../target/page/node_modules"
    grep -q '"version": "1.65.1"' "$modules/playwright-core/package.json" 2> /dev/null &&
        grep -q '"version": "4.14.1"' "$modules/axe-core/package.json" 2> /dev/null
}

pair() { # $1 family: do two major versions of its C++ compiler work?
    local name working=0
    for name in $(compgen -c "$1-" | grep -E '[0-9]$' | sort -u); do
        if links c++ "$name"; then working=$((working + 1)); fi
    done
    [ "$working" -ge 2 ]
}

missing() { # those of "$@" that do not work, checked at the same time
    local need folder
    folder=$(mktemp -d)
    for need in "$@"; do
        { have "$need" || : > "$folder/$need"; } &
    done
    wait
    for need in $all_needs; do
        if [ -e "$folder/$need" ]; then echo "$need"; fi
    done
    rm -r "$folder"
}

# ---- installing

apt_knows() {
    local policy
    policy=$(apt-cache policy "$1" 2> /dev/null)
    [[ $policy == *"Candidate: "* && $policy != *"Candidate: (none)"* ]]
}

choose() { # the packages for one need: the first name that apt knows, all parts of a "," list
    local candidate
    for candidate in $(packages "$1"); do
        if apt_knows "${candidate%%,*}"; then echo "${candidate//,/ }"; return; fi
    done
    packages "$1" | { read -r first _ || true; echo "${first//,/ }"; }
}

chosen() { # the packages for all needs given, each once
    local need
    for need in "$@"; do choose "$need"; done | tr ' ' '\n' | sed '/^$/d' | sort -u | tr '\n' ' ' | sed 's/ $//'
}

log= # of apt-get
refresh() { # the lists of packages, once
    if [ -n "$log" ]; then return; fi
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    echo "setup: apt-get update"
    apt update || echo "setup: apt-get update failed; continuing with the existing lists"
}

apt() { apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" >> "$log" 2>&1; }

install() { # $@ packages: all at once; if that fails, one by one, so that one bad name costs only itself
    echo "setup: installing with apt-get: $*"
    if ! apt install --no-install-recommends "$@"; then
        local package
        for package in "$@"; do
            apt install --no-install-recommends "$package" || echo "setup: apt-get could not install $package"
        done
        tail -n 5 "$log" | sed 's/^/setup: apt-get: /'
    fi
}

candidate() { # $1 a package: the version that apt would install
    apt-cache policy "$1" 2> /dev/null | sed -n 's/^ *Candidate: *//p'
}

rust_packages() { # Debian's Rust, where it is new enough; bookworm has one beside its own, for browsers
    if new_enough "$(candidate rustc)"; then echo "rustc cargo rustfmt rust-clippy"
    elif new_enough "$(candidate rustc-web)"; then echo "rustc-web cargo-web rustfmt-web rust-web-clippy"; fi
}

by_rustup() { # prints the commands that install Rust by rustup, and runs them unless only a list is wanted
    # rustup's default is set only where rustup is new: who has one has chosen.
    local how
    if command -v rustup > /dev/null; then
        how="rustup toolchain install stable --profile minimal --component rustfmt --component clippy"
    elif [ "$(id -u)" = 0 ] && apt_knows rustup; then
        how="apt-get install -y rustup && rustup default stable"
    elif command -v curl > /dev/null; then
        how="curl --proto =https --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --no-modify-path"
    else
        how="wget -qO- https://sh.rustup.rs | sh -s -- -y --no-modify-path"
    fi
    if [ $list_only = yes ]; then echo "setup: to install: $how"; return; fi
    echo "setup: installing Rust: $how"
    bash -c "set -o pipefail; $how" > /dev/null || echo "setup: rustup could not be installed"
}

rust() { # cargo, for the goals that build; it needs a linker too, which is a need of its own
    if [[ " $(echo $lacking) " != *" cargo "* ]]; then return; fi
    local packages=
    if command -v apt-get > /dev/null; then
        if [ $list_only = no ] && [ "$(id -u)" = 0 ]; then refresh; fi
        packages=$(rust_packages)
    fi
    if [ -z "$packages" ]; then by_rustup; return; fi
    if [ "$(id -u)" != 0 ]; then
        echo "setup: with root: sudo apt-get install -y --no-install-recommends $packages; without, rustup is taken:"
        by_rustup
    elif [ $list_only = yes ]; then
        echo "setup: to install: apt-get install -y --no-install-recommends $packages"
    else
        # shellcheck disable=SC2086 # the names are meant to be split
        install $packages
    fi
}

matching() { # Debian's packages of rustfmt and clippy that belong to the rustc in use; nothing where that is not Debian's
    local owner
    owner=$(dpkg -S "$(readlink -f "$(command -v rustc)")" 2> /dev/null) || return 0
    case ${owner%%:*} in
        *-web*) echo "rustfmt-web rust-web-clippy" ;;
        *) echo "rustfmt rust-clippy" ;;
    esac
}

rust_components() { # rustfmt and clippy for a Rust that was here already
    local wanted=() debian=() names
    if [[ " $(echo $lacking) " == *" cargo "* ]]; then return; fi
    read -ra names <<< "$(matching)"
    for need in $lacking; do
        case $need in
            fmt) wanted+=(rustfmt) debian+=("${names[0]:-}") ;;
            clippy) wanted+=(clippy) debian+=("${names[1]:-}") ;;
        esac
    done
    if [ ${#wanted[@]} = 0 ]; then return; fi
    if [ ${#names[@]} != 0 ]; then
        if [ $list_only = yes ] || [ "$(id -u)" != 0 ]; then
            echo "setup: to install: sudo apt-get install -y --no-install-recommends ${debian[*]}"
        else
            refresh
            install "${debian[@]}"
        fi
    elif ! command -v rustup > /dev/null; then
        echo "setup: ${wanted[*]}: install them from where rustc comes from"
    elif [ $list_only = yes ]; then
        echo "setup: to install: rustup component add ${wanted[*]}"
    else
        echo "setup: installing with rustup: ${wanted[*]}"
        rustup component add "${wanted[@]}" > /dev/null 2>&1 || echo "setup: rustup could not install ${wanted[*]}"
    fi
}

from_pypi() { # zig, into target/zig
    if [[ " $(echo $lacking) " != *" zig "* ]]; then return; fi
    local folder
    folder="$(dirname "$0")/../target/zig"
    if [ $list_only = yes ]; then
        echo "setup: to install: python3 -m venv target/zig && target/zig/bin/pip install ziglang==0.15.2"
        return
    fi
    echo "setup: installing from PyPI: ziglang 0.15.2, into target/zig"
    if ! python3 -m venv "$folder" > /dev/null 2>&1 ||
        ! "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check ziglang==0.15.2; then
        echo "setup: pip could not install ziglang"
    fi
}

from_npm() { # what the tests of pages drive the browser with, into target/page
    if [[ " $(echo $lacking) " != *" browser_tools "* ]]; then return; fi
    local packages="playwright-core@1.65.1 axe-core@4.14.1" folder
    folder="$(dirname "$0")/../target/page"
    if [ $list_only = yes ]; then
        echo "setup: to install: npm install --prefix target/page --no-save $packages"
        return
    fi
    echo "setup: installing with npm: $packages, into target/page"
    mkdir -p "$folder"
    # shellcheck disable=SC2086 # two names
    npm install --prefix "$folder" --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error $packages \
        > /dev/null 2>&1 || echo "setup: npm could not install $packages"
}

round_trip_tools() { # those that are no package of Debian's, into target/round_trips
    local need command
    for need in benchstat critcmp duckdb; do
        if [[ " $(echo $lacking) " != *" $need "* ]]; then continue; fi
        case $need in
            # The newest that Go 1.19 builds, which bookworm has.
            benchstat) command="GOFLAGS=-modcacherw GOBIN=$(mkdir -p "$tools/bin" && cd "$tools/bin" && pwd) $(go_program) install golang.org/x/perf/cmd/benchstat@v0.0.0-20230113213139-801c7ef9e5c5" ;;
            critcmp) command="cargo install --quiet --locked --root $tools critcmp@0.1.8" ;;
            duckdb) command="python3 -m venv $tools/venv && $tools/venv/bin/pip install --quiet --disable-pip-version-check duckdb==1.4.1" ;;
        esac
        if [ $list_only = yes ]; then echo "setup: to install: $command"; continue; fi
        echo "setup: installing: $command"
        bash -c "$command" > /dev/null 2>&1 || echo "setup: $need could not be installed"
    done
}

system_packages() {
    local need of_system=()
    for need in $lacking; do
        case $need in cargo | fmt | clippy | zig | browser_tools | benchstat | critcmp | duckdb) ;; *) of_system+=("$need") ;; esac
    done
    if [ ${#of_system[@]} = 0 ]; then return; fi
    if ! command -v apt-get > /dev/null; then
        echo "setup: there is no apt-get here; install with this system's package manager:"
        for need in "${of_system[@]}"; do echo "setup:   $(why "$need") (Debian: $(choose "$need"))"; done
    elif [ $list_only = yes ] || [ "$(id -u)" != 0 ]; then
        echo "setup: to install what is missing:"
        echo "setup:   sudo apt-get update && sudo apt-get install -y --no-install-recommends $(chosen "${of_system[@]}")"
    else
        refresh
        # shellcheck disable=SC2046 # the names are meant to be split
        install $(chosen "${of_system[@]}")
    fi
}

# ---- the sequence

# shellcheck disable=SC2086 # the needs are a list
lacking=$(missing $needs)
if [ -z "$lacking" ]; then
    echo "setup: everything for '$goal' is installed"
    exit 0
fi
for need in $lacking; do echo "setup: missing: $(why "$need")"; done
system_packages
rust
rust_components
from_pypi
from_npm
round_trip_tools
if [ $list_only = yes ]; then exit 0; fi

find_rust
# shellcheck disable=SC2086
lacking=$(missing $needs)
status=0
for need in $lacking; do
    if [ "$(without "$need")" = essential ]; then
        echo "setup: still missing but required: $(why "$need")" >&2
        if [ "$need" = cargo ]; then echo "setup:   install Rust 1.$oldest_rust or newer: https://rustup.rs" >&2; fi
        status=1
    else
        echo "setup: without $(why "$need"), skipped: $(without "$need")"
    fi
done
exit $status
