//! The C header, as C and as C++ by every compiler found, and this crate speak the same protocol.

use crate::support::{
    build, by_each, compilers, is_as_expected, repository, rust_program, scratch, talk, vectors,
};
use assay_pure::protocol::{Reply, VariantKind};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn source() -> Vec<PathBuf> {
    vec![repository().join("harness/vectors.c")]
}

fn standards(compiler: &str) -> [&'static str; 2] {
    if compiler.contains("++") { ["-std=c++17", "-std=c++20"] } else { ["-std=c11", "-std=gnu17"] }
}

/// The vectors' program by every compiler, and in Rust; built once.
fn programs() -> &'static [PathBuf] {
    static BUILT: OnceLock<Vec<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(|| {
        let by = |compiler: &str| {
            build(compiler, &["-O2", standards(compiler)[0]], &source(), &format!("vectors-{compiler}"))
        };
        std::thread::scope(|scope| {
            let rust = scope.spawn(rust_program);
            let mut programs = by_each(&["gcc", "g++", "clang", "clang++"], by);
            programs.push(rust.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            programs
        })
    })
}

/// Those, and the one for AArch64 under the emulator: whose replies are read, and nothing else of them.
fn that_reply() -> Vec<PathBuf> {
    static EMULATED: OnceLock<Option<PathBuf>> = OnceLock::new();
    programs().iter().cloned().chain(EMULATED.get_or_init(emulated).clone()).collect()
}

/// The vectors' program for AArch64, started under the emulator.
fn emulated() -> Option<PathBuf> {
    const COMPILER: &str = "aarch64-linux-gnu-gcc";
    const EMULATOR: &str = "qemu-aarch64";
    if compilers(&[COMPILER, EMULATOR]).len() < 2 {
        return None;
    }
    let program = build(COMPILER, &["-O2", "-static", "-std=c11"], &source(), "vectors-aarch64-program");
    let (script, unfinished) = (scratch("vectors-aarch64"), scratch("vectors-aarch64.sh"));
    let text = format!("#!/bin/sh\nexec {EMULATOR} '{}' \"$@\"\n", program.display());
    std::fs::write(&unfinished, text).expect("the scratch directory is writable");
    std::fs::set_permissions(&unfinished, Permissions::from_mode(0o755)).expect("the file is ours");
    std::fs::rename(&unfinished, &script).expect("the scratch directory is writable");
    Some(script)
}

/// Sends the shared transcript and compares every reply.
fn follows_the_transcript(program: &Path, piece: usize) {
    let transcript = vectors("transcript");
    let said = |mark: &str| -> Vec<String> {
        transcript.iter().filter_map(|line| line.strip_prefix(mark)).map(str::to_owned).collect()
    };
    let requests = said("> ").join("\n") + "\n";
    let conversation = talk(program, requests.as_bytes(), piece, "60");
    let lines = conversation.lines();
    for (expected, line) in said("< ").iter().zip(&lines) {
        assert!(is_as_expected(expected, line), "{program:?}: expected {expected:?}, found {line:?}");
        Reply::parse(line).unwrap_or_else(|error| panic!("{program:?}: {error}"));
    }
    assert_eq!(lines.len(), said("< ").len(), "{program:?}: {lines:#?}");
    assert_eq!(conversation.code, 0, "{program:?} ends well after bye: {}", conversation.stderr);
}

#[test]
fn the_header_compiles_without_warnings_at_every_level_and_standard() {
    by_each(&["gcc", "g++", "clang", "clang++"], |compiler| {
        for (standard, level) in [(0, "-O0"), (0, "-O1"), (0, "-O3"), (1, "-O2")] {
            let flags = ["-c", level, standards(compiler)[standard]];
            build(compiler, &flags, &source(), &format!("compiled-{compiler}.o"));
        }
    });
}

#[test]
fn all_harnesses_follow_the_shared_transcript() {
    for program in &that_reply() {
        follows_the_transcript(program, 1 << 16);
    }
}

#[test]
fn requests_may_arrive_in_pieces() {
    for program in &that_reply() {
        follows_the_transcript(program, 7);
    }
}

