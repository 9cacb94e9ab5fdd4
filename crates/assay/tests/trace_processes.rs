//! Threads, children, libraries, signals and time limits under the tracer, on both architectures.
//!
//! Whatever the C library does at start-up cancels between two numbers of rounds; see `fixtures/branches`.

use crate::trace_fixtures::{Seen, Target, build, root, trace, trace_with};
use assay_trace::{ClassCounts, ProcessTrace, TraceDetail, TraceOptions, TracedExit};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const TARGETS: [Target; 2] = [Target::X86_64, Target::Aarch64];
const DETAILS: [TraceDetail; 2] = [TraceDetail::Counts, TraceDetail::Branches];

fn difference(more: ClassCounts, less: ClassCounts) -> ClassCounts {
    ClassCounts {
        instructions: more.instructions - less.instructions,
        conditional: more.conditional - less.conditional,
        taken: more.taken.zip(less.taken).map(|(more, less)| more - less),
        jumps: more.jumps - less.jumps,
        calls: more.calls - less.calls,
        indirect_jumps: more.indirect_jumps - less.indirect_jumps,
        indirect_calls: more.indirect_calls - less.indirect_calls,
        returns: more.returns - less.returns,
        system_calls: more.system_calls - less.system_calls,
    }
}

/// What `rounds` rounds add.
fn rounds(rounds: u64, taken: bool) -> ClassCounts {
    ClassCounts {
        instructions: 2 * rounds,
        conditional: rounds,
        taken: taken.then_some(rounds),
        ..ClassCounts::default()
    }
}

// Static: in a dynamic program, whichever thread ends first resolves the library's own symbols for all (507 instructions).
#[test]
fn threads_are_counted_apart() {
    for target in TARGETS {
        let Some((_folder, program)) = build("threads", target, &["-pthread", "-static"]) else {
            continue;
        };
        for detail in DETAILS {
            let once = trace(&program, &["0100000"], detail);
            let twice = trace(&program, &["0200000"], detail);
            let threads = |process: &ProcessTrace<Seen>| -> Vec<ClassCounts> {
                process.threads.iter().map(|thread| thread.counts).collect()
            };
            let (once, twice) = (threads(&once.processes[0]), threads(&twice.processes[0]));
            assert_eq!((once.len(), twice.len()), (5, 5));
            for number in 1..5 {
                let added = difference(twice[number], once[number]);
                assert_eq!(added, rounds(number as u64 * 100_000, true), "thread {number}");
            }
        }
    }
}

#[test]
fn children_are_followed_through_fork_and_exec() {
    for target in TARGETS {
        let Some((_folder, program)) = build("children", target, &[]) else {
            continue;
        };
        for detail in DETAILS {
            let traced = |count: &str| {
                let options = TraceOptions { detail, follow: true, ..TraceOptions::default() };
                trace_with(&program, &[count], options)
                    .unwrap_or_else(|refusal| panic!("{refusal}"))
                    .processes
            };
            let (once, twice) = (traced("0100000"), traced("0200000"));
            let ended: Vec<TracedExit> = once.iter().map(|process| process.ended).collect();
            assert_eq!(
                ended,
                [TracedExit::Exited(0), TracedExit::Exited(3), TracedExit::Replaced, TracedExit::Exited(4)]
            );
            let root = once[0].pid;
            let parents: Vec<Option<u32>> = once.iter().map(|process| process.parent).collect();
            assert_eq!(parents, [None, Some(root), Some(root), Some(root)]);
            assert_eq!(once[2].pid, once[3].pid);
            let program = std::fs::canonicalize(&program).expect("a program");
            assert!(once.iter().all(|process| process.program == program && process.threads.len() == 1));
            let taken = detail == TraceDetail::Branches;
            for (number, expected) in [(1, 100_000), (3, 200_000)] {
                let added = difference(twice[number].threads[0].counts, once[number].threads[0].counts);
                assert_eq!(added, rounds(expected, taken), "process {number}");
            }
        }
    }
}

