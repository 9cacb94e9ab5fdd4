//! How often a hinted condition held, from the branches that decide it, and whether the hint was right.
//!
//! Method: each evaluation of a condition ends on exactly one way into the text of its one or its other side. Those ways
//! are counted; ways from one part of the condition to the next are not. What can't be assigned is kept apart, and a
//! verdict must stand wherever that belonged. Checked by hand-made branches of all shapes that the fixtures' compilers gave, and by the fixtures themselves.

use super::{Split, TextPlace};
use crate::stats::share::wilson;
use crate::words::plural;
use std::collections::BTreeMap;
use std::fmt;

/// The fewest evaluations that are judged: with 100 of them, 60 to 40 can just be told from even (confidence 0.95), and
/// fewer cost nothing either way.
pub const FEWEST: u64 = 100;

/// The code that one side of a branch begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchSide {
    /// Its address.
    pub block: u64,
    /// Whose text its instructions come from, in any order; only what the debug information says outright.
    pub places: Vec<TextPlace>,
    /// The branch of the same condition that it ends with, if it does.
    pub ends_in: Option<u64>,
    /// It is nothing but that branch.
    pub only_branch: bool,
}

/// A branch of a condition, with what it did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchSides {
    /// Its address.
    pub at: u64,
    /// Times taken.
    pub taken: u64,
    /// Times not taken.
    pub not_taken: u64,
    /// Where it goes when taken.
    pub target: BranchSide,
    /// What follows it.
    pub next: BranchSide,
}

/// How often a condition held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Times it held.
    pub yes: u64,
    /// Times it did not.
    pub no: u64,
    /// Times that can't be assigned.
    pub unknown: u64,
    /// Of the times assigned, those of branches where both sides are known by their own text.
    pub known_by_both: u64,
}

impl Balance {
    /// Both together, for copies of one condition.
    pub fn plus(self, other: Balance) -> Balance {
        Balance {
            yes: self.yes + other.yes,
            no: self.no + other.no,
            unknown: self.unknown + other.unknown,
            known_by_both: self.known_by_both + other.known_by_both,
        }
    }

    /// All evaluations.
    pub fn total(&self) -> u64 {
        self.yes + self.no + self.unknown
    }
}

/// Why a hint can't be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// It is not the condition of an `if`, a loop or a choice.
    NoCondition,
    /// The condition holds more than the hint.
    PartOfCondition,
    /// No branch was executed there.
    NoBranch,
    /// Which side is which is not seen in the debug information.
    Sides,
    /// Too few evaluations.
    Seldom {
        /// How many.
        evaluated: u64,
    },
    /// Neither side was executed mostly.
    Even,
    /// The sides seem to be the other way round than the compiler laid them out.
    Layout,
    /// The source was changed after the program was built.
    Changed,
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unclear::NoCondition => "it is not the condition of an if or a loop",
            Unclear::PartOfCondition => "the condition holds more than the hint",
            Unclear::NoBranch => "no branch was executed there: not reached, or made branch-free",
            Unclear::Sides => "the debug information does not tell the two sides apart",
            Unclear::Seldom { evaluated } => {
                return write!(f, "executed {}, fewer than {FEWEST}", plural(*evaluated, "time"));
            }
            Unclear::Even => "both sides are executed about equally often",
            Unclear::Layout => "only one of its sides is known by its lines, and the code is not laid out as the hint would have it",
            Unclear::Changed => "the source is newer than the program: build it again",
        })
    }
}

/// What is said of a hint; what needs attention comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HintVerdict {
    /// The side that it calls unlikely is executed mostly.
    Wrong,
    /// It can't be told.
    Unclear,
    /// The side that it calls likely is executed mostly.
    Right,
    /// No branch of it was executed.
    NotExecuted,
}

/// What is said of a hint, and why where it can't be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HintJudgement {
    /// What is said.
    pub verdict: HintVerdict,
    /// Why it can't be told.
    pub unclear: Option<Unclear>,
}

impl HintJudgement {
    /// The side that it calls likely is executed mostly.
    pub const RIGHT: Self = Self { verdict: HintVerdict::Right, unclear: None };
    /// The side that it calls unlikely is executed mostly.
    pub const WRONG: Self = Self { verdict: HintVerdict::Wrong, unclear: None };

    /// It can't be told.
    pub fn unclear(why: Unclear) -> Self {
        let verdict = if why == Unclear::NoBranch { HintVerdict::NotExecuted } else { HintVerdict::Unclear };
        Self { verdict, unclear: Some(why) }
    }

