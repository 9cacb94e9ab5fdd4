//! How an input is walked through for its counts, and what a tracer's marks make of it.
//!
//! A long input is walked through once, as the timed visits never come back to a window soon: first over a stretch that only
//! warms the predictors up, then over fresh data that counts. A short one is timed again and again, so it is walked through
//! again and again: the first pass is what fresh data would cost, the last passes are what was timed.

use crate::run::worker::WalkRequest;
use assay_pure::inputs::Window;
use assay_pure::predict::{Tally, Zoo};
use assay_pure::protocol::VariantKind;
use assay_pure::trace::{Branch, BranchSite};
use assay_trace::{GOES_ON, Observer, TraceMark};

/// An input of up to as many units is short, whatever the time: it may be memorised.
const SHORT: u64 = 60_000;
/// Passes over a short input, at least and at most: a predictor learns in several.
const PASSES: (u64, u64) = (6, 40);
/// Short inputs may take as many times the units of a long one, all passes together.
const REPEATED: u64 = 3;
/// A loop is walked through so many units at least.
const LOOPED: u64 = 1000;
/// The part of a long walk that only warms the predictors up.
const WARM_SHARE: u64 = 4;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkPurpose {
    /// An empty pass: what the marks themselves execute.
    Marks,
    /// Predictors warm up.
    Warm,
    /// Data seen for the first time.
    First,
    /// The same data over and over.
    Repeated,
}

/// One request and what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedWalk {
    pub request: WalkRequest,
    pub purpose: WalkPurpose,
}

/// The walks through one input, by at most about `most_units` units a pass where the kind of variant can be cut.
pub(super) fn walks(input: u32, kind: VariantKind, windows: &[Window], most_units: u64) -> Vec<PlannedWalk> {
    let units: u64 = windows.iter().map(|window| window.units).sum();
    let walk = |window: u32, windows: u64, passes: u64, purpose| PlannedWalk {
        request: WalkRequest { input, window, windows, passes: passes as u32 },
        purpose,
    };
    let marks = walk(0, 0, 1, WalkPurpose::Marks);
    // A loop has no windows but iterations; how it is entered and left should not be counted as work of its units.
    let all = match kind {
        VariantKind::Loop => LOOPED.div_ceil(units.max(1)),
        _ => windows.len() as u64,
    };
    if units <= most_units.max(SHORT) {
        let passes = (REPEATED * most_units / units.max(1)).clamp(PASSES.0, PASSES.1);
        return vec![marks, walk(0, all, passes, WalkPurpose::Repeated)];
    }
    if !kind.is_windowed() {
        return vec![marks, walk(0, all, 1, WalkPurpose::First)];
    }
    let warm_units = (most_units / WARM_SHARE).min(units - most_units);
    // A window that holds everything cannot be both.
    let warm = Some(windows_of(windows, warm_units)).filter(|warm| *warm < windows.len()).unwrap_or(0);
    let fresh = windows_of(&windows[warm..], most_units);
    let warming = (warm > 0).then(|| walk(0, warm as u64, 1, WalkPurpose::Warm));
    let first = walk(warm as u32, fresh.max(1) as u64, 1, WalkPurpose::First);
    [Some(marks), warming, Some(first)].into_iter().flatten().collect()
}

/// How many windows hold about as many units, none of them cut.
fn windows_of(windows: &[Window], units: u64) -> usize {
    let mut sum = 0;
    windows
        .iter()
        .take_while(|window| {
            let fits = sum < units;
            sum += window.units;
            fits
        })
        .count()
}

/// What one pass executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PassCounts {
    pub instructions: u64,
    pub branches: u64,
    pub conditional: u64,
    /// Cycles, where they are counted.
    pub cycles: Option<u64>,
    /// Events of the front end, in the order in which they were asked for; empty where none is counted.
    pub front_end: Vec<u64>,
    /// Mispredictions, by predictor in order.
    pub misses: Vec<u64>,
}

impl PassCounts {
    fn less(&self, marks: &PassCounts) -> PassCounts {
        PassCounts {
            instructions: self.instructions.saturating_sub(marks.instructions),
            branches: self.branches.saturating_sub(marks.branches),
            conditional: self.conditional.saturating_sub(marks.conditional),
            cycles: self.cycles,
            front_end: self.front_end.clone(),
            misses: self.misses.clone(),
        }
    }

    fn and(mut self, other: &PassCounts) -> PassCounts {
        self.instructions += other.instructions;
        self.branches += other.branches;
        self.conditional += other.conditional;
        if self.misses.is_empty() {
            self.misses = vec![0; other.misses.len()];
        }
        self.misses.iter_mut().zip(&other.misses).for_each(|(sum, misses)| *sum += misses);
        self
    }
}

/// Events of a stretch, and the units that they are of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WalkedStretch {
    pub units: u64,
    pub executed: PassCounts,
}

/// What is known of one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WalkedCell {
    /// On data seen for the first time.
    pub first: WalkedStretch,
    /// On data known from earlier passes.
    pub repeated: Option<WalkedStretch>,
}