// The reader saw the end of what was replaced, which is the command's own process, and asked how it ended before the
// session did: a race, so it is run often.
#[test]
fn a_command_that_replaces_itself_is_left_to_the_session() {
    let Some((_folder, program)) = build("children", Target::X86_64, &[]) else {
        return;
    };
    let script = format!("exec {} 0000001", program.display());
    for _ in 0..15 {
        let options = TraceOptions { detail: TraceDetail::Counts, follow: true, ..TraceOptions::default() };
        let traced = trace_with(Path::new("/bin/sh"), &["-c", &script], options)
            .unwrap_or_else(|refusal| panic!("{refusal}"));
        let own = |process: &&ProcessTrace<Seen>| process.pid == traced.processes[0].pid;
        let ended: Vec<TracedExit> =
            traced.processes.iter().filter(own).map(|process| process.ended).collect();
        assert_eq!(ended, [TracedExit::Replaced, TracedExit::Exited(0)]);
    }
}

#[test]
fn children_are_left_alone_unless_asked_for() {
    let Some((_folder, program)) = build("children", Target::X86_64, &[]) else {
        return;
    };
    for detail in DETAILS {
        let traced = trace(&program, &["0100000"], detail);
        assert_eq!(traced.processes.len(), 1);
        assert_eq!(traced.processes[0].ended, TracedExit::Exited(0));
    }
}

#[test]
fn a_jump_out_of_calls_is_an_indirect_jump_and_no_return() {
    for target in TARGETS {
        let Some((_folder, program)) = build("jumps", target, &["-static"]) else {
            continue;
        };
        for detail in DETAILS {
            let counts = |count| trace(&program, &[count], detail).processes[0].threads[0].counts;
            let added = difference(counts("2000"), counts("1000"));
            assert_eq!((added.calls, added.returns, added.indirect_jumps), (2000, 0, 1000));
            assert_eq!((added.conditional, added.system_calls), (1000, 0));
        }
    }
}

#[test]
fn each_signal_costs_the_same() {
    for target in TARGETS {
        let Some((_folder, program)) = build("signals", target, &["-static"]) else {
            continue;
        };
        for detail in DETAILS {
            let traced = |count| trace(&program, &[count], detail).processes.remove(0).threads.remove(0);
            let (one, two, three) = (traced("1000"), traced("2000"), traced("3000"));
            let added = difference(two.counts, one.counts);
            assert_eq!(added, difference(three.counts, two.counts));
            assert!(added.conditional >= 5000 && added.system_calls >= 2000, "{added:?}");
            assert_eq!(
                added.calls + added.indirect_calls + 1000,
                added.returns,
                "a handler returns and is not called"
            );
            if detail == TraceDetail::Branches {
                assert_eq!(one.observer.branches, one.counts.branches());
            }
        }
    }
}

/// The kernel interrupts a loop at any place; the counts are exact all the same.
#[test]
fn a_timer_that_interrupts_a_loop_spoils_nothing() {
    let Some((_folder, program)) = build("alarms", Target::X86_64, &[]) else {
        return;
    };
    for detail in DETAILS {
        let process = trace(&program, &[], detail).processes.remove(0);
        let counts = process.threads[0].counts;
        let signals = counts.returns;
        assert_eq!(process.ended, TracedExit::Exited((signals % 256) as i32));
        let expected = ClassCounts {
            instructions: 200_000_015 + 11 * signals,
            conditional: 100_000_000 + 3 * signals,
            taken: (detail == TraceDetail::Branches).then_some(99_999_999 + 2 * signals),
            returns: signals,
            system_calls: 3 + signals,
            ..ClassCounts::default()
        };
        assert_eq!(counts, expected);
    }
}

#[test]
fn a_fault_that_is_mended_counts_each_instruction_once() {
    let Some((_folder, program)) = build("fault", Target::X86_64, &[]) else {
        return;
    };
    for detail in DETAILS {
        let thread = trace(&program, &[], detail).processes.remove(0).threads.remove(0);
        let expected = ClassCounts {
            instructions: 560,
            conditional: 50,
            taken: (detail == TraceDetail::Branches).then_some(49),
            returns: 50,
            system_calls: 52,
            ..ClassCounts::default()
        };
        assert_eq!(thread.counts, expected);
        assert_eq!(thread.observer.branches, if detail == TraceDetail::Branches { 100 } else { 0 });
    }
}