    /// Whether it is right or wrong.
    pub fn is_decided(self) -> bool {
        self.unclear.is_none()
    }
}

/// Which part of the condition's surroundings a side leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SidePart {
    Yes,
    No,
    /// To the next part of the condition.
    Onward,
    /// To text that is neither.
    Elsewhere,
    /// To code without a place.
    Blank,
    Unknown,
}

/// Counts how often the condition of `split` held, over the branches of one copy of it.
pub fn weigh(split: &Split, branches: &[BranchSides]) -> Balance {
    let mut balance = Balance::default();
    for (branch, (target, next)) in branches.iter().zip(resolve(split, branches)) {
        let executed = branch.taken + branch.not_taken;
        match (target, next) {
            // A branch inside a part of the condition.
            (SidePart::Onward, SidePart::Onward) => continue,
            _ if !is_told_apart(target, next) => {
                balance.unknown += executed;
                continue;
            }
            _ => {}
        }
        for (way, times) in [(target, branch.taken), (next, branch.not_taken)] {
            match way {
                SidePart::Yes => balance.yes += times,
                SidePart::No => balance.no += times,
                _ => {}
            }
        }
        let own = [&branch.target, &branch.next].map(|side| way(split, branch.at, side));
        if own.iter().all(|way| matches!(way, SidePart::Yes | SidePart::No)) {
            balance.known_by_both += executed;
        }
    }
    balance
}

/// Of each branch, whether the condition holds where it is taken; `None` where that is not known.
pub fn held_when_taken(split: &Split, branches: &[BranchSides]) -> Vec<Option<bool>> {
    let of = |(target, next): (SidePart, SidePart)| match (target, next) {
        _ if !is_told_apart(target, next) => None,
        (SidePart::Yes, _) | (_, SidePart::No) => Some(true),
        (SidePart::No, _) | (_, SidePart::Yes) => Some(false),
        _ => None,
    };
    resolve(split, branches).into_iter().map(of).collect()
}

fn is_told_apart(target: SidePart, next: SidePart) -> bool {
    let is_clear = |way| matches!(way, SidePart::Yes | SidePart::No | SidePart::Onward);
    is_clear(target) && is_clear(next) && target != next
}

/// Where both sides of each branch lead, with what the branches tell of one another.
fn resolve(split: &Split, branches: &[BranchSides]) -> Vec<(SidePart, SidePart)> {
    let ways: Vec<(SidePart, SidePart)> = branches
        .iter()
        .map(|branch| (way(split, branch.at, &branch.target), way(split, branch.at, &branch.next)))
        .map(|(target, next)| (implied(split, target, next), implied(split, next, target)))
        .collect();
    let known = known_blocks(branches, &ways);
    let by_block = |side: &BranchSide, way: SidePart| match way {
        SidePart::Elsewhere | SidePart::Blank => {
            known.get(&side.block).copied().flatten().unwrap_or(SidePart::Unknown)
        }
        other => other,
    };
    let resolved = branches.iter().zip(ways);
    resolved
        .map(|(branch, (target, next))| (by_block(&branch.target, target), by_block(&branch.next, next)))
        .collect()
}

/// Where a side leads by its own text.
fn way(split: &Split, at: u64, side: &BranchSide) -> SidePart {
    let has = |place| side.places.contains(&place);
    match (has(TextPlace::Yes), has(TextPlace::No)) {
        (true, true) => return SidePart::Unknown,
        (true, false) => return SidePart::Yes,
        (false, true) => return SidePart::No,
        (false, false) => {}
    }
    if let Some(end) = side.ends_in {
        let returns = end == at;
        return match (split.simple, has(TextPlace::Elsewhere)) {
            // Two branches on the flags of one comparison: floating point has a third outcome.
            (true, _) if side.only_branch && !returns => SidePart::Onward,
            // The next evaluation, in the same loop or in a copy of it.
            (true, true) => SidePart::Elsewhere,
            (true, false) if returns => SidePart::Elsewhere,
            (false, false) if !returns => SidePart::Onward,
            // A second comparison for the same outcome, or the next evaluation of an unrolled loop.
            _ => SidePart::Unknown,
        };
    }
    match (has(TextPlace::Condition), has(TextPlace::Elsewhere)) {
        (false, false) => SidePart::Blank,
        (false, true) => SidePart::Elsewhere,
        (true, true) if split.simple => SidePart::Elsewhere,
        (true, _) => SidePart::Unknown,
    }
}

