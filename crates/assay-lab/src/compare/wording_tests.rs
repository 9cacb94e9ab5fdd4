//! Headline, table, causes and JSON of one comparison say the same, whatever was measured: figures of drawn benchmarks go through
//! the ledger, the verdicts and the page, and each text is read back.

use super::measure::{CommandRunner, Ran, VerdictProgress, Where, measure};
use super::spec::{Method, Spec};
use super::{compose, judge};
use crate::store::{FigureRow, Ledger, NewComparison, SideRow};
use anyhow::Result;
use assay_pure::compare::{Gates, Visit, VisitPlacement};
use assay_pure::stats::margin::Margin;
use assay_report::compare::{ComparePage, Compared};
use assay_report::page::{AsBuiltSays, Cause, Verdict};
use assay_report::{Detail, render_compare};
use serde_json::json;

/// Numbers from 0 to 1, the same ones for the same seed: a multiplier and an increment of Knuth's.
struct Drawn(u64);

impl Drawn {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn one_of(&mut self, values: &[f64]) -> f64 {
        values[(self.next() * values.len() as f64) as usize]
    }
}

/// A benchmark with a truth: what its code, its link and the machine add to the logarithm of its time.
struct Truth {
    name: String,
    code: f64,
    link: f64,
    noise: f64,
}

struct Planted {
    all: Vec<Truth>,
    drawn: Drawn,
}

impl CommandRunner for Planted {
    fn run(&mut self, visit: &Visit) -> Result<Ran> {
        let mut figures = Vec::new();
        for truth in &self.all {
            let candidate = visit.side == 1;
            let mut log = if candidate { truth.code } else { 0.0 };
            if candidate && visit.place == VisitPlacement::AsBuilt {
                log += truth.link;
            }
            log += truth.noise * (self.drawn.next() + self.drawn.next() - 1.0);
            let value = 100.0 * log.exp();
            figures.push(FigureRow {
                benchmark: truth.name.clone(),
                repetition: 0,
                value,
                unit: "ns".into(),
            });
        }
        Ok(Ran { elapsed_ns: 1_000_000_000, figures, ..Ran::default() })
    }
}

/// The page of a comparison of up to eight benchmarks whose truth is drawn.
fn page(seed: u64) -> ComparePage {
    let mut drawn = Drawn(seed);
    for _ in 0..8 {
        drawn.next();
    }
    let count = 1 + (drawn.next() * 8.0) as usize;
    let all = (0..count).map(|number| Truth {
        name: format!("bench{number}"),
        code: drawn.one_of(&[0.0, 0.0, 0.0, 0.005, 0.02, 0.08, -0.05]),
        link: drawn.one_of(&[0.0, 0.0, 0.04, -0.06, 0.3]),
        noise: drawn.one_of(&[0.0, 0.002, 0.01, 0.05, 0.3]),
    });
    let all = all.collect();
    let (rounds, rotations) = (1 + (drawn.next() * 6.0) as u32, 3 + (drawn.next() * 4.0) as u32);
    let spec = Spec {
        build: Some("make".into()),
        bench: vec!["./b".into()],
        adapter: "wall".into(),
        method: Method::Placements,
        minimum_effect: Margin::of(0.02),
        confidence: 0.95,
        seed,
        sides: 2,
        rotations,
        rounds,
        looks: vec![rounds],
        budget_seconds: 1e6,
        gate: Some(Gates::from("slower:2%".parse::<assay_pure::compare::Gate>().unwrap())),
        limits: vec![],
        warnings: vec![],
    };
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
    let (asked, machine) = (serde_json::to_value(&spec).unwrap(), json!({}));
    let new = NewComparison { question: "q", asked: &asked, machine: &machine, pinned_cpu: None };
    let comparison = ledger.begin_comparison(&new).unwrap();
    for (side, name) in [(0, "main"), (1, "HEAD")] {
        let row = SideRow { side, name: name.into(), revision: None, links: json!([]) };
        ledger.put_side(comparison, &row).unwrap();
    }
    let at = Where { ledger: &ledger, comparison, cpu: 1000 };
    let look = || {
        let found = judge::judge(&ledger, comparison, &spec)?.judgement.contrasts;
        let decided = found.iter().filter(|found| found.decided).count();
        Ok(VerdictProgress { decided, proven: 0, contrasts: found.len() })
    };
    let mut bench = Planted { all, drawn };
    measure(&spec, &at, &mut bench, &look, &mut |_| {}).unwrap();
    compose::page(&ledger, Some(comparison), false).unwrap()
}

/// "slower in 2 of 5 benchmarks (a +5.1 % ± 0.6 and b ...)": what stands between the words and the bracket's end.
fn named<'a>(answer: &'a str, word: &str) -> Option<&'a str> {
    let from = answer.find(&format!("{word} in "))?;
    let end = answer[from..].find(')')?;
    Some(&answer[from..from + end])
}

