//! Round after round over all placements, each visit to the ledger before the next, until all is decided or spent.

use super::spec::Spec;
use crate::lead::turn;
use crate::store::{FigureRow, Ledger, MemoryRow, VisitRow};
use anyhow::Result;
use assay_pure::compare::{Visit, VisitPlacement, round};
use assay_pure::event::Event;
use assay_pure::ledger::Stopped;
use std::collections::HashSet;

/// What runs the benchmark command.
pub trait CommandRunner {
    /// One run of the command, as planned.
    ///
    /// # Errors
    /// Nothing more can be run: a binary could not be put in its place, a file vanished.
    fn run(&mut self, visit: &Visit) -> Result<Ran>;
}

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ran {
    /// How long it took.
    pub elapsed_ns: u64,
    /// What it gave.
    pub figures: Vec<FigureRow>,
    /// The memory of its commands, where known.
    pub memory: Vec<MemoryRow>,
    /// Why it gave nothing.
    pub failed: Option<String>,
}

/// How far the verdicts are at a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerdictProgress {
    /// Benchmarks with a verdict.
    pub decided: usize,
    /// Those of them whose verdict needs no measurement.
    pub proven: usize,
    /// Benchmarks that are to have one; 0 where there is one side.
    pub contrasts: usize,
}

impl VerdictProgress {
    fn is_settled(self) -> bool {
        self.contrasts > 0 && self.decided == self.contrasts
    }

    fn is_proven(self) -> bool {
        self.contrasts > 0 && self.proven == self.contrasts
    }
}

/// Where a comparison is measured.
pub struct Where<'a> {
    /// The ledger.
    pub ledger: &'a Ledger,
    /// The comparison's number in it.
    pub comparison: i64,
    /// The processor that measures.
    pub cpu: usize,
}

/// A visit that the ledger has.
#[derive(PartialEq, Eq, Hash)]
struct DoneVisit {
    round: u32,
    side: u32,
    place: VisitPlacement,
}

/// Measures what is still missing of a comparison.
///
/// Input: `look` says how far the verdicts are. A visit that failed is kept as such and not repeated.
///
/// # Errors
/// The ledger cannot be written, or [`CommandRunner::run`] fails.
pub fn measure(
    spec: &Spec,
    at: &Where<'_>,
    bench: &mut dyn CommandRunner,
    look: &dyn Fn() -> Result<VerdictProgress>,
    on: &mut dyn FnMut(Event),
) -> Result<Stopped> {
    on(Event::Phase { name: "measure".into() });
    let known = at.ledger.visits(at.comparison)?;
    let mut measured: f64 = known.iter().map(|visit| visit.elapsed_ns as f64 / 1e9).sum();
    let done: HashSet<DoneVisit> = known
        .iter()
        .map(|visit| DoneVisit {
            round: visit.round,
            side: visit.side,
            place: VisitPlacement::of(visit.rotation, visit.phase_bytes),
        })
        .collect();
    let asked_to_stop = &assay_linux::interrupt::asked;
    for number in 0..spec.rounds {
        let planned =
            round(spec.seed, number, spec.rotations, &assay_pure::compare::PHASES, spec.sides as usize);
        let total = planned.len() as u64;
        let mut added = false;
        for (visit, position) in planned.iter().zip(0_u64..) {
            if done.contains(&DoneVisit { round: number, side: visit.side as u32, place: visit.place }) {
                continue;
            }
            // Whole placements only: one side alone says nothing.
            let between = position % u64::from(spec.sides.max(1)) == 0;
            if asked_to_stop() {
                return Ok(Stopped::Interrupted);
            }
            if between && measured >= spec.budget_seconds * OVERDRAFT {
                return Ok(Stopped::Budget);
            }
            let Some(_turn) = turn::take(at.cpu, on)? else {
                return Ok(Stopped::Interrupted);
            };
            let ran = bench.run(visit)?;
            if asked_to_stop() {
                // The terminal has told the command, too: what it printed is not what it would have.
                return Ok(Stopped::Interrupted);
            }
            measured += ran.elapsed_ns as f64 / 1e9;
            at.ledger.put_visit(at.comparison, &row(number, visit, ran))?;
            added = true;
            let first = number == 0 && position + 1 == u64::from(spec.sides);
            if first && look()?.is_proven() {
                return Ok(Stopped::Decided);
            }
            if first && spec.looks.is_empty() {
                return Ok(Stopped::Budget);
            }
            on(Event::Round {
                round: number,
                visits_done: position + 1,
                visits_total: total,
                measured_seconds: measured,
                budget_seconds: expected(spec, measured, number, position + 1),
            });
        }
        if number == 0 && !enough_sides_gave(spec, at)? {
            return Ok(Stopped::Nothing);
        }
        if spec.looks.contains(&(number + 1)) {
            let standing = look()?;
            if added {
                let (decided, contrasts) = (standing.decided as u64, standing.contrasts as u64);
                on(Event::Look { rotations: spec.rotations, decided, contrasts });
            }
            if standing.is_settled() {
                return Ok(Stopped::Decided);
            }
        }
    }
    Ok(Stopped::Rounds)
}

