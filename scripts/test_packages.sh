#!/usr/bin/env bash
# What is installed: is all of it there, does it agree, and can the shells and man read it?
#
# Packs a program that is built already (ASSAY, else the newer one of target/release and target/debug) and looks into the
# packages; nothing is compiled.
# What needs a tool that is not here is skipped, and said so. The packages were installed in clean roots by hand
# (docs/install.md); here they are only read.
set -euo pipefail
cd "$(dirname "$0")/.."

assay=${ASSAY:-}
for built in target/release/assay target/debug/assay; do
    if [ -z "${ASSAY:-}" ] && [ -x "$built" ] && { [ -z "$assay" ] || [ "$built" -nt "$assay" ]; }; then assay=$built; fi
done
if [ -z "$assay" ]; then echo "skipped: the packages, for assay is not built"; exit 0; fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 skipped=0
ok() { passed=$((passed + 1)); echo "ok: $1"; }
skip() { skipped=$((skipped + 1)); echo "skipped: $1"; }
fail() { echo "FAILED: $1" >&2; exit 1; }
have() { command -v "$1" > /dev/null; }

# A program for development has 100 MB of line tables; what is packed has none.
strip -o "$scratch/assay" "$assay" 2> /dev/null || cp "$assay" "$scratch/assay"
assay=$scratch/assay
version=$("$assay" -V)
version=${version#assay }
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "assay -V says '$version'"
grep -q "^version = \"$version\"" Cargo.toml || fail "Cargo.toml has another version than $version"
"$assay" --version | grep -q '^target: ' || fail "assay --version does not name its target"
"$assay" --version | grep -q '^plugin: version [0-9]' || fail "assay was built without the emulator's plugin"
[ "$("$assay" --version --long)" = "$("$assay" --version)" ] || fail "assay --version --long differs"
ok "version $version"

# ---- what the program carries

export XDG_CACHE_HOME=$scratch/cache
cmp "$("$assay" harness c)/assay.h" harness/assay.h || fail "the header that assay carries"
crate=$("$assay" harness rust)
diff -r "$crate/src" crates/assay-harness/src || fail "the crate that assay carries"
"$assay" harness c "$scratch/vendored" > /dev/null
cmp "$scratch/vendored/assay.h" harness/assay.h || fail "the header that assay writes"
cmp "$crate/LICENSE-MIT" LICENSE-MIT || fail "the licence of the crate that assay carries"
ok "header and crate"
if have cargo; then
    mkdir -p "$scratch/bench/src"
    printf '[package]\nname = "bench"\nedition = "2024"\n[dependencies]\nassay-harness = { path = "%s" }\n' "$crate" \
        > "$scratch/bench/Cargo.toml"
    cp crates/assay-harness/examples/loops.rs "$scratch/bench/src/main.rs"
    (cd "$scratch/bench" && cargo check --quiet --offline --target-dir "$scratch/bench/target") ||
        fail "a benchmark with the crate that assay carries does not compile"
    ok "a Rust benchmark compiles with the carried crate"
    # It compiles what it has packed, alone; --allow-dirty, for this may be an export without git.
    cargo package -p assay-harness --quiet --offline --allow-dirty --target-dir "$scratch/packed" ||
        fail "the harness crate cannot be packed"
    [ -f "$scratch/packed/package/assay-harness-$version.crate" ] || fail "cargo packed no assay-harness-$version.crate"
    cargo metadata --quiet --offline --no-deps --format-version 1 | python3 -c '
import json, sys
crates = {crate["name"]: crate["publish"] for crate in json.load(sys.stdin)["packages"]}
refused = [name for name, where in crates.items() if where == []]
assert "assay-harness" in crates and "assay-harness" not in refused, "cargo publish would refuse assay-harness"
assert len(refused) == len(crates) - 1, "only assay-harness is for publishing"' || fail "which crates are published"
    ok "the harness crate can be packed and published"
else
    skip "compiling a Rust benchmark and packing the crate, for there is no cargo"
fi
# Alone, in a folder without anything beside it: the plugin comes out of the program.
if have "qemu-$(uname -m)"; then
    mkdir "$scratch/alone" && cp "$assay" "$scratch/alone/"
    if told=$("$scratch/alone/assay" stat --json - -- /bin/true 2>&1) &&
        find "$XDG_CACHE_HOME/assay" -name libassay_qemu.so | grep -q .; then
        ok "the plugin is unpacked and loaded"
    elif "$scratch/alone/assay" stat -- /bin/true 2>&1 | grep -q "hardware"; then
        skip "unpacking the plugin, for this machine has counters"
    else
        fail "assay stat without the plugin beside it: $told"
    fi
else
    skip "unpacking the plugin, for there is no qemu-$(uname -m)"
fi

# ---- what is installed

printf 'licences\n' > "$scratch/THIRD-PARTY.txt"
SOURCE_DATE_EPOCH=1700000000 scripts/package.py "$assay" --out "$scratch/first" --fast --third-party "$scratch/THIRD-PARTY.txt"
SOURCE_DATE_EPOCH=1700000000 scripts/package.py "$assay" wheel --out "$scratch/again" --fast \
    --third-party "$scratch/THIRD-PARTY.txt" > /dev/null
cmp "$scratch"/first/*.whl "$scratch"/again/*.whl || fail "the same program gives another wheel"
ok "the same wheel for the same program"

holds() { # $1 a list of paths, then what must be in it
    local list=$1 path
    shift
    for path in "$@"; do grep -qE "(^|/)$path\$" "$list" || fail "$path is missing in $(basename "$list")"; done
}
everywhere=(bash-completion/completions/assay vendor_completions.d/assay.fish include/assay.h)
tar -tzf "$scratch"/first/assay-"$version"-*-linux.tar.gz > "$scratch/archive"
holds "$scratch/archive" "${everywhere[@]}" bin/assay site-functions/_assay man1/assay-run.1 doc/assay/THIRD-PARTY.txt \
    doc/assay/LICENSE-MIT doc/assay/LICENSE-APACHE
mkdir "$scratch/unpacked"
tar -xzf "$scratch"/first/*.tar.gz -C "$scratch/unpacked" --strip-components=1
cmp "$scratch/unpacked/bin/assay" "$assay" || fail "the archive holds another program"
ok "archive"

if have dpkg-deb; then
    deb=("$scratch"/first/assay_"$version"_*.deb)
    dpkg-deb --contents "${deb[0]}" | awk '{ print $6 }' > "$scratch/package"
    holds "$scratch/package" "${everywhere[@]}" usr/bin/assay vendor-completions/_assay man1/assay-run.1.gz \
        doc/assay/copyright doc/assay/changelog.gz
    [ "$(dpkg-deb --field "${deb[0]}" Version)" = "$version" ] || fail "the Debian package has another version"
    dpkg-deb --field "${deb[0]}" Depends | grep -qE '^libc6 \(>= 2\.[0-9]+\)' || fail "the Debian package's dependencies"
    ok "Debian package"
else
    skip "the Debian package, for there is no dpkg-deb"
fi

python3 - "$version" "$scratch"/first/*.whl << 'END'
import base64, csv, hashlib, io, sys, zipfile
version, path = sys.argv[1:]
wheel = zipfile.ZipFile(path)
base = f"assay_bench-{version}"
record = {row[0]: row for row in csv.reader(io.StringIO(wheel.read(f"{base}.dist-info/RECORD").decode()))}
assert set(record) == set(wheel.namelist()), "RECORD and the files differ"
for name, digest, size in record.values():
    if digest:
        content = wheel.read(name)
        made = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert digest == f"sha256={made}" and int(size) == len(content), name
program = wheel.getinfo(f"{base}.data/scripts/assay")
assert program.external_attr >> 16 & 0o111, "the program is not executable"
assert f"{base}.data/data/share/man/man1/assay-run.1" in record
assert f"\nVersion: {version}\n" in wheel.read(f"{base}.dist-info/METADATA").decode()
tag = path.rsplit(f"{base}-", 1)[1].removesuffix(".whl")
assert f"Tag: {tag}\n" in wheel.read(f"{base}.dist-info/WHEEL").decode()
END
ok "wheel"

# ---- what a project finds where it is installed

installed=$scratch/unpacked
mkdir "$scratch/project"
cat > "$scratch/project/bench.c" << 'END'
#include <assay.h>
static uint64_t sum(const uint8_t *data, size_t size)
{
    uint64_t all = 0;
    for (size_t i = 0; i < size; i++) all += data[i];
    return all;
}
ASSAY_VARIANT("sum", sum)
ASSAY_MAIN()
END
cat > "$scratch/project/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.10)
project(bench C)
find_package(assay $version REQUIRED)
add_executable(bench bench.c)
target_link_libraries(bench PRIVATE assay::assay)
END
compiler=${CC:-cc}
if have cmake && have "$compiler"; then
    built=$(cmake -S "$scratch/project" -B "$scratch/project/build" -DCMAKE_PREFIX_PATH="$installed" 2>&1 &&
        cmake --build "$scratch/project/build" 2>&1) || fail "find_package(assay): $built"
    "$scratch/project/build/bench" --list | grep -q sum || fail "what CMake built registers no variant"
    ok "find_package(assay)"
else
    skip "find_package(assay), for there is no cmake or no $compiler"
fi
if have pkg-config && have "$compiler"; then
    words=$(PKG_CONFIG_PATH=$installed/share/pkgconfig pkg-config --cflags "assay >= $version") || fail "pkg-config does not find assay"
    # shellcheck disable=SC2086
    "$compiler" $words "$scratch/project/bench.c" -o "$scratch/project/alone" || fail "pkg-config --cflags assay gives '$words'"
    "$scratch/project/alone" --list | grep -q sum || fail "what was built by pkg-config's words registers no variant"
    ok "pkg-config --cflags assay"
else
    skip "pkg-config --cflags assay, for there is no pkg-config or no $compiler"
fi

# ---- what shells and man say of it

share=$scratch/unpacked/share
parses() { # $1 a shell, then its words to parse a file
    local shell=$1 reason
    shift
    if ! have "$shell"; then skip "the completions for $shell, for it is not here"; return; fi
    reason=$("$shell" "$@" 2>&1) || fail "$shell cannot read its completions: $reason"
    ok "completions for $shell"
}
parses bash -n "$share/bash-completion/completions/assay"
parses zsh -n "$share/zsh/site-functions/_assay"
parses fish --no-execute "$share/fish/vendor_completions.d/assay.fish"
completed=$(bash -c 'source "$1"; COMP_WORDS=(assay comp); COMP_CWORD=1; _assay assay comp ""; echo "${COMPREPLY[*]}"' \
    _ "$share/bash-completion/completions/assay")
[[ $completed == *compare* ]] || fail "bash completes 'assay comp' to '$completed'"
ok "bash completes verbs"
if have fish; then
    completes() { fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$share/fish/vendor_completions.d/assay.fish" "$1"; }
    completed=$(completes 'assay comp')
    [[ $completed == *compare* ]] || fail "fish completes 'assay comp' to '$completed'"
    completed=$(completes 'assay completions ')
    [[ $completed == *zsh* ]] || fail "fish completes 'assay completions ' to '$completed'"
    ok "fish completes verbs and their words"
else
    skip "completing words in fish, for it is not here"
fi
if have zsh; then
    # It completes for a terminal only; nothing is run.
    cat > "$scratch/completes.zsh" << 'END'
zmodload zsh/zpty && zpty inner zsh -f -i
zpty -w inner "PS1=; fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -D; print ready"
zpty -r inner seen $'*ready\r\n*'
zpty -w -n inner $'assay compl\t'
zpty -r inner seen '*completions*' && zpty -w -n inner $'z\t'
zpty -r inner more '*zsh*' && print -r -- "$seen$more"
zpty -d inner
END
    completed=$(timeout 60 zsh -f "$scratch/completes.zsh" "$share/zsh/site-functions") || true
    [[ $completed == *completions*zsh* ]] || fail "zsh completes 'assay compl', then 'z', to '$completed'"
    ok "zsh completes verbs and their words"
else
    skip "completing words in zsh, for it is not here"
fi

if have man && have groff; then
    # What man runs, for all pages at once.
    warned=$(groff -k -man -Tutf8 -ww -z "$share"/man/man1/*.1 2>&1)
    [ -z "$warned" ] || fail "groff: $(head -5 <<< "$warned")"
    LC_ALL=C.UTF-8 MANWIDTH=80 man -l -P cat "$share/man/man1/assay-run.1" | grep -q "EXIT STATUS" || fail "assay-run.1 has no exit codes"
    ok "manual pages, by man"
else
    skip "rendering the manual pages, for there is no man"
fi
if have mandoc; then
    # Its warnings are of style: pages have no date, and clap_mangen breaks lines beside empty ones.
    found=$(mandoc -Tlint -Werror "$share"/man/man1/*.1 2>&1 || true)
    [ -z "$found" ] || fail "mandoc: $(head -5 <<< "$found")"
    ok "manual pages, by mandoc"
else
    skip "mandoc's lint, for it is not here"
fi
echo "$passed passed, 0 failed, $skipped skipped"
