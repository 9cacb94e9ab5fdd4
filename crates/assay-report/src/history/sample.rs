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
            HistoryMachine { name: "A CPU".into(), facts: vec!["GenuineIntel 6 167".into()] },
            HistoryMachine { name: "Another CPU".into(), facts: vec!["AuthenticAMD 25 1".into()] },
        ],
        series: vec![contrast(), time(), imported()],
        minimum_effect: 0.01,
        level: 0.001,
        gate: Some(gate()),
        alike: vec![alike()],
        alike_level: 0.01,
        alike_note: None,
        left_out: vec!["node4".into()],
    };
    page.alike[0].sentences = super::alike::sentences(&page, &page.alike[0]);
    page.alike_note = super::alike::note(&page);
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