/// Reads the passes of one input's walks: per walk its units per pass, and all passes in order.
///
/// Returns nothing where a pass is missing.
pub(super) fn read(walks: &[PlannedWalk], units: &[u64], passes: &[PassCounts]) -> Option<WalkedCell> {
    let mut left = passes;
    let mut marks = PassCounts::default();
    let (mut first, mut repeated) = (None, None);
    for (walk, &units) in walks.iter().zip(units) {
        let (own, rest) = left.split_at_checked(walk.request.passes as usize)?;
        left = rest;
        match walk.purpose {
            WalkPurpose::Marks => marks = own[0].clone(),
            WalkPurpose::Warm => {}
            WalkPurpose::First => first = Some(WalkedStretch { units, executed: own[0].less(&marks) }),
            WalkPurpose::Repeated => {
                first = Some(WalkedStretch { units, executed: own[0].less(&marks) });
                let last = &own[own.len() - walk.request.last_third() as usize..];
                let sum = last.iter().fold(PassCounts::default(), |sum, pass| sum.and(&pass.less(&marks)));
                repeated = Some(WalkedStretch { units: units * last.len() as u64, executed: sum });
            }
        }
    }
    Some(WalkedCell { first: first?, repeated })
}

/// Counts what a thread executes between marks; predictors start afresh with each input.
pub(super) struct Walker {
    predictors: Vec<String>,
    zoo: Zoo,
    input: Option<u32>,
    open: Option<(Tally, u64)>,
    /// What is open belongs to the last pass.
    goes_on: bool,
    /// Input and events of every pass, in order.
    pub passes: Vec<(u32, PassCounts)>,
}

impl Walker {
    /// With these predictors, all of which the zoo knows.
    pub fn new(predictors: &[String]) -> Self {
        let zoo = Zoo::new(predictors).expect("the names were taken from the zoo");
        Self {
            predictors: predictors.to_vec(),
            zoo,
            input: None,
            open: None,
            goes_on: false,
            passes: Vec::new(),
        }
    }
}

impl Observer for Walker {
    fn branches(&mut self, _: &[BranchSite], branches: &[Branch]) {
        if let Some((tally, conditional)) = &mut self.open {
            *conditional += branches.iter().filter(|branch| branch.class().is_conditional()).count() as u64;
            self.zoo.observe(branches, tally);
        }
    }