/// The row of a benchmark in the table of the terminal, and in Markdown's.
fn rows<'a>(found: &Compared, texts: [&'a str; 2]) -> [&'a str; 2] {
    let of = |text: &'a str, begin: &str| {
        // The headline names benchmarks, too, and a line of it may begin with one; below it is an empty line.
        let below = text.split_once("\n\n").map_or(text, |(_, below)| below);
        let row = below.lines().find(|line| line.trim_start().starts_with(begin));
        row.unwrap_or_else(|| panic!("no row of {} in {text}", found.benchmark))
    };
    [of(texts[0], &format!("{} ", found.benchmark)), of(texts[1], &format!("| {} |", found.benchmark))]
}

/// How often each kind of finding was met.
type Met = std::collections::BTreeMap<&'static str, u32>;

fn count(page: &ComparePage, verdict: Verdict) -> usize {
    page.benchmarks.iter().filter(|found| found.verdict == Some(verdict)).count()
}

/// Whether the interval as built and that of the code have nothing in common; none where it was built and run once.
fn is_apart(found: &Compared) -> Option<bool> {
    let (built, code) = found.as_built.zip(found.code)?;
    Some(built.upper < code.lower || code.upper < built.lower)
}

fn check_headline(page: &ComparePage, wrong: &dyn Fn(&str)) {
    let answer = &page.answer;
    for verdict in [Verdict::Slower, Verdict::Faster] {
        let count = count(page, verdict);
        let told = named(answer, verdict.word());
        if told.is_some() != (count > 0) {
            wrong("the headline names a direction that no verdict has, or leaves one out");
        }
        if told.is_some_and(|told| !told.starts_with(&format!("{} in {count}", verdict.word()))) {
            wrong("the headline counts otherwise");
        }
    }
    if answer.contains("undecided") != (count(page, Verdict::Undecided) > 0) {
        wrong("the headline and the verdicts differ on what is undecided");
    }
    let ghosts = |apart: bool| {
        let is_ghost = |found: &&Compared| found.as_built_says == Some(AsBuiltSays::Ghost);
        page.benchmarks.iter().filter(is_ghost).any(|found| is_apart(found) == Some(apart))
    };
    if answer.contains("that comes from where") != ghosts(true)
        || answer.contains("that is noise, or comes from where") != ghosts(false)
    {
        wrong("the headline is surer of where a difference comes from than the intervals");
    }
}

fn check_benchmark(found: &Compared, texts: [&str; 2], rounds: u32, met: &mut Met, wrong: &dyn Fn(&str)) {
    let mut count = |what| *met.entry(what).or_default() += 1;
    let verdict = found.verdict.expect("there are two sides");
    count(verdict.word());
    if rows(found, texts).iter().any(|row| !row.contains(verdict.word())) {
        wrong(&format!("{}: a row says another verdict than JSON", found.benchmark));
    }
    let code = found.code.expect("it was measured");
    if verdict.is_difference() && (code.ratio > 1.0) != (verdict == Verdict::Slower) {
        wrong(&format!("{}: the ratio has another sign than the verdict", found.benchmark));
    }
    let placed = found.causes.iter().find(|cause| cause.cause == Cause::Placement);
    let Some(apart) = is_apart(found) else {
        count("single pair");
        if rounds > 1 || found.as_built_says.is_some() || placed.is_some() {
            wrong("something is said of builds that were measured once");
        }
        return;
    };
    if let Some(placed) = placed {
        count("placement");
        if placed.evidence.contains("offset") {
            wrong("a benchmark has no entry whose offset could be told");
        }
        if apart == placed.evidence.contains("overlap") {
            wrong("the cause and the intervals differ on whether they overlap");
        }
    }
    if found.as_built_says == Some(AsBuiltSays::Ghost) {
        count(if apart { "ghost" } else { "unclear ghost" });
        if placed.is_none() {
            wrong("what looks different as built has no cause");
        }
    }
}

fn check_gate(page: &ComparePage, markdown: &str, wrong: &dyn Fn(&str)) {
    let gate = page.gate.as_ref().expect("there is a gate");
    if gate.passed && (!gate.failed.is_empty() || !gate.undecided.is_empty() || page.benchmarks.is_empty()) {
        wrong("a gate passes though something fails it or is open");
    }
    if gate.failed.len() > count(page, Verdict::Slower) {
        wrong("the gate fails what no verdict calls slower");
    }
    if count(page, Verdict::Undecided) == page.benchmarks.len() && markdown.contains("**passed**") {
        wrong("nothing is decided, and the gate passed");
    }
}

#[test]
fn headline_table_causes_and_json_say_the_same_of_whatever_was_measured() {
    let mut met = Met::new();
    for seed in 0..120 {
        let page = page(seed);
        let terminal = render_compare(&page, 140, false, Detail::Full);
        let markdown = assay_report::compare::markdown(&page, &[]);
        let wrong = |why: &str| panic!("seed {seed}: {why}\n{terminal}\n{markdown}");
        check_headline(&page, &wrong);
        for found in &page.benchmarks {
            check_benchmark(found, [&terminal, &markdown], page.measured.rounds, &mut met, &wrong);
        }
        check_gate(&page, &markdown, &wrong);
    }
    let enough =
        ["slower", "faster", "equivalent", "undecided", "placement", "ghost", "unclear ghost", "single pair"];
    for what in enough {
        assert!(met.contains_key(what), "no {what}: {met:?}");
    }
}
