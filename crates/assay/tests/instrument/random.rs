//! Is the log right for programs that nobody wrote for it? Programs of csmith, at each level of optimisation.
//!
//! Method: what csmith's program computes stands between marks; `memcpy` and its like, which compilers call by themselves, are
//! instrumented with it, as no library may come in between. Limits: programs that run for more than a second are left out.

use super::whole::has;
use super::{Compared, captured, compare, compare_built, compilers};
use assay_link::build::Compiler;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where csmith's packages put its headers.
const HEADERS: &str = "/usr/include/csmith";
/// What csmith's main calls, alone on its line.
const WORK: &str = "\n    func_1();\n";
/// Compilers know these by what they do, and would make calls of them of themselves but for `volatile`.
const FILLING: &str = "
#pragma GCC visibility push(hidden)
void *memcpy(void *to, const void *from, __SIZE_TYPE__ n)
{ for (volatile char *t = to; n-- > 0;) { *t++ = *(const char *)from; from = (const char *)from + 1; } return to; }
void *memmove(void *to, const void *from, __SIZE_TYPE__ n)
{ if ((char *)to <= (char *)from) return memcpy(to, from, n);
  while (n-- > 0) ((volatile char *)to)[n] = ((const char *)from)[n];
  return to; }
void *memset(void *to, int value, __SIZE_TYPE__ n)
{ for (volatile char *t = to; n-- > 0;) *t++ = (char)value; return to; }
int memcmp(const void *one, const void *other, __SIZE_TYPE__ n)
{ const volatile unsigned char *a = one, *b = other;
  for (; n-- > 0; a++, b++) if (*a != *b) return *a - *b;
  return 0; }
";

/// What came of a seed's programs.
#[derive(Default)]
struct Tried {
    equal: usize,
    branches: usize,
    refused: Vec<String>,
    slow: usize,
}

/// Whether csmith and its headers are here.
fn is_here() -> bool {
    // It writes a file wherever it runs.
    let folder = tempfile::tempdir().expect("a folder");
    let asked =
        Command::new("csmith").arg("--version").current_dir(folder.path()).stdout(Stdio::null()).status();
    let here = asked.is_ok_and(|status| status.success()) && Path::new(HEADERS).join("csmith.h").is_file();
    if !here {
        println!("skipped: csmith and its headers (Debian: csmith, libcsmith-dev) are not here");
    }
    here
}

/// Writes the program of a seed as `random.c`, with marks around its work.
fn write(folder: &Path, seed: u64) {
    let made = Command::new("csmith").args(["--seed", &seed.to_string()]).current_dir(folder).output();
    let text = String::from_utf8(made.expect("csmith starts").stdout).expect("it writes text");
    assert!(text.contains(WORK), "csmith's main calls func_1 alone on a line (seed {seed})");
    let marked = text.replace(WORK, "\n    mark(1, 0);\n    func_1();\n    mark(2, 0);\n");
    let mark = fs::read_to_string(crate::trace_fixtures::root().join("fixtures/instrument/mark.h"));
    let whole = format!("{}{marked}{FILLING}", mark.expect("the marks are there"));
    fs::write(folder.join("random.c"), whole).expect("the program is written");
}

/// The same of a program whose code its link generates, captured from a command.
fn compare_optimised_link(folder: &Path, compiler: &Compiler, flags: &[&str]) -> Result<Compared, String> {
    let clang = compiler.name.starts_with("clang");
    if clang && !has("ld.lld") {
        return Ok(Compared::Refused("lld is not here".to_owned()));
    }
    let linker = if clang { "-fuse-ld=lld" } else { "" };
    let command = format!("{} {} {linker} random.c -o random", compiler.path.display(), flags.join(" "));
    let store = tempfile::tempdir().expect("a store");
    match captured::build(folder, store.path(), &command, "random") {
        Ok(program) => compare_built(&program, Some(1)),
        Err(why) => Ok(Compared::Refused(why)),
    }
}

/// Compares a seed's program at these levels with each compiler.
fn try_seed(seed: u64, levels: &[&str], tried: &mut Tried) {
    for compiler in compilers() {
        for level in levels {
            let folder = tempfile::tempdir().expect("a folder");
            write(folder.path(), seed);
            let include = format!("-I{HEADERS}");
            let mut flags = vec!["-w", "-fno-stack-protector", &include];
            flags.extend(level.split(' '));
            let named = format!("seed {seed}, {} {level}", compiler.name);
            println!("{named}");
            let compared = if level.contains("-flto") {
                compare_optimised_link(folder.path(), &compiler, &flags)
            } else {
                compare(folder.path(), &["random.c"], &compiler, &flags, Some(1))
            };
            match compared {
                Ok(Compared::Equal { branches }) => {
                    tried.equal += 1;
                    tried.branches += branches;
                }
                Ok(Compared::Slow) => tried.slow += 1,
                Ok(Compared::Refused(why)) => tried.refused.push(format!("{named}: {why}")),
                Err(difference) => panic!("{named}: {difference}"),
            }
        }
    }
}

#[test]
fn random_programs_of_a_few_seeds_are_logged_as_the_emulator_sees_them() {
    if !is_here() || compilers().is_empty() {
        return;
    }
    let mut tried = Tried::default();
    for (seed, level) in [(2, "-O0"), (5, "-O1"), (11, "-O2"), (14, "-O3"), (2, "-O2 -flto")] {
        try_seed(seed, &[level], &mut tried);
    }
    println!("{} programs are equal, refused: {:#?}", tried.equal, tried.refused);
    assert!(tried.equal >= 5, "most are compared");
}

/// `cargo test -p assay --test it -- --ignored a_hundred_random`; ASSAY_RANDOM_PROGRAMS says how many others, ASSAY_RANDOM_FIRST
/// the first seed.
#[test]
#[ignore = "slow: a hundred random programs, each with two compilers at five levels"]
fn a_hundred_random_programs_are_logged_as_the_emulator_sees_them() {
    if !is_here() || compilers().is_empty() {
        return;
    }
    let number = |name: &str, other: u64| {
        std::env::var(name).map_or(other, |text| text.parse().expect("the variable is a number"))
    };
    let mut tried = Tried::default();
    let first = number("ASSAY_RANDOM_FIRST", 1);
    for seed in first..first + number("ASSAY_RANDOM_PROGRAMS", 100) {
        try_seed(seed, &["-O0", "-O1", "-O2", "-O3", "-O2 -flto"], &mut tried);
        println!("seed {seed}: {} equal, {} branches", tried.equal, tried.branches);
    }
    println!("equal {}, slow {}, refused {}", tried.equal, tried.slow, tried.refused.len());
    println!("{:#?}", tried.refused);
    assert!(tried.equal > 0, "some are compared");
}