/// A side that is not known by its own text, by that of the other one.
fn implied(split: &Split, way: SidePart, other: SidePart) -> SidePart {
    match (way, other) {
        (SidePart::Elsewhere, SidePart::Yes) if split.no.is_none() || split.simple => SidePart::No,
        (SidePart::Blank, SidePart::Yes) if split.simple => SidePart::No,
        (SidePart::Elsewhere | SidePart::Blank, SidePart::No) if split.simple => SidePart::Yes,
        _ => way,
    }
}

/// Blocks that some branch leads to on a known way; `None` where branches disagree.
fn known_blocks(branches: &[BranchSides], ways: &[(SidePart, SidePart)]) -> BTreeMap<u64, Option<SidePart>> {
    let mut known: BTreeMap<u64, Option<SidePart>> = BTreeMap::new();
    for (branch, (target, next)) in branches.iter().zip(ways) {
        for (side, way) in [(&branch.target, *target), (&branch.next, *next)] {
            if matches!(way, SidePart::Yes | SidePart::No) {
                let entry = known.entry(side.block).or_insert(Some(way));
                if *entry != Some(way) {
                    *entry = None;
                }
            }
        }
    }
    known
}

/// Whether the side that was called likely is executed mostly.
///
/// Input: what the hint expects, how often the condition held. A verdict holds with confidence 0.95, wherever the
/// evaluations that could not be assigned belong.
pub fn judge(expects_yes: bool, balance: &Balance) -> HintJudgement {
    let total = balance.total();
    let unlikely = if expects_yes { balance.no } else { balance.yes };
    if total == 0 {
        return HintJudgement::unclear(Unclear::NoBranch);
    }
    if total < FEWEST {
        return HintJudgement::unclear(Unclear::Seldom { evaluated: total });
    }
    let least = wilson(unlikely, total).0;
    let most = wilson(unlikely + balance.unknown, total).1;
    if least > 0.5 {
        HintJudgement::WRONG
    } else if most < 0.5 {
        HintJudgement::RIGHT
    } else if balance.unknown > 0 {
        HintJudgement::unclear(Unclear::Sides)
    } else {
        HintJudgement::unclear(Unclear::Even)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Position, Span};
    use super::*;
    use TextPlace::{Condition, Elsewhere, No, Yes};

    fn split(simple: bool, has_no: bool) -> Split {
        let span = |line| Span { first: Position { line, column: 1 }, last: Position { line, column: 9 } };
        let no = has_no.then(|| span(3));
        Split { condition: span(1), yes: span(2), no, expects_yes: true, simple }
    }

    fn side(block: u64, places: &[TextPlace]) -> BranchSide {
        BranchSide { block, places: places.to_vec(), ..BranchSide::default() }
    }

    fn onward(block: u64, to: u64, places: &[TextPlace]) -> BranchSide {
        BranchSide { ends_in: Some(to), ..side(block, places) }
    }

    fn branch(at: u64, taken: u64, not_taken: u64, target: BranchSide, next: BranchSide) -> BranchSides {
        BranchSides { at, taken, not_taken, target, next }
    }

    fn counts(balance: Balance) -> (u64, u64, u64) {
        (balance.yes, balance.no, balance.unknown)
    }

    #[test]
    fn an_inverted_branch_counts_as_what_its_sides_are() {
        for simple in [true, false] {
            let split = split(simple, true);
            let straight = branch(1, 70, 30, side(10, &[Yes]), side(2, &[No, Elsewhere]));
            assert_eq!(counts(weigh(&split, &[straight])), (70, 30, 0));
            let inverted = branch(1, 70, 30, side(10, &[No]), side(2, &[Yes]));
            let balance = weigh(&split, &[inverted]);
            assert_eq!(counts(balance), (30, 70, 0));
            assert_eq!(balance.known_by_both, 100);
        }
    }

    #[test]
    fn what_follows_an_if_without_else_is_its_other_side() {
        let case = branch(1, 70, 30, side(10, &[Elsewhere]), side(2, &[Yes, Elsewhere]));
        let balance = weigh(&split(true, false), std::slice::from_ref(&case));
        assert_eq!((counts(balance), balance.known_by_both), ((30, 70, 0), 0));
        assert_eq!(counts(weigh(&split(false, false), std::slice::from_ref(&case))), (30, 70, 0));
        // With an else that is not seen and a condition of several parts, "elsewhere" may be anything.
        assert_eq!(counts(weigh(&split(false, true), &[case])), (0, 0, 100));
    }

    #[test]
    fn a_rest_of_the_condition_on_the_other_side_is_told_only_for_one_comparison() {
        let case = branch(1, 70, 30, side(10, &[Condition, Elsewhere]), side(2, &[Yes]));
        assert_eq!(counts(weigh(&split(true, false), std::slice::from_ref(&case))), (30, 70, 0));
        assert_eq!(counts(weigh(&split(false, false), &[case])), (0, 0, 100));
    }

    #[test]
    fn a_side_without_places_is_told_by_the_other_only_for_one_comparison() {
        let case = branch(1, 70, 30, side(10, &[]), side(2, &[No]));
        assert_eq!(counts(weigh(&split(true, true), std::slice::from_ref(&case))), (70, 30, 0));
        assert_eq!(counts(weigh(&split(false, true), &[case])), (0, 0, 100));
        let case = branch(1, 70, 30, side(10, &[]), side(2, &[Yes]));
        assert_eq!(counts(weigh(&split(true, false), std::slice::from_ref(&case))), (30, 70, 0));
        assert_eq!(counts(weigh(&split(false, false), &[case])), (0, 0, 100));
    }

    #[test]
    fn sides_that_look_alike_are_unknown() {
        for (target, next) in [
            (vec![Yes], vec![Yes]),
            (vec![No], vec![No]),
            (vec![Elsewhere], vec![Elsewhere]),
            (vec![], vec![]),
            (vec![Yes, No], vec![Elsewhere]),
            (vec![Condition], vec![Yes]),
            (vec![Condition], vec![Condition]),
        ] {
            let case = branch(1, 70, 30, side(10, &target), side(2, &next));
            assert_eq!(counts(weigh(&split(true, true), &[case])), (0, 0, 100), "{target:?} {next:?}");
        }
    }

    #[test]
    fn ways_within_a_condition_are_not_evaluations() {
        // a && b: 100 times a, 80 of them b, 50 both.
        let first = branch(1, 20, 80, side(10, &[No]), onward(2, 3, &[Condition]));
        let second = branch(3, 30, 50, side(10, &[No]), side(4, &[Yes]));
        assert_eq!(counts(weigh(&split(false, true), &[first, second])), (50, 50, 0));
    }

    #[test]
    fn a_block_known_from_one_branch_is_known_from_the_others() {
        // if (a && b) without else: the first branch leaves to a block that only the second shows to be the other side.
        let first = branch(1, 20, 80, side(10, &[Elsewhere]), onward(2, 3, &[Condition]));
        let second = branch(3, 30, 50, side(10, &[Elsewhere]), side(4, &[Yes]));
        assert_eq!(counts(weigh(&split(false, false), &[first.clone(), second])), (50, 50, 0));
        // Alone it could lead anywhere.
        assert_eq!(counts(weigh(&split(false, false), std::slice::from_ref(&first))), (0, 0, 100));
        // And where two branches disagree about the block, nothing is said of it.
        let second = branch(3, 30, 50, side(10, &[Yes]), side(4, &[No]));
        let third = branch(5, 1, 2, side(4, &[Yes]), side(10, &[No]));
        let balance = weigh(&split(false, false), &[first, second, third]);
        assert_eq!(balance.unknown, 100);
    }

    #[test]
    fn the_next_turn_of_a_loop_is_not_a_part_of_the_condition() {
        // while (1) { c = next(); if (likely(c)) work(); }, the bottom of which is the top.
        let again = branch(1, 70, 30, onward(0, 1, &[Elsewhere, Condition]), side(2, &[Yes]));
        assert_eq!(counts(weigh(&split(true, false), &[again])), (30, 70, 0));
        // The same unrolled: the next evaluation is another branch.
        let unrolled = branch(1, 70, 30, onward(5, 9, &[Elsewhere, Condition]), side(2, &[Yes]));
        assert_eq!(counts(weigh(&split(true, false), &[unrolled])), (30, 70, 0));
        // Nothing between the two: it may as well be a second comparison for the same outcome.
        let compared = branch(1, 1, 99, side(10, &[No]), onward(5, 9, &[Condition]));
        assert_eq!(counts(weigh(&split(true, true), &[compared])), (0, 0, 100));
        // With several parts it may be the next part or the next turn.
        let unclear = branch(1, 70, 30, onward(5, 9, &[Condition, Elsewhere]), side(2, &[Yes]));
        assert_eq!(counts(weigh(&split(false, false), &[unclear])), (0, 0, 100));
        let back = branch(1, 70, 30, onward(0, 1, &[Condition]), side(2, &[Yes]));
        assert_eq!(counts(weigh(&split(false, false), &[back])), (0, 0, 100));
    }

    #[test]
    fn a_comparison_of_floats_may_take_two_branches() {
        let parity =
            branch(1, 1, 99, side(10, &[No]), BranchSide { only_branch: true, ..onward(2, 2, &[Condition]) });
        let zero = branch(2, 39, 60, side(10, &[No]), side(4, &[Yes]));
        assert_eq!(counts(weigh(&split(true, true), &[parity, zero])), (60, 40, 0));
        // Its own address is a loop, not a second branch.
        let own = BranchSide { only_branch: true, ..onward(1, 1, &[Condition]) };
        assert_eq!(counts(weigh(&split(true, false), &[branch(1, 5, 7, own, side(3, &[Yes]))])), (7, 5, 0));
    }

    #[test]
    fn branches_inside_a_condition_are_passed_over() {
        let inner = branch(1, 5, 95, onward(2, 7, &[Condition]), onward(3, 7, &[Condition]));
        assert_eq!(counts(weigh(&split(false, true), &[inner])), (0, 0, 0));
    }

    #[test]
    fn the_direction_of_each_branch_is_known_where_its_sides_are() {
        let split = split(false, true);
        let cases = [
            (side(10, &[Yes]), side(2, &[No]), Some(true)),
            (side(11, &[No]), side(3, &[Yes]), Some(false)),
            (side(12, &[No]), onward(4, 9, &[Condition]), Some(false)),
            (onward(13, 9, &[Condition]), side(5, &[No]), Some(true)),
            (onward(14, 9, &[Condition]), side(6, &[Yes]), Some(false)),
            (onward(15, 9, &[Condition]), onward(7, 9, &[Condition]), None),
            (side(16, &[Yes]), side(8, &[Yes]), None),
            (side(17, &[Elsewhere]), onward(18, 9, &[Condition]), None),
        ];
        for (target, next, expected) in cases {
            let case = branch(1, 5, 5, target, next);
            assert_eq!(held_when_taken(&split, std::slice::from_ref(&case)), [expected], "{case:?}");
        }
    }

    #[test]
    fn verdicts_need_enough_executions_and_a_clear_majority() {
        let of = |yes, no, unknown| judge(true, &Balance { yes, no, unknown, known_by_both: 0 });
        assert_eq!(of(0, 0, 0), HintJudgement::unclear(Unclear::NoBranch));
        assert_eq!(of(0, 99, 0), HintJudgement::unclear(Unclear::Seldom { evaluated: 99 }));
        assert_eq!(of(0, 100, 0), HintJudgement::WRONG);
        assert_eq!(of(100, 0, 0), HintJudgement::RIGHT);
        // 60 of 100: the interval is 0.5020 to 0.6906 (statsmodels, proportion_confint(60, 100, method="wilson")).
        assert_eq!(of(40, 60, 0), HintJudgement::WRONG);
        assert_eq!(of(41, 59, 0), HintJudgement::unclear(Unclear::Even));
        assert_eq!(of(60, 40, 0), HintJudgement::RIGHT);
        assert_eq!(of(59, 41, 0), HintJudgement::unclear(Unclear::Even));
    }

    #[test]
    fn what_is_unknown_counts_for_either_side() {
        let of = |yes, no, unknown| judge(true, &Balance { yes, no, unknown, known_by_both: 0 });
        assert_eq!(of(900, 10, 50), HintJudgement::RIGHT);
        assert_eq!(of(10, 900, 50), HintJudgement::WRONG);
        assert_eq!(of(500, 10, 490), HintJudgement::unclear(Unclear::Sides));
        assert_eq!(of(0, 0, 1000), HintJudgement::unclear(Unclear::Sides));
    }

    #[test]
    fn a_hint_for_no_is_judged_the_other_way() {
        let balance = Balance { yes: 900, no: 100, unknown: 0, known_by_both: 0 };
        assert_eq!(judge(true, &balance), HintJudgement::RIGHT);
        assert_eq!(judge(false, &balance), HintJudgement::WRONG);
    }

    #[test]
    fn balances_of_copies_add_up() {
        let one = Balance { yes: 1, no: 2, unknown: 3, known_by_both: 4 };
        let two = Balance { yes: 10, no: 20, unknown: 30, known_by_both: 40 };
        assert_eq!(one.plus(two), Balance { yes: 11, no: 22, unknown: 33, known_by_both: 44 });
        assert_eq!(one.total(), 6);
    }
}