/// Planned rounds are finished if that takes a little more than the budget: an estimate made them fit.
const OVERDRAFT: f64 = 1.5;

/// Seconds that all planned rounds will have taken, at the pace so far.
fn expected(spec: &Spec, measured: f64, round: u32, visits: u64) -> f64 {
    let per_round = spec.visits_per_round();
    let so_far = u64::from(round) * per_round + visits;
    measured / so_far.max(1) as f64 * (u64::from(spec.rounds) * per_round) as f64
}

/// A side that gives no figures in a whole round never will; of many sides two are enough to go on.
fn enough_sides_gave(spec: &Spec, at: &Where<'_>) -> Result<bool> {
    let visits = at.ledger.visits(at.comparison)?;
    let gave = |side: u32| visits.iter().any(|visit| visit.side == side && !visit.figures.is_empty());
    Ok((0..spec.sides).filter(|side| gave(*side)).count() >= spec.sides.min(2) as usize)
}

fn row(round: u32, visit: &Visit, ran: Ran) -> VisitRow {
    VisitRow {
        round,
        side: visit.side as u32,
        rotation: visit.place.rotation(),
        phase_bytes: visit.place.phase_bytes(),
        environment_bytes: visit.surroundings.environment_bytes as u64,
        stack_bytes: visit.surroundings.stack_bytes as u64,
        aslr: visit.surroundings.aslr,
        elapsed_ns: ran.elapsed_ns,
        failed: ran.failed,
        figures: ran.figures,
        memory: ran.memory,
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::Method;
    use super::*;
    use crate::store::NewComparison;
    use serde_json::json;

    /// Takes a second per visit; the candidate takes twice as long per iteration.
    struct Fake {
        runs: Vec<Visit>,
        dead_side: Option<usize>,
        proven: usize,
    }

    impl CommandRunner for Fake {
        fn run(&mut self, visit: &Visit) -> Result<Ran> {
            self.runs.push(*visit);
            if self.dead_side == Some(visit.side) {
                let failed = Some("exit code 1".to_owned());
                return Ok(Ran { elapsed_ns: 1_000_000_000, failed, ..Ran::default() });
            }
            let value = if visit.side == 1 { 2.0 } else { 1.0 };
            let figure = FigureRow { benchmark: "a".into(), repetition: 0, value, unit: "ns".into() };
            Ok(Ran { elapsed_ns: 1_000_000_000, figures: vec![figure], ..Ran::default() })
        }
    }

    fn spec() -> Spec {
        Spec {
            build: Some("make".into()),
            bench: vec!["./b".into()],
            adapter: "wall".into(),
            method: Method::Placements,
            minimum_effect: assay_pure::stats::margin::Margin::of(0.02),
            confidence: 0.95,
            seed: 3,
            sides: 2,
            rotations: 4,
            rounds: 4,
            looks: vec![2, 4],
            budget_seconds: 1000.0,
            gate: None,
            limits: vec![],
            warnings: vec![],
        }
    }

    struct StoredComparison {
        _folder: tempfile::TempDir,
        ledger: Ledger,
        comparison: i64,
    }

    fn place() -> StoredComparison {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
        let nothing = json!({});
        let new = NewComparison { question: "q", asked: &nothing, machine: &nothing, pinned_cpu: None };
        let comparison = ledger.begin_comparison(&new).unwrap();
        StoredComparison { _folder: folder, ledger, comparison }
    }

    fn run(spec: &Spec, place: &StoredComparison, bench: &mut Fake, open: usize) -> Stopped {
        let standing = VerdictProgress { decided: 3 - open, proven: bench.proven, contrasts: 3 };
        let at = Where { ledger: &place.ledger, comparison: place.comparison, cpu: 1000 };
        measure(spec, &at, bench, &|| Ok(standing), &mut |_| {}).unwrap()
    }

    #[test]
    fn every_round_visits_every_place_of_both_sides() {
        let (place, mut bench) = (place(), Fake { runs: vec![], dead_side: None, proven: 0 });
        assert_eq!(run(&spec(), &place, &mut bench, 1), Stopped::Rounds);
        assert_eq!(bench.runs.len(), 4 * 2 * 17);
        let kept = place.ledger.visits(place.comparison).unwrap();
        assert_eq!(kept.len(), bench.runs.len());
        let as_built = kept.iter().filter(|visit| visit.rotation.is_none()).count();
        assert_eq!(as_built, 4 * 2);
    }

    #[test]
    fn it_stops_at_the_first_look_at_which_all_is_decided() {
        let (place, mut bench) = (place(), Fake { runs: vec![], dead_side: None, proven: 0 });
        assert_eq!(run(&spec(), &place, &mut bench, 0), Stopped::Decided);
        assert_eq!(bench.runs.len(), 2 * 2 * 17);
    }

    #[test]
    fn what_is_proven_is_run_once_for_its_times() {
        let (place, mut bench) = (place(), Fake { runs: vec![], dead_side: None, proven: 3 });
        assert_eq!(run(&spec(), &place, &mut bench, 0), Stopped::Decided);
        assert_eq!(bench.runs.len(), 2);
        let mut bench = Fake { runs: vec![], dead_side: None, proven: 2 };
        run(&spec(), &self::place(), &mut bench, 0);
        assert_eq!(bench.runs.len(), 2 * 2 * 17, "one is to be measured");
    }

    #[test]
    fn without_any_look_each_side_is_visited_once() {
        let (place, mut bench) = (place(), Fake { runs: vec![], dead_side: None, proven: 1 });
        assert_eq!(run(&Spec { looks: vec![], ..spec() }, &place, &mut bench, 2), Stopped::Budget);
        assert_eq!(bench.runs.len(), 2);
    }

    #[test]
    fn one_side_alone_is_never_decided() {
        assert!(!VerdictProgress { decided: 0, proven: 0, contrasts: 0 }.is_settled());
        assert!(!VerdictProgress { decided: 1, proven: 0, contrasts: 2 }.is_settled());
        assert!(VerdictProgress { decided: 2, proven: 0, contrasts: 2 }.is_settled());
    }

    #[test]
    fn what_was_measured_is_not_measured_again() {
        let (place, mut first) = (place(), Fake { runs: vec![], dead_side: None, proven: 0 });
        let short = Spec { budget_seconds: 20.0 / OVERDRAFT, ..spec() };
        assert_eq!(run(&short, &place, &mut first, 1), Stopped::Budget);
        assert_eq!(first.runs.len(), 20);
        let mut second = Fake { runs: vec![], dead_side: None, proven: 0 };
        assert_eq!(run(&spec(), &place, &mut second, 1), Stopped::Rounds);
        let mut whole = Fake { runs: vec![], dead_side: None, proven: 0 };
        run(&spec(), &self::place(), &mut whole, 1);
        assert_eq!([first.runs, second.runs].concat(), whole.runs, "in the order that was planned");
    }

    #[test]
    fn a_side_that_gives_nothing_in_a_round_ends_it() {
        let (place, mut bench) = (place(), Fake { runs: vec![], dead_side: Some(1), proven: 0 });
        assert_eq!(run(&spec(), &place, &mut bench, 1), Stopped::Nothing);
        assert_eq!(bench.runs.len(), 34);
        let failed = place.ledger.visits(place.comparison).unwrap();
        let failed = failed.iter().filter(|visit| visit.failed.as_deref() == Some("exit code 1"));
        assert_eq!(failed.count(), 17);
    }
}
