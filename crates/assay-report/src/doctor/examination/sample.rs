//! Pages that show every key, for tests of the schema and of the terminal.

use super::page::*;

fn check(name: &str, title: &str, state: State, saw: Option<&str>) -> Examined {
    Examined {
        name: name.to_owned(),
        title: title.to_owned(),
        state,
        saw: saw.map(str::to_owned),
        findings: u64::from(state > State::CannotTell),
        accepted: 0,
    }
}

fn finding(check: &str, state: State, place: &str, saw: &str) -> Symptom {
    Symptom {
        check: check.to_owned(),
        state,
        place: place.to_owned(),
        variant: None,
        inputs: Vec::new(),
        saw: saw.to_owned(),
        why: "The compiler may drop what nobody needs: then the time is that of an empty call.".to_owned(),
        remedy: "let the answer depend on every unit (return a sum, or pass each result to assay_use)"
            .to_owned(),
        accepted: None,
    }
}

/// An experiment with a finding, another of the same kind, one that is accepted, and what could not be looked for.
pub fn experiment() -> Examination {
    let of = |variant: &str, input: &str| Symptom {
        variant: Some(variant.to_owned()),
        inputs: vec![input.to_owned()],
        ..finding(
            "dead-code",
            State::Warning,
            &format!("{variant} on {input}"),
            "none of the input's 2 pages was loaded in a call; a call executes 14 instructions on 8192 bytes and 14 on 4096",
        )
    };
    let accepted = |place: &str| Symptom {
        accepted: Some("the C library's malloc is what is measured".to_owned()),
        ..finding(
            "setup-inside",
            State::Warning,
            place,
            "in a call of 8192 operations: malloc (memory) 4000 times",
        )
    };
    let mut findings = vec![of("hash", "long"), of("hash", "mixed")];
    findings.push(finding("all-in-l1", State::Note, "all inputs", "the largest input has 4.00 KiB"));
    findings.extend([accepted("libc on mixed"), accepted("libc on learned")]);
    Examination {
        schema: EXAMINATION_SCHEMA.to_owned(),
        kind: Kind::Experiment,
        answer:
            "3 findings in this experiment: dead-code (2) and all-in-l1 (1). 2 findings are accepted by the file."
                .to_owned(),
        subject: "casebook/allocator/experiment.toml".to_owned(),
        method: vec!["built as linked by gcc-12, O2; each variant asked on pieces of each input".to_owned()],
        warnings: vec!["not traced: 1 program: the emulator lacks an instruction.".to_owned()],
        figures: vec![Figure {
            name: "smallest_effect".to_owned(),
            value: 0.0007,
            unit: "fraction".to_owned(),
            meaning: "the smallest difference that 60 s would show".to_owned(),
        }],
        checks: vec![
            Examined { findings: 2, ..check("dead-code", "Dead code", State::Warning, None) },
            check("hoisted-work", "Work done ahead of the loop", State::Ok, None),
            Examined { accepted: 2, ..check("setup-inside", "A setup inside the region", State::Ok, None) },
            check(
                "too-few-units",
                "Too few units for the timer",
                State::Ok,
                Some("the shortest sample lasts 180 µs"),
            ),
            check("memorised", "Memorised inputs", State::CannotTell, Some("there is no emulator")),
            check(
                "smaller-than-production",
                "Small inputs",
                State::NotAsked,
                Some("no input says production_units"),
            ),
            check("all-in-l1", "Everything in the first-level cache", State::Note, None),
        ],
        findings,
    }
}

/// A machine on which nothing was found.
pub fn machine() -> Examination {
    Examination {
        schema: EXAMINATION_SCHEMA.to_owned(),
        kind: Kind::Machine,
        answer: "This machine can tell 0.07 % apart in 60 s; nothing makes it worse.".to_owned(),
        subject: "AMD EPYC, Linux 6.1".to_owned(),
        method: Vec::new(),
        warnings: Vec::new(),
        figures: Vec::new(),
        checks: vec![check("timer", "The timer", State::Ok, Some("tsc: a read takes 24 ns, steps of 1 ns"))],
        findings: Vec::new(),
    }
}