#[test]
fn the_header_is_clean_under_sanitizers() {
    let sanitizers = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let empty = scratch("empty.c");
    std::fs::write(&empty, "int main(void) { return 0; }\n").expect("the scratch directory is writable");
    by_each(&["gcc", "clang", "clang++"], |compiler| {
        let mut probe = Command::new(compiler);
        probe
            .args(sanitizers)
            .args(["-x", "c"])
            .arg(&empty)
            .arg("-o")
            .arg(scratch(&format!("empty-{compiler}")));
        if !probe.output().is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: {compiler} has no sanitizer runtime here");
            return;
        }
        let mut flags = sanitizers.to_vec();
        flags.push(standards(compiler)[0]);
        let program = build(compiler, &flags, &source(), &format!("vectors-sanitized-{compiler}"));
        follows_the_transcript(&program, 1 << 16);
        let alone = Command::new(&program).args(["--seconds", "0.01"]).output().expect("it starts");
        assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stderr));
    });
}

#[test]
fn every_bad_request_gets_one_error_and_none_ends_the_program() {
    let mut bad: Vec<Vec<u8>> = vectors("bad requests").into_iter().map(String::into_bytes).collect();
    bad.push(Vec::new());
    bad.push(b"\xff\xfe\x00\x01\x1b[31m".to_vec());
    bad.push(b"bye\0".to_vec());
    bad.push([b"bye ".to_vec(), vec![b'x'; 100_000]].concat());
    bad.push(vec![b' '; 16_383]);
    let mut requests = bad.join(&b'\n');
    requests.push(b'\n');
    requests.extend_from_slice(b"bye\nbye\n");
    for program in &that_reply() {
        let conversation = talk(program, &requests, 1 << 16, "60");
        let lines = conversation.lines();
        let replies: Vec<&String> =
            lines.iter().skip_while(|line| !line.starts_with("ready ")).skip(1).collect();
        assert_eq!(replies.len(), bad.len() + 1, "{program:?}: {replies:#?}");
        assert!(
            replies[..bad.len()].iter().all(|line| line.starts_with("error reason=")),
            "{program:?}: {replies:#?}"
        );
        assert!(replies.iter().all(|line| Reply::parse(line).is_ok()), "{program:?}: {replies:#?}");
        assert_eq!((replies[bad.len()].as_str(), conversation.code), ("bye", 0), "{program:?}");
    }
}

#[test]
fn a_program_ends_quietly_when_the_lab_is_gone() {
    for program in &that_reply() {
        let conversation = talk(program, b"answer variant=0", 1 << 16, "60");
        assert_eq!((conversation.code, conversation.stderr.as_str()), (0, ""), "{program:?}");
        assert!(
            conversation.lines().last().is_some_and(|line| line.starts_with("ready ")),
            "half a line is no request"
        );
    }
}

#[test]
fn a_channel_that_is_not_open_is_said_on_stderr() {
    for program in programs() {
        for channel in ["900,901", "0", "0,1,2", "a,b", "-1,1", ""] {
            let output = Command::new(program).env("ASSAY_CHANNEL", channel).output().expect("it starts");
            let words = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{program:?} {channel:?}: {words}");
            assert!(words.contains("ASSAY_CHANNEL"), "{words}");
        }
    }
}

#[test]
fn entries_are_the_functions_offsets_in_the_image() {
    for program in programs() {
        let hello = talk(program, b"bye\n", 1 << 16, "60");
        let entry_of = |wanted: &str| {
            hello.lines().iter().find_map(|line| match Reply::parse(line) {
                Ok(Reply::Variant { name, entry, kind: VariantKind::Call, .. }) if name == wanted => {
                    Some(entry)
                }
                _ => None,
            })
        };
        let entry = entry_of("sum").expect("the program has a variant sum");
        let Ok(symbols) = Command::new("nm").args(["-C", "--defined-only"]).arg(program).output() else {
            eprintln!("skipped: nm is not on PATH");
            return;
        };
        let symbols = String::from_utf8_lossy(&symbols.stdout).into_owned();
        // A position-independent program's image starts at 0, so the offset is the symbol's value.
        let found = symbols.lines().any(|line| {
            let mut words = line.split_whitespace();
            let address = words.next().and_then(|hex| u64::from_str_radix(hex, 16).ok());
            address == Some(entry) && words.nth(1).is_some_and(|name| name.contains("sum"))
        });
        assert!(found, "{program:?}: no function sum at {entry:#x}");
    }
}