#[test]
fn code_of_a_shared_library_is_found_in_its_file() {
    for target in TARGETS {
        // The program first without its library, to learn which compiler there is.
        let Some((folder, program)) =
            build("library", target, &["-fPIC", "-shared", "-DLIBRARY", "-Wl,-soname,libwork.so"])
        else {
            continue;
        };
        let library = folder.path().join("libwork.so");
        std::fs::rename(&program, &library).expect("renamed");
        let path = library.to_str().expect("a path").to_owned();
        let rpath = format!("-Wl,-rpath,{}", folder.path().display());
        for kind in ["-pie", "-no-pie"] {
            let position = if kind == "-pie" { "-fPIE" } else { "-fno-pie" };
            let Some((_other, program)) = build("library", target, &[kind, position, &path, &rpath]) else {
                continue;
            };
            let once = trace(&program, &["0100000"], TraceDetail::Branches);
            let twice = trace(&program, &["0200000"], TraceDetail::Branches);
            let (once, twice) = (&once.processes[0], &twice.processes[0]);
            let added = difference(twice.threads[0].counts, once.threads[0].counts);
            assert_eq!(added, rounds(100_000, true));
            let library = std::fs::canonicalize(&library).expect("a library");
            let module = once.modules.iter().find(|module| module.path == library).expect("its module");
            let work = once.blocks.iter().max_by_key(|block| block.executed).expect("blocks");
            assert!((module.start..module.end).contains(&work.pc), "{work:?} is not in {module:?}");
        }
    }
}

#[test]
fn the_time_limit_ends_the_command_and_all_that_it_started() {
    let Some((_folder, program)) = build("endless", Target::X86_64, &[]) else {
        return;
    };
    let script = format!("{0} & {0}; true", program.display());
    let limit = Some(Duration::from_millis(400));
    for detail in DETAILS {
        let options = TraceOptions { detail, time_limit: limit, follow: true, ..TraceOptions::default() };
        let traced = trace_with(&program, &[], options.clone()).unwrap_or_else(|refusal| panic!("{refusal}"));
        assert_eq!(traced.processes[0].ended, TracedExit::TimeLimit);
        let traced = trace_with(Path::new("/bin/sh"), &["-c", &script], options)
            .unwrap_or_else(|refusal| panic!("{refusal}"));
        assert_eq!(traced.processes[0].ended, TracedExit::TimeLimit);
        assert!(!still_alive(&program));
    }
}

fn still_alive(program: &Path) -> bool {
    let list = Command::new("ps").args(["-e", "-o", "stat=,args="]).output().expect("ps");
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    list.lines().any(|line| !line.starts_with('Z') && line.contains(&*program.to_string_lossy()))
}

#[test]
fn an_instruction_that_the_emulator_lacks_is_named_with_its_function() {
    let Some((_folder, program)) = build("lacking", Target::X86_64, &[]) else {
        return;
    };
    for detail in DETAILS {
        let process = trace(&program, &[], detail).processes.remove(0);
        assert_eq!(process.ended, TracedExit::Signalled(4));
        let expected = "vpermb (AVX512_VBMI) at decode+0x1 is an instruction that the emulator lacks; \
                        rebuild with -march=x86-64-v3.";
        assert_eq!(process.notes, [expected]);
    }
}

#[test]
fn what_is_no_program_is_refused_before_it_starts() {
    let refusal = |program: &Path| {
        trace_with(program, &[], TraceOptions::default()).map(|_| ()).expect_err("refused").reason
    };
    assert!(refusal(Path::new("/no/such/program")).contains("there is no file"));
    assert!(refusal(&root()).contains("is a directory"));
    assert!(refusal(&root().join("LICENSE-MIT")).contains("is not executable"));
}

#[test]
fn the_same_command_twice_gives_the_same_counts() {
    let Some((_folder, program)) = build("jumps", Target::X86_64, &[]) else {
        return;
    };
    let counts = || trace(&program, &["1000"], TraceDetail::Branches).processes[0].threads[0].counts;
    assert_eq!(counts(), counts());
}
