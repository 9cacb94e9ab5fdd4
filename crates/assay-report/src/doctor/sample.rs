//! Pages that show every key, for tests of the schema and of the terminal.

use super::page::*;

fn check(name: &str, title: &str, state: CheckState, saw: Option<&str>) -> CheckResult {
    CheckResult {
        name: name.to_owned(),
        title: title.to_owned(),
        state,
        saw: saw.map(str::to_owned),
        findings: u64::from(state > CheckState::CannotTell),
        accepted: 0,
    }
}

fn finding(check: &str, place: &str, saw: &str) -> DoctorFinding {
    DoctorFinding {
        check: check.to_owned(),
        place: place.to_owned(),
        saw: saw.to_owned(),
        why: "The compiler may remove code whose result is not used; the time is then that of an empty call."
            .to_owned(),
        remedy: "make the answer depend on every unit (return a sum, or pass each result to assay_use)"
            .to_owned(),
        ..DoctorFinding::default()
    }
}

fn page(kind: ExaminedSubject, subject: &str, answer: &str, next: &str) -> Examination {
    Examination {
        schema: DOCTOR_SCHEMA.to_owned(),
        kind,
        answer: answer.to_owned(),
        next: next.to_owned(),
        subject: subject.to_owned(),
        method: Vec::new(),
        warnings: Vec::new(),
        traced: None,
        figures: Vec::new(),
        checks: Vec::new(),
        findings: Vec::new(),
    }
}

/// An experiment with a finding, another of the same kind, one that is accepted, and checks that did not run.
pub fn experiment() -> Examination {
    let of = |variant: &str, input: &str| DoctorFinding {
        variant: Some(variant.to_owned()),
        inputs: vec![input.to_owned()],
        ..finding(
            "dead-code",
            &format!("{variant} on {input}"),
            "a call reads none of the input's 2 pages; executes 14 instructions on 8,192 bytes and 14 on 4,096",
        )
    };
    let accepted = |place: &str| DoctorFinding {
        accepted: Some("the C library's malloc is what is measured".to_owned()),
        ..finding("setup-inside", place, "a call of 8,192 operations makes: malloc (memory) 4,000 times")
    };
    let small = finding("all-in-l1", "all inputs", "the largest input has 4.00 KiB");
    let mut findings = vec![of("hash", "long"), of("hash", "mixed")];
    findings.push(DoctorFinding { state: CheckState::Note, ..small });
    findings.extend([accepted("libc on mixed"), accepted("libc on learned")]);
    Examination {
        method: vec!["built by gcc-12, O2; each variant called on pieces of each input".to_owned()],
        warnings: vec!["Not traced: 1 program (the emulator lacks an instruction).".to_owned()],
        figures: vec![DoctorFigure {
            name: "smallest_effect".to_owned(),
            value: 0.0007,
            unit: "fraction".to_owned(),
            meaning: "the smallest difference that 60 s would detect".to_owned(),
        }],
        checks: vec![
            CheckResult { findings: 2, ..check("dead-code", "Dead code", CheckState::Warning, None) },
            check("hoisted-work", "Work hoisted out of the measured loop", CheckState::Ok, None),
            CheckResult {
                accepted: 2,
                ..check("setup-inside", "Setup inside the measured region", CheckState::Ok, None)
            },
            check(
                "too-few-units",
                "Samples too short for the timer",
                CheckState::Ok,
                Some("the shortest sample lasts 180 µs"),
            ),
            check("memorised", "Memorised inputs", CheckState::CannotTell, Some("there is no emulator")),
            check(
                "smaller-than-production",
                "Small inputs",
                CheckState::NotAsked,
                Some("no input sets production_units"),
            ),
            check("all-in-l1", "All inputs fit the L1 cache", CheckState::Note, None),
        ],
        findings,
        ..page(
            ExaminedSubject::Experiment,
            "casebook/allocator/experiment.toml",
            "2 problems found; the first to fix: dead-code (hash on long). 1 note. 2 findings are marked as intended. \
             1 of 7 checks could not run.",
            "make the answer depend on every unit (return a sum, or pass each result to assay_use)",
        )
    }
}