#[test]
fn variants_of_several_translation_units_in_c_and_cxx_meet_in_declared_order() {
    let pairs = [("gcc", "g++"), ("clang", "clang++")];
    for (c, cxx) in pairs {
        if compilers(&[c, cxx]).len() < 2 {
            continue;
        }
        let write = |name: &str, text: &str| {
            let path = scratch(&format!("{c}-{name}"));
            std::fs::write(&path, text).expect("the scratch directory is writable");
            path
        };
        // System headers first: then -std=c11 has already hidden what the header needs.
        let a = write(
            "a.c",
            "#include <time.h>\n#include <stdlib.h>\n#include <sys/mman.h>\n#include <sys/resource.h>\n#include <assay.h>\n\
             static uint64_t f(const uint8_t *d, size_t n) { return n + (n ? d[0] : 0); }\n\
             ASSAY_VARIANT(\"a1\", f) ASSAY_VARIANT(\"a2\", f)\n",
        );
        let b = write(
            "b.cpp",
            "#include <string>\n#include <assay.h>\nnamespace {\n\
             ASSAY_VARIANT(\"b1\", [](const uint8_t *d, size_t n) -> uint64_t { return n + (n ? d[0] : 0); })\n\
             ASSAY_LOOP(\"b2\", state, in) { while (assay_next(state)) { std::string s(\"x\"); assay_use(s); assay_use(1.5f); }\n\
             assay_answer(state, in.size); }\n}\nASSAY_MAIN()\n",
        );
        let object = |compiler: &str, standard: &str, source: PathBuf, name: &str| {
            build(
                compiler,
                &["-c", "-O2", standard, "-ffunction-sections"],
                &[source],
                &format!("{c}-{name}.o"),
            )
        };
        let objects = [object(c, "-std=c11", a, "a"), object(cxx, "-std=c++17", b, "b")];
        let program = scratch(&format!("{c}-units"));
        let mut link = Command::new(cxx);
        let linked = link.args(&objects).arg("-Wl,--gc-sections").arg("-o").arg(&program).status();
        assert!(linked.expect("the compiler starts").success());
        let list = Command::new(&program).arg("--list").output().expect("it starts");
        assert_eq!(String::from_utf8_lossy(&list.stdout), "a1 (call)\na2 (call)\nb1 (call)\nb2 (loop)\n");
    }
}

#[test]
fn assay_use_takes_any_scalar_and_evaluates_it_once() {
    let path = scratch("use.c");
    let text = "#include <assay.h>\nenum colour { red };\nstatic int calls;\nstatic int called(void) { return ++calls; }\n\
                int main(void)\n{\n    int i = 0;\n    enum colour c = red;\n    double d = 0;\n    volatile int v = 3;\n\
                const char *p = \"a\";\n    static const char text[] = \"abc\";\n\
                assay_use(i++); assay_use(c); assay_use(d += 1.0); assay_use((float)d); assay_use(1.0L * d);\n\
                assay_use(v); assay_use(p); assay_use(text); assay_use(\"abc\"); assay_use(called); assay_use(called());\n\
                assay_use((char)1); assay_use(1ull); assay_use((void *)&i); assay_clobber();\n\
                return !(i == 1 && calls == 1 && d == 1.0);\n}\n";
    std::fs::write(&path, text).expect("the scratch directory is writable");
    by_each(&["gcc", "g++", "clang", "clang++"], |compiler| {
        for level in ["-O0", "-O2"] {
            let flags = [level, standards(compiler)[0]];
            let program =
                build(compiler, &flags, std::slice::from_ref(&path), &format!("use-{compiler}{level}"));
            assert!(Command::new(program).status().expect("it starts").success(), "{compiler} {level}");
        }
    });
}

