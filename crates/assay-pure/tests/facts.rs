//! Where functions, loops and branches lie, against what nm and objdump say of programs of this machine.

use assay_pure::placement::facts::{self, BranchFlow, DecodedFunction};
use assay_pure::placement::layout::LINE_BYTES;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// What a tool of binutils prints; nothing, with the reason, where it is not there.
fn printed(tool: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(tool).args(arguments).output() {
        Ok(output) if output.status.success() => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        _ => {
            eprintln!("skipped: `{tool}` cannot be used here");
            None
        }
    }
}

/// Programs to compare the facts with: this test itself, and a C program if there is a compiler.
fn programs(folder: &Path) -> Vec<String> {
    let mut found = vec![std::env::current_exe().expect("a path").to_string_lossy().into_owned()];
    let source = folder.join("loops.c");
    let text = "#include <stdio.h>\n#include <string.h>\n\
        int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) for (int j = i; j < n; j++) \
        { s += p[j]; if (s < 0) { s = (int)strlen(\"x\"); } } return s; }\n\
        int main(int c, char **v) { int a[9] = {c}; while (c-- > 0) puts(v[c]); return sum(a, 9); }\n";
    std::fs::write(&source, text).expect("the folder is ours");
    for (compiler, name) in
        [("gcc", "loops-gcc"), ("clang", "loops-clang"), ("aarch64-linux-gnu-gcc", "loops-a64")]
    {
        let program = folder.join(name).to_string_lossy().into_owned();
        let arguments = ["-O2", &source.to_string_lossy(), "-o", &program].map(str::to_owned);
        match Command::new(compiler).args(arguments).output() {
            Ok(output) if output.status.success() => found.push(program),
            _ => eprintln!("skipped: `{compiler}` cannot be used here"),
        }
    }
    found
}

struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("assay-facts-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn read(program: &str) -> Vec<DecodedFunction> {
    let elf = std::fs::read(program).expect("it was just written");
    facts::functions(elf.as_slice().into(), |_| true).expect("a linked file with symbols")
}

#[test]
fn addresses_and_sizes_are_those_of_nm() {
    let folder = Folder::new("nm");
    for program in programs(&folder.0) {
        let Some(text) = printed("nm", &["--print-size", "--defined-only", &program]) else { return };
        let mut expected: BTreeMap<(u64, u64), BTreeSet<String>> = BTreeMap::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [address, size, kind, name] = words.as_slice() else { continue };
            let number = |text: &str| u64::from_str_radix(text, 16).expect("nm prints hexadecimal numbers");
            // Kinds of code: t, T, w, W, i; weak data has v, V.
            if "tTwWi".contains(kind) && number(size) > 0 {
                let name = name.split('@').next().unwrap_or_default();
                expected.entry((number(address), number(size))).or_default().insert(name.to_owned());
            }
        }
        let functions = read(&program);
        assert!(!functions.is_empty(), "{program}");
        for function in &functions {
            let place = &function.place;
            let name = place.name.split('@').next().unwrap_or_default();
            let known = expected.get(&(place.address, place.size)).is_some_and(|names| {
                names.contains(name) || function.aliases.iter().any(|alias| names.contains(alias))
            });
            assert!(known, "{program}: {place:?}");
            assert_eq!(place.offset, place.address % LINE_BYTES);
        }
        let addresses: BTreeSet<u64> = functions.iter().map(|function| function.place.address).collect();
        let missed: Vec<_> = expected.keys().filter(|(address, _)| !addresses.contains(address)).collect();
        assert!(missed.len() * 100 <= expected.len(), "{program}: {missed:x?}");
    }
}

/// What objdump prints of a function: address, bytes, and the target of each jump that names one.
fn listed(text: &str) -> BTreeMap<u64, (u64, Option<u64>)> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let mut parts = line.split('\t');
        let Some(Ok(address)) = parts
            .next()
            .and_then(|part| part.trim().strip_suffix(':'))
            .map(|part| u64::from_str_radix(part, 16))
        else {
            continue;
        };
        let bytes = parts.next().unwrap_or_default();
        // AArch64 is printed in words.
        let length = bytes.split_whitespace().map(|byte| byte.len() as u64 / 2).sum();
        let text: Vec<&str> = parts.collect();
        let mut words =
            text.iter().flat_map(|part| part.split_whitespace()).skip_while(|word| *word == "bnd");
        let mnemonic = words.next().unwrap_or_default();
        let jumps = mnemonic.starts_with('j')
            || mnemonic == "b"
            || mnemonic.starts_with("b.")
            || ["cbz", "cbnz", "tbz", "tbnz"].contains(&mnemonic);
        // The target stands ahead of its name.
        let target = words
            .filter(|word| !word.starts_with('<') && !word.contains('%') && !word.starts_with('#'))
            .filter_map(|word| {
                u64::from_str_radix(word.trim_end_matches(',').trim_start_matches("0x"), 16).ok()
            })
            .last();
        found.insert(address, (length, target.filter(|_| jumps)));
    }
    found
}

#[test]
fn loops_and_branches_are_those_that_objdump_shows() {
    let folder = Folder::new("objdump");
    let (mut loops, mut functions) = (0, 0);
    for program in programs(&folder.0).into_iter().skip(1) {
        let tool = if program.ends_with("a64") { "aarch64-linux-gnu-objdump" } else { "objdump" };
        for function in read(&program) {
            let (start, end) = (function.place.address, function.place.address + function.place.size);
            let range = [format!("--start-address={start:#x}"), format!("--stop-address={end:#x}")];
            let Some(text) = printed(tool, &["-d", "-w", &range[0], &range[1], &program]) else { return };
            let listed = listed(&text);
            let ours: BTreeMap<u64, u64> =
                function.operations.iter().map(|found| (start + found.at, found.bytes)).collect();
            let theirs: BTreeMap<u64, u64> = listed.iter().map(|(&at, &(length, _))| (at, length)).collect();
            assert_eq!(ours, theirs, "{program} {}", function.place.name);
            let mut heads: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
            for (&at, &(_, target)) in &listed {
                if let Some(target) = target.filter(|&target| target >= start && target <= at) {
                    heads.entry(target).or_default().push(at);
                }
            }
            let found: BTreeMap<u64, Vec<u64>> = function
                .loops
                .iter()
                .map(|body| (start + body.head, body.branches.iter().map(|at| start + at).collect()))
                .collect();
            assert_eq!(found, heads, "{program} {}", function.place.name);
            // Jumps that name a target, counted by both.
            let jumps = function
                .operations
                .iter()
                .filter(|found| matches!(found.flow, BranchFlow::Conditional(_) | BranchFlow::Jump(_)))
                .count();
            assert_eq!(jumps, listed.values().filter(|(_, target)| target.is_some()).count());
            loops += found.len();
            functions += 1;
        }
    }
    assert!(functions == 0 || loops >= 3, "{loops} loops in {functions} functions");
}
