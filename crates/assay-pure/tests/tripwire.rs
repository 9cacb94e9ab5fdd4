//! Programs with a wire across what another build does not have, executed natively.

use crate::identity::toolchain::{Scratch, compilers, run};
use assay_pure::placement::compare;
use assay_pure::placement::tripwire::tripwire;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, Output};

/// Executes what its argument names. `cold` differs with BODY, the tables with TABLE.
const SOURCE: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline, noipa_if_known))
static const int table[4] = {1, TABLE, 3, 4};
static const int *tables[2] = {table, table};
static volatile int seen;
APART int cold(int x) { BODY return x; }
APART int hot(int x) { for (int i = 0; i < 100; i++) seen += i * x; return seen; }
APART int looked(int x) { return table[x & 3]; }
APART int followed(int x) { return tables[x & 1][x & 3]; }
static int (*const through[2])(int) = {hot, cold};
APART int indirect(int x) { return through[seen > 1000000](x) + hot(x); }
static void caught(int number) { (void)number; puts("caught"); fflush(stdout); _Exit(0); }
int main(int c, char **v) {
    const char *asked = c > 1 ? v[1] : "nothing";
    signal(SIGILL, caught); signal(SIGTRAP, caught); signal(SIGSEGV, caught);
    int all = hot(c);
    if (!strcmp(asked, "cold")) all += cold(c);
    if (!strcmp(asked, "looked")) all += looked(c);
    if (!strcmp(asked, "followed")) all += followed(c);
    if (!strcmp(asked, "indirect")) all += indirect(c);
    printf("done\n");
    return all == 12345678;
}
"#;

const LINKS: &[&[&str]] =
    &[&["-O2"], &["-O2", "-no-pie", "-fno-pie"], &["-O1", "-ffunction-sections"], &["-O2", "-static"]];

/// The program, linked; its `cold` and its table as told.
fn linked(compiler: &str, flags: &[&str], body: &str, table: &str) -> Vec<u8> {
    let scratch = Scratch::new();
    let (file, program) = (scratch.0.join("it.c"), scratch.0.join("it"));
    // clang has no attribute against its propagation of constants; arguments that it does not know do.
    let source = SOURCE.replace(", noipa_if_known", if compiler == "gcc" { ", noipa" } else { "" });
    std::fs::write(&file, source.replace("BODY", body).replace("TABLE", table)).expect("the folder is ours");
    let paths = [file.to_str().expect("UTF-8"), "-o", program.to_str().expect("UTF-8")];
    run(compiler, &[flags, &paths].concat());
    std::fs::read(&program).expect("the compiler wrote it")
}

/// `new` with a wire across all that `old` does not have.
fn wired(old: &[u8], new: &[u8]) -> Vec<u8> {
    let changes = compare(old, new).expect("both are linked files with symbols");
    let same = changes.iter().filter(|change| change.is_untouched());
    let place = same.filter_map(|change| change.new.as_ref());
    let untouched: Vec<Range<u64>> = place.map(|place| place.address..place.address + place.size).collect();
    tripwire(new, &untouched).expect("it is a program for x86-64")
}

fn executed(folder: &Path, program: &[u8], script: &str) -> Output {
    let path = folder.join("wired");
    std::fs::write(&path, program).expect("the folder is ours");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is our file");
    // As a benchmark command is: by the shell, in a process group of its own.
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(folder).process_group(0);
    command.output().expect("there is a shell")
}

#[test]
fn a_program_ends_where_it_executes_what_the_other_build_does_not_have() {
    for compiler in compilers() {
        for flags in LINKS {
            let old = linked(compiler, flags, "seen++;", "2");
            let new = linked(compiler, flags, "seen += 2; if (x > 7) puts(\"more\");", "2");
            let wired = wired(&old, &new);
            let scratch = Scratch::new();
            let of = |script: &str| executed(&scratch.0, &wired, script);
            let what = format!("{compiler} {}", flags.join(" "));
            for same in ["", "looked", "followed", "indirect"] {
                let ran = of(&format!("./wired {same}"));
                assert!(ran.status.success() && ran.stdout == b"done\n", "{what}, {same}: {ran:?}");
            }
            for cold in ["./wired cold", "./wired cold | cat", "./wired cold || true", "(./wired cold; true)"]
            {
                let ran = of(cold);
                assert_eq!(
                    (ran.status.signal(), ran.stdout.as_slice()),
                    (Some(9), &b""[..]),
                    "{what}, {cold}"
                );
            }
        }
    }
}

#[test]
fn a_program_ends_where_it_reads_other_data() {
    for compiler in compilers() {
        for flags in LINKS {
            let (old, new) = (linked(compiler, flags, "", "2"), linked(compiler, flags, "", "200"));
            let wired = wired(&old, &new);
            let scratch = Scratch::new();
            let what = format!("{compiler} {}", flags.join(" "));
            for (asked, ends_well) in [("", true), ("cold", true), ("looked", false), ("followed", false)] {
                let ran = executed(&scratch.0, &wired, &format!("./wired {asked}"));
                assert_eq!(ran.status.success(), ends_well, "{what}, {asked}: {ran:?}");
            }
        }
    }
}

#[test]
fn a_program_against_itself_does_all_that_it_does() {
    for compiler in compilers() {
        for flags in LINKS {
            let program = linked(compiler, flags, "seen++;", "2");
            let wired = wired(&program, &program);
            let scratch = Scratch::new();
            for asked in ["", "cold", "looked", "followed", "indirect"] {
                let ran = executed(&scratch.0, &wired, &format!("./wired {asked}"));
                assert!(ran.status.success(), "{compiler} {}, {asked}: {ran:?}", flags.join(" "));
            }
        }
    }
}