/// The instructions of the smallest loop of `function`, from the target of its backward jump to the jump.
fn innermost_loop(program: &Path, function: &str) -> Option<Vec<String>> {
    let output = Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(program).output();
    let text = String::from_utf8_lossy(&output.ok()?.stdout).into_owned();
    let lines = text.lines().skip_while(|line| !(line.contains(function) && line.ends_with(">:"))).skip(1);
    let code: Vec<(u64, String)> = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.trim().split_once(":\t"))
        .filter_map(|(address, code)| Some((u64::from_str_radix(address, 16).ok()?, code.to_owned())))
        .collect();
    let target = |code: &str| {
        let (jump, rest) = code.split_once(char::is_whitespace)?;
        let address = rest.split_whitespace().next()?;
        jump.starts_with('j').then(|| u64::from_str_radix(address, 16).ok())?
    };
    let between = |from: u64, to: u64| -> Vec<String> {
        code.iter().filter(|(at, _)| (from..=to).contains(at)).map(|(_, code)| code.clone()).collect()
    };
    code.iter()
        .filter_map(|(at, code)| target(code).filter(|to| to <= at).map(|to| between(to, *at)))
        .filter(|body| !body.is_empty())
        .min_by_key(Vec::len)
}

#[test]
fn a_state_loop_keeps_its_counter_in_a_register_although_memory_is_clobbered() {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("skipped: reads x86-64 instructions");
        return;
    }
    let source_path = scratch("counter.c");
    let text = "#include <assay.h>\nASSAY_LOOP(\"l\", state, in) { while (assay_next(state)) { assay_use(in.size); \
                assay_clobber(); } assay_answer(state, in.size); }\nASSAY_MAIN()\n";
    std::fs::write(&source_path, text).expect("the scratch directory is writable");
    for compiler in compilers(&["gcc", "g++", "clang", "clang++"]) {
        let flags = ["-O2", standards(compiler)[0]];
        let program =
            build(compiler, &flags, std::slice::from_ref(&source_path), &format!("counter-{compiler}"));
        let Some(body) = innermost_loop(&program, "assay_loop_0") else {
            eprintln!("skipped: objdump shows no loop (is it on PATH?)");
            continue;
        };
        assert!(
            body.iter().all(|code| !code.contains('(') && !code.starts_with("call")),
            "{compiler}: {body:#?}"
        );
        assert!(body.len() <= 3, "a decrement and a jump, or a test between them: {compiler}: {body:#?}");
    }
}

#[test]
fn every_traced_pass_stands_between_two_marks_that_a_tracer_sees() {
    let emulator = format!("qemu-{}", std::env::consts::ARCH);
    if !Command::new(&emulator).arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: {emulator} is not on PATH");
        return;
    }
    let input = scratch("marks-input");
    std::fs::write(&input, [1u8; 64]).expect("the scratch directory is writable");
    let mut requests =
        format!("load id=7 size=64 units=64 windows=1 path={}\nwindow 0 64 64\n", input.display());
    for variant in 0..3 {
        requests += &format!("trace variant={variant} input=7 window=0 windows=1 passes=2\n");
        requests += &format!("trace variant={variant} input=7 window=0 windows=0 passes=1\n");
    }
    requests += "bye\n";
    for (number, program) in programs().iter().enumerate() {
        let (wrapper, log) =
            (scratch(&format!("marks-{number}.sh")), scratch(&format!("marks-{number}.log")));
        let command = format!(
            "#!/bin/sh\nexec {emulator} -strace -D '{}' '{}'\n",
            log.display(),
            program.canonicalize().expect("it was built").display()
        );
        std::fs::write(&wrapper, command).expect("the scratch directory is writable");
        std::fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("the script is ours");
        let conversation = talk(&wrapper, requests.as_bytes(), 1 << 16, "60");
        assert_eq!(conversation.code, 0, "{}", conversation.stderr);
        let log = std::fs::read_to_string(&log).expect("the emulator wrote its log");
        let marks: Vec<Vec<u64>> = log.lines().filter_map(mark).collect();
        let expected: Vec<Vec<u64>> = (0..3)
            .flat_map(|variant| [(variant, 0), (variant, 1), (variant, 0)])
            .flat_map(|(variant, pass)| [vec![1, variant, 7, pass], vec![2, 0, 0, 0]])
            .collect();
        assert_eq!(marks, expected, "{program:?}: {log}");
    }
}

/// The four numbers after the option of a `prctl` in the emulator's log, where it is ours.
fn mark(line: &str) -> Option<Vec<u64>> {
    let arguments = line.split_once("prctl(")?.1.split(')').next()?;
    let mut numbers = arguments.split(',').map(|word| word.trim().parse::<u64>().ok());
    if numbers.next()?? != 0x6173_7379 {
        return None;
    }
    numbers.take(4).collect()
}
