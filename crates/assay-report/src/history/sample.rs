//! A history with everything that one can show.

use super::page::*;
use assay_pure::history::GateReading;
use assay_pure::verdict::Verdict;

pub fn history() -> HistoryPage {
    let mut page = HistoryPage {
        schema: HISTORY_SCHEMA.into(),
        name: "decode".into(),
        answer: String::new(),
        next: None,
        warnings: vec![
            "import 1: figures of another tool are shown beside assay's, never mixed with them.".into(),
        ],
        runs: (0..12).map(run).collect(),
        machines: vec![
            machine("A CPU", "GenuineIntel 6 167", Some("x86-64-v4"), Some(4.2)),
            machine("Another CPU", "AuthenticAMD 25 1", None, None),
        ],
        series: vec![contrast(), time(), imported()],
        minimum_effect: 0.01,
        level: 0.001,
        gate: Some(gate()),
        across: Vec::new(),
        alike: vec![alike()],
        alike_level: 0.01,
        alike_note: None,
        left_out: vec!["node4".into()],
    };
    super::machines::tell(&mut page);
    page.alike[0].sentences = super::alike::sentences(&page, &page.alike[0]);
    page.alike_note = super::alike::note(&page);
    (page.answer, page.next) = super::answer(&page);
    page
}

fn machine(name: &str, id: &str, instructions: Option<&str>, misprediction: Option<f64>) -> HistoryMachine {
    HistoryMachine {
        name: name.into(),
        facts: vec![id.into()],
        instructions: instructions.map(str::to_owned),
        caches: vec!["L1d 48K".into(), "L2 1280K".into()],
        limits: misprediction.map(|ns| HistoryLimits {
            cycle_ns: Some(0.25),
            misprediction_ns: Some(ns),
            memory_ns: Some(95.0),
            memory_read: Some(14.2),
        }),
        ..HistoryMachine::default()
    }
}

/// One run on each of eight kinds of machine: two contrasts on which they disagree, of which three machines lack one.
pub fn many_machines() -> HistoryPage {
    let kinds = [
        ("Old CPU", "x86-64-v2", [(Verdict::Slower, 1.31), (Verdict::Equivalent, 1.004)]),
        ("Older CPU", "x86-64", [(Verdict::Slower, 1.44), (Verdict::Faster, 0.97)]),
        ("Small CPU", "x86-64-v2", [(Verdict::Undecided, 1.02), (Verdict::Faster, 0.96)]),
        ("CPU of 2015", "x86-64-v3", [(Verdict::Faster, 0.81), (Verdict::Faster, 0.93)]),
        ("CPU of 2017", "x86-64-v4", [(Verdict::Faster, 0.74), (Verdict::Faster, 0.92)]),
        ("CPU of 2019", "x86-64-v3", [(Verdict::Faster, 0.69), (Verdict::Faster, 0.95)]),
        (
            "CPU of 2021 with a name as long as that of any processor",
            "x86-64-v4",
            [(Verdict::Faster, 0.66), (Verdict::Faster, 0.9)],
        ),
        ("CPU of 2023", "x86-64-v4", [(Verdict::Faster, 0.62), (Verdict::Faster, 0.91)]),
    ];
    let contrast = |label: &str, which: usize, from: usize| HistorySeries {
        baseline: Some("slow".into()),
        unit: "ratio".into(),
        noise: None,
        unexamined: Some("changes are detected from 6 runs on one machine; there is 1 run".into()),
        ..series(
            label,
            SeriesKind::Contrast,
            (from..kinds.len())
                .map(|at| HistoryPoint {
                    verdict: Some(kinds[at].2[which].0),
                    ..point(at, kinds[at].2[which].1)
                })
                .collect(),
        )
    };
    let mut page = HistoryPage {
        warnings: Vec::new(),
        runs: (0..kinds.len()).map(|at| HistoryRun { machine: at, host: None, ..run(at) }).collect(),
        machines: kinds
            .iter()
            .enumerate()
            .map(|(at, kind)| machine(kind.0, "", Some(kind.1), (at != 2).then_some(4.0 + at as f64)))
            .collect(),
        series: vec![
            contrast("swar / slow, mixed", 1, 0),
            contrast("fast / slow, mixed", 0, 0),
            contrast("wide / slow, mixed", 0, 3),
        ],
        gate: None,
        alike: Vec::new(),
        alike_note: None,
        left_out: Vec::new(),
        ..history()
    };
    super::machines::tell(&mut page);
    (page.answer, page.next) = super::answer(&page);
    page
}