/// A machine on which nothing was found.
pub fn machine() -> Examination {
    Examination {
        checks: vec![check(
            "timer",
            "Timer",
            CheckState::Ok,
            Some("tsc: a read takes 24 ns, smallest step 1 ns"),
        )],
        ..page(
            ExaminedSubject::Machine,
            "AMD EPYC, Linux 6.1",
            "In 60 s this machine detects differences of 0.07 % and more; no problems found.",
            "check an experiment with `assay doctor FILE`, or measure it with `assay run FILE`",
        )
    }
}

fn of_code(check: &str, saw: &str, line: Option<u32>, executed: u64) -> DoctorFinding {
    let code = CodePlace {
        function: line.map(|_| "tiny_alloc".to_owned()),
        file: line.map(|_| "/src/tiny.c".to_owned()),
        line,
        module: "/src/bench".to_owned(),
        address: "0x2000".to_owned(),
    };
    DoctorFinding {
        place: code.label(),
        code: Some(code),
        also: vec!["tiny.c:90 tiny_free".to_owned(); 6],
        executed: Some(executed),
        per_unit: Some(executed as f64 / 100_000.0),
        share_of_branches: Some(0.0312),
        share_of_misses: Some(0.0001),
        why: "Each read compares strings with all variables.".to_owned(),
        remedy: "read it once at the start, or make it a build option".to_owned(),
        ..finding(check, "", saw)
    }
}

/// A program in which something was found, more of one check than is shown.
pub fn program() -> Examination {
    let mut findings = vec![
        of_code("environment", "getenv is called", Some(104), 300_000),
        of_code("clock", "the time-stamp counter is read", None, 600_000),
    ];
    findings
        .extend((0..14).map(|nth| of_code("guards", "an assertion that always held", Some(10 + nth), 99)));
    let skipped = Some("--static: nothing was executed");
    Examination {
        warnings: vec!["/src/bench has no debug information: places are functions, not lines.".to_owned()],
        traced: Some(ExecutedProgram {
            command: vec!["./bench".to_owned(), "100000".to_owned()],
            emulator: "7.2.22".to_owned(),
            instructions: 123_456_789,
            branches: 17_098_340,
            misses: Some(1_854_018.0),
            predictors: vec!["gshare".to_owned(), "tage".to_owned()],
            system_calls: 12,
            units: Some(100_000),
            hot_from: 10_000,
            hottest: 3_000_000,
        }),
        checks: vec![
            check("unoptimised", "Unoptimised code", CheckState::Ok, None),
            check("environment", "Environment variables read in a hot place", CheckState::Warning, None),
            check("clock", "Clocks read in a hot place", CheckState::Warning, None),
            CheckResult {
                findings: 14,
                ..check("guards", "Assertions and debug checks", CheckState::Warning, None)
            },
            check("dispatch", "Indirect calls with a single target", CheckState::Ok, None),
            check("hints", "Wrong branch hints", CheckState::CannotTell, skipped),
        ],
        findings,
        ..page(
            ExaminedSubject::Program,
            "/src/bench",
            "16 problems found; the first to fix: environment (tiny.c:104 tiny_alloc).",
            "read it once at the start, or make it a build option",
        )
    }
}

/// A program whose file alone was examined, in which nothing was found.
pub fn nothing() -> Examination {
    let mut checks = program().checks;
    for known in checks.iter_mut().filter(|known| known.name != "unoptimised") {
        (known.state, known.findings) = (CheckState::CannotTell, 0);
        known.saw = Some("--static: nothing was executed".to_owned());
    }
    Examination {
        checks,
        ..page(
            ExaminedSubject::Program,
            "/src/bench",
            "No problems found. 5 of 6 checks could not run.",
            "nothing to change in the file; trace the program for the other checks",
        )
    }
}