    fn mark(&mut self, mark: TraceMark) {
        match mark {
            TraceMark::RegionBegins { input, pass, .. } => {
                if self.input != Some(input) {
                    self.zoo = Zoo::new(&self.predictors).expect("it was made of the same names before");
                    self.input = Some(input);
                }
                self.goes_on = pass >= GOES_ON;
                self.open = Some((Tally::new(self.predictors.len()), 0));
            }
            TraceMark::RegionEnds => {
                if let (Some((tally, conditional)), Some(input)) = (self.open.take(), self.input) {
                    let executed = PassCounts {
                        instructions: tally.instructions,
                        branches: tally.branches(),
                        conditional,
                        cycles: None,
                        front_end: Vec::new(),
                        misses: tally.missed(),
                    };
                    match self.passes.last_mut().filter(|_| self.goes_on) {
                        Some((_, begun)) => *begun = std::mem::take(begun).and(&executed),
                        None => self.passes.push((input, executed)),
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::trace::BranchClass;

    fn windows(units: &[u64]) -> Vec<Window> {
        units.iter().map(|&units| Window { offset: 0, size: units, units }).collect()
    }

    fn purposes(walks: &[PlannedWalk]) -> Vec<(WalkPurpose, u32, u64, u32)> {
        walks.iter().map(|w| (w.purpose, w.request.window, w.request.windows, w.request.passes)).collect()
    }

    #[test]
    fn a_short_input_is_walked_through_again_and_again() {
        let found = walks(3, VariantKind::Call, &windows(&[6000, 4000]), 100_000);
        assert_eq!(purposes(&found), [(WalkPurpose::Marks, 0, 0, 1), (WalkPurpose::Repeated, 0, 2, 30)]);
        assert!(found.iter().all(|walk| walk.request.input == 3));
        let passes = |units, most| walks(0, VariantKind::Call, &windows(&[units]), most)[1].request.passes;
        assert_eq!([1, 100_000, 7500, 7600].map(|units| passes(units, 100_000)), [40, 6, 40, 39]);
        // However little time there is: what may be memorised is walked through more than once.
        assert_eq!((passes(60_000, 20_000), passes(10_000, 20_000)), (6, 6));
    }

    #[test]
    fn a_long_input_warms_up_and_then_counts_what_it_has_not_seen() {
        let found = walks(0, VariantKind::Call, &windows(&[10_000; 50]), 100_000);
        assert_eq!(purposes(&found)[1..], [(WalkPurpose::Warm, 0, 3, 1), (WalkPurpose::First, 3, 10, 1)]);
        // Just too long: no more is spent on warming up than is not needed.
        let found = walks(0, VariantKind::Call, &windows(&[10_000; 11]), 100_000);
        assert_eq!(purposes(&found)[1..], [(WalkPurpose::Warm, 0, 1, 1), (WalkPurpose::First, 1, 10, 1)]);
        // One window of all: it cannot be cut.
        let found = walks(0, VariantKind::Call, &windows(&[500_000]), 100_000);
        assert_eq!(purposes(&found).last(), Some(&(WalkPurpose::First, 0, 1, 1)));
        assert!(found.iter().all(|walk| u64::from(walk.request.window) + walk.request.windows <= 1));
    }

    #[test]
    fn what_knows_no_windows_takes_a_long_input_once() {
        for kind in [VariantKind::Prepared, VariantKind::Loop] {
            let found = walks(0, kind, &windows(&[10_000; 50]), 100_000);
            let windows = if kind == VariantKind::Loop { 1 } else { 50 };
            assert_eq!(
                purposes(&found),
                [(WalkPurpose::Marks, 0, 0, 1), (WalkPurpose::First, 0, windows, 1)]
            );
        }
    }

    #[test]
    fn a_loop_over_few_units_iterates_so_often_that_its_edges_do_not_count() {
        let found = walks(0, VariantKind::Loop, &windows(&[3]), 100_000);
        assert_eq!(found[1].request.windows, 334);
        assert_eq!(walks(0, VariantKind::Prepared, &windows(&[3]), 100_000)[1].request.windows, 1);
    }

    fn executed(instructions: u64, misses: &[u64]) -> PassCounts {
        PassCounts {
            instructions,
            branches: instructions / 4,
            conditional: instructions / 8,
            cycles: None,
            front_end: Vec::new(),
            misses: misses.to_vec(),
        }
    }

    #[test]
    fn the_marks_are_subtracted_and_the_last_third_of_the_passes_is_what_was_learned() {
        let walks = [
            PlannedWalk {
                request: WalkRequest { input: 0, window: 0, windows: 0, passes: 1 },
                purpose: WalkPurpose::Marks,
            },
            PlannedWalk {
                request: WalkRequest { input: 0, window: 0, windows: 1, passes: 6 },
                purpose: WalkPurpose::Repeated,
            },
        ];
        let misses = [[90], [50], [20], [10], [3], [1]];
        let mut passes = vec![executed(8, &[7])];
        passes.extend(misses.iter().map(|misses| executed(1008, misses)));
        let found = read(&walks, &[0, 100], &passes).expect("all passes are there");
        assert_eq!(found.first.units, 100);
        assert_eq!((found.first.executed.instructions, &found.first.executed.misses[..]), (1000, &[90][..]));
        let repeated = found.repeated.expect("it was walked through again");
        assert_eq!((repeated.units, repeated.executed.instructions), (200, 2000));
        assert_eq!((repeated.executed.branches, repeated.executed.conditional), (500, 250));
        assert_eq!(repeated.executed.misses, [4], "3 of the fifth and 1 of the sixth");
        assert_eq!(read(&walks, &[0, 100], &passes[..6]), None, "a pass is missing");
    }

    #[test]
    fn a_walk_that_warms_up_does_not_count() {
        let request = WalkRequest { input: 0, window: 0, windows: 1, passes: 1 };
        let walks = [WalkPurpose::Marks, WalkPurpose::Warm, WalkPurpose::First]
            .map(|purpose| PlannedWalk { request, purpose });
        let passes = [executed(8, &[0]), executed(508, &[70]), executed(2008, &[60])];
        let found = read(&walks, &[0, 50, 200], &passes).expect("all passes are there");
        assert_eq!((found.first.units, found.first.executed.instructions), (200, 2000));
        assert_eq!((found.first.executed.misses, found.repeated), (vec![60], None));
    }

    #[test]
    fn only_what_lies_between_marks_is_counted_and_each_input_begins_afresh() {
        let mut walker = Walker::new(&["bimodal".to_owned()]);
        let taken = |count: usize| vec![Branch::new(0x10, 0x40, 0, BranchClass::CONDITIONAL, true, 3); count];
        let begins = |input| TraceMark::RegionBegins { variant: 1, input, pass: 0 };
        walker.branches(&[], &taken(5));
        for (input, count) in [(0, 10), (0, 20), (1, 20)] {
            walker.mark(begins(input));
            walker.branches(&[], &taken(count));
            walker.branches(&[], &[Branch::new(0x20, 0x10, 1, BranchClass::JUMP, true, 2)]);
            walker.mark(TraceMark::RegionEnds);
            walker.branches(&[], &taken(7));
        }
        let found: Vec<(u32, u64, u64, u64)> = walker
            .passes
            .iter()
            .map(|(input, e)| (*input, e.instructions, e.branches, e.conditional))
            .collect();
        assert_eq!(found, [(0, 32, 11, 10), (0, 62, 21, 20), (1, 62, 21, 20)]);
        // What was learned in the first pass is known in the second, and has to be learned again for another input.
        let misses: Vec<u64> = walker.passes.iter().map(|(_, e)| e.misses[0]).collect();
        assert_eq!(misses[1], 0, "{misses:?}");
        assert_eq!(misses[0], misses[2], "{misses:?}");
    }
}