fn run(number: usize) -> HistoryRun {
    HistoryRun {
        id: if number == 11 { "import 1".into() } else { (number + 1).to_string() },
        at: format!("2026-11-{:02}T08:00:00Z", number + 1),
        unix: 1_793_520_000.0 + 86_400.0 * number as f64,
        machine: usize::from(number >= 9),
        host: (number < 9).then(|| format!("node{}", number % 3 + 1)),
        compilers: vec![if number < 5 { "gcc-12 12.2.0".into() } else { "gcc-13 13.1.0".into() }],
        revision: (number > 2).then(|| format!("{number:040x}")),
        changed: (number > 2).then_some(number == 4),
        tool: if number == 11 { "go".into() } else { "assay".into() },
    }
}

fn point(number: usize, value: f64) -> HistoryPoint {
    HistoryPoint { run: number, value, lower: Some(value * 0.999), upper: Some(value * 1.001), verdict: None }
}

fn wobble(number: usize) -> f64 {
    1.0 + 0.001 * ((number * 7 % 5) as f64 - 2.0)
}

fn series(label: &str, kind: SeriesKind, points: Vec<HistoryPoint>) -> HistorySeries {
    HistorySeries {
        label: label.into(),
        kind,
        variant: "fast".into(),
        baseline: None,
        input: Some("mixed".into()),
        unit: "ns".into(),
        points,
        changes: Vec::new(),
        noise: Some(0.0015),
        unexamined: None,
    }
}

fn contrast() -> HistorySeries {
    let ratios = (0..11).map(|number| HistoryPoint {
        verdict: Some(Verdict::Faster),
        ..point(number, wobble(number) * if number < 5 { 0.9 } else { 0.928 })
    });
    HistorySeries {
        baseline: Some("slow".into()),
        unit: "ratio".into(),
        changes: vec![change()],
        ..series("fast / slow, mixed", SeriesKind::Contrast, ratios.collect())
    }
}

fn time() -> HistorySeries {
    let times = (0..11).map(|number| point(number, wobble(number) * if number < 9 { 12.5 } else { 9.1 }));
    series("fast, mixed", SeriesKind::Time, times.collect())
}

fn imported() -> HistorySeries {
    let one = HistoryPoint { lower: None, upper: None, ..point(11, 250.0) };
    HistorySeries {
        input: None,
        noise: None,
        unit: "ns/op".into(),
        unexamined: Some("changes are detected from 6 runs on one machine; there is 1 run".into()),
        ..series("go: Sum", SeriesKind::Imported, vec![one])
    }
}

fn change() -> ChangePoint {
    let cause = |fact, differs, text: &str| ChangeCause { fact, differs, text: text.into() };
    ChangePoint {
        before: 4,
        at: 5,
        told_at: 8,
        ratio: 1.031,
        lower: 1.029,
        upper: 1.033,
        p: 0.0005,
        causes: vec![
            cause(KnownFact::Compiler, Some(true), "compiler gcc-12 12.2.0 to gcc-13 13.1.0"),
            cause(KnownFact::Sources, Some(false), "the same source files"),
            cause(
                KnownFact::MachineCode,
                None,
                "the machine code cannot be compared: the store does not have it any more",
            ),
        ],
        sentence:
            "fast / slow, mixed: +3.1 % (+2.9 % to +3.3 %) from run 6 on (2026-11-06): compiler gcc-12 \
                   12.2.0 to gcc-13 13.1.0, the same source files."
                .into(),
    }
}

/// Three machines: the last is slower, and the others differ in a contrast.
fn alike() -> AlikeMachines {
    let host = |number: usize| AlikeHost {
        name: format!("node{}", number + 1),
        run: number + 6,
        facts: (number == 2).then(|| "governor powersave, not performance".to_owned()).into_iter().collect(),
    };
    let slower = AlikeFinding {
        label: "fast, mixed".into(),
        kind: SeriesKind::Time,
        host: 2,
        from: None,
        ratio: 1.15,
        at_least: 1.09,
    };
    let apart = AlikeFinding {
        label: "fast / slow, mixed".into(),
        kind: SeriesKind::Contrast,
        host: 1,
        from: Some(0),
        ratio: 1.08,
        at_least: 1.03,
    };
    AlikeMachines {
        machine: 0,
        hosts: (0..3).map(host).collect(),
        times: 1,
        contrasts: 1,
        findings: vec![slower, apart],
        sentences: Vec::new(),
    }
}

fn gate() -> GatePage {
    let check = GateCheck {
        series: "fast / slow, mixed".into(),
        reading: GateReading::Undecided,
        good: Some(9),
        runs: 5,
        ratio: Some(1.01),
        lower: Some(0.99),
        upper: Some(1.03),
        note: "+1.0 % (-1.0 % to +3.0 %) against 5 earlier runs, the last of them 10.".into(),
    };
    GatePage {
        gate: "slower:2%".into(),
        reading: GateReading::Undecided,
        run: Some(10),
        checks: vec![check],
        notes: vec![
            "Campaign 13 is newer, but did not end: run 11 was judged instead, so the gate cannot pass."
                .into(),
        ],
    }
}
