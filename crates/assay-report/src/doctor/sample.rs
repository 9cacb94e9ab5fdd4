//! Pages that show every key, for tests of the schema and of the terminal.

use super::page::*;

fn finding(check: &str, saw: &str, line: u32, executed: Option<u64>) -> Finding {
    Finding {
        check: check.to_owned(),
        saw: saw.to_owned(),
        place: Place {
            function: Some("tiny_alloc".to_owned()),
            file: Some("/src/tiny.c".to_owned()),
            line: Some(line),
            module: "/src/bench".to_owned(),
            address: "0x1234".to_owned(),
        },
        also: vec!["tiny.c:90 tiny_free".to_owned(); 6],
        executed,
        per_unit: executed.map(|executed| executed as f64 / 100_000.0),
        share_of_branches: executed.map(|_| 0.0312),
        share_of_misses: executed.map(|_| 0.0001),
        why: "Each read walks through all variables, comparing strings.".to_owned(),
        remedy: "read it once at the start into a variable, or leave it to the build".to_owned(),
    }
}

fn check(name: &str, title: &str, findings: u64) -> Check {
    Check { name: name.to_owned(), title: title.to_owned(), ran: true, reason: None, findings }
}

/// A page with something under every key.
pub fn page() -> DoctorPage {
    let mut nameless = finding("clock", "the time-stamp counter is read", 0, Some(600_000));
    nameless.place = Place {
        function: None,
        file: None,
        line: None,
        module: "/src/bench".to_owned(),
        address: "0x2000".to_owned(),
    };
    let mut findings = vec![finding("environment", "getenv is called", 104, Some(300_000)), nameless];
    findings
        .extend((0..14).map(|nth| finding("guards", "an assertion that held each time", 10 + nth, Some(99))));
    DoctorPage {
        schema: DOCTOR_SCHEMA.to_owned(),
        answer: "16 findings: environment (1), clock (1) and guards (14).".to_owned(),
        program: "/src/bench".to_owned(),
        command: vec!["./bench".to_owned(), "100000".to_owned()],
        emulator: Some("7.2.22".to_owned()),
        warnings: vec!["/src/bench has no debug information: places are functions, not lines.".to_owned()],
        traced: Some(Traced {
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
            check("unoptimised", "Unoptimised code", 0),
            check("environment", "The environment read in a hot place", 1),
            check("clock", "Clocks read in a hot place", 1),
            check("guards", "Assertions and debug guards", 14),
            check("dispatch", "Indirect calls that always go to one function", 0),
            Check {
                ran: false,
                reason: Some("--static: nothing was executed".to_owned()),
                ..check("hints", "Hints that contradict what happens", 0)
            },
        ],
        findings,
    }
}

/// A program that was looked at, in which nothing was found.
pub fn nothing() -> DoctorPage {
    let mut page = page();
    page.findings.clear();
    page.checks.iter_mut().for_each(|check| check.findings = 0);
    DoctorPage {
        answer: "Nothing was found that should not be there.".to_owned(),
        command: Vec::new(),
        emulator: None,
        warnings: Vec::new(),
        traced: None,
        ..page
    }
}
