//! Logs of a program of six instructions, written by hand.

use super::*;
use crate::BranchForm;
use assay_pure::outcomes::{BEFORE_BYTES, PairedPlace};
use assay_pure::predict::Steps;

/// A mark, a loop with a branch in it, a mark.
const CODE: [u8; 13] = [
    0x0f, 0x05, // syscall: a region begins
    0x85, 0xc0, // 2: test %eax, %eax
    0x74, 0x03, // je 9
    0xff, 0xc0, 0x90, // inc %eax; nop
    0x75, 0xf7, // 9: jne 2
    0x0f, 0x05, // syscall: it ends
];
const START: u64 = 0x1000;
/// Whether branches were not taken; records could have ended ahead of the third.
const OUTCOMES: [u8; 6] = [1, 0, END, 0, 1, 1];

/// Outcomes of branches between marks.
#[derive(Default)]
struct Taken(Vec<bool>);

impl Observer for Taken {
    fn branches(&mut self, _: &[BranchSite], branches: &[Branch]) {
        self.0.extend(branches.iter().map(|branch| branch.taken()));
    }

    fn mark(&mut self, _: TraceMark) {}
}

/// All that is seen of branches between marks, or the events of conditional ones.
#[derive(Default)]
struct Seen {
    wants_steps: bool,
    branches: Vec<Branch>,
    events: Vec<u32>,
}

impl Observer for Seen {
    fn wanted(&self) -> BranchForm {
        if self.wants_steps { BranchForm::Steps { all: true } } else { BranchForm::Branches }
    }

    fn branches(&mut self, _: &[BranchSite], branches: &[Branch]) {
        self.branches.extend_from_slice(branches);
    }

    fn steps(&mut self, steps: Steps<'_>) {
        assert_eq!(steps.conditionals, steps.all, "there are no others");
        self.events.extend_from_slice(steps.all);
    }
}

fn replay() -> Replay {
    let sites = [
        (0, SiteKind::SystemCall),
        (4, SiteKind::Conditional),
        (9, SiteKind::Conditional),
        (11, SiteKind::SystemCall),
    ];
    let place = |(at, (offset, kind)): (usize, (u64, SiteKind))| {
        let address = START + offset;
        PairedPlace { kind, site: at as u32 + 1, plain: address, logging: address }
    };
    let table = PairedTable { places: sites.into_iter().enumerate().map(place).collect(), anchor: 0 };
    Replay::of_code(vec![CodePiece { start: START, bytes: CODE.to_vec() }], &table, 0)
}

fn mark(what: u32, position: usize, site: u32) -> Vec<u8> {
    let mut bytes = vec![FREE; BEFORE_BYTES];
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend((position as u64).to_le_bytes());
    for word in [what, 0, 0, 0, outcomes::word(site, outcome::SYSTEM_CALL)] {
        bytes.extend(word.to_le_bytes());
    }
    bytes
}

fn log() -> Vec<u8> {
    log_of(&OUTCOMES)
}

fn log_of(outcomes: &[u8]) -> Vec<u8> {
    let mut bytes = mark(1, 0, 1);
    bytes.extend(outcomes);
    bytes.extend(mark(2, bytes.len(), 4));
    bytes
}

#[test]
fn a_log_is_followed_in_one_piece_or_several() {
    let log = log();
    for cut in [0, MARK_BYTES, MARK_BYTES + 3, log.len()] {
        let (mut replay, mut taken) = (replay(), Taken::default());
        assert_eq!(replay.follow(&log[..cut], &mut taken), Ok(()));
        assert_eq!(replay.follow(&log[cut..], &mut taken), Ok(()));
        assert_eq!(taken.0, OUTCOMES.map(|outcome| outcome != 1));
    }
}

#[test]
fn outcomes_that_are_followed_eight_at_once_are_those_that_are_followed_one_by_one() {
    // The first branch of each turn goes this way and that; the loop is left after 300.
    let turn = |turn: u32| [((turn * turn / 7) & 1) as u8, u8::from(turn == 299)];
    let log = log_of(&(0..300).flat_map(turn).collect::<Vec<u8>>());
    let (begin, end) = (MARK_BYTES, log.len() - MARK_BYTES);
    let followed = |wants_steps: bool, piece: usize| {
        let (mut replay, mut seen) = (replay(), Seen { wants_steps, ..Seen::default() });
        for piece in [&log[..begin]].into_iter().chain(log[begin..end].chunks(piece)).chain([&log[end..]]) {
            assert_eq!(replay.follow(piece, &mut seen), Ok(()));
        }
        seen
    };
    let one_by_one = followed(false, 1).branches;
    assert_eq!(one_by_one.len(), 600);
    let events: Vec<u32> =
        one_by_one.iter().map(|branch| branch.site << 1 | u32::from(branch.taken())).collect();
    for piece in [8, 9, 100, 1000] {
        assert_eq!(followed(false, piece).branches, one_by_one, "pieces of {piece}");
        assert_eq!(followed(true, piece).events, events, "pieces of {piece}");
    }
}

#[test]
fn a_byte_that_is_lost_or_comes_twice_is_noticed_wherever_it_was() {
    let log = log();
    for at in 0..log.len() {
        let (mut less, mut more) = (log.clone(), log.clone());
        less.remove(at);
        more.insert(at, log[at]);
        for damaged in [less, more] {
            // Even where the outcomes are those of another execution, as of a loop that is left a turn earlier.
            assert!(replay().follow(&damaged, &mut Taken::default()).is_err(), "byte {at}");
        }
    }
}

#[test]
fn what_is_no_outcome_and_a_mark_of_another_site_end_the_walk() {
    let damaged = |at: usize, byte: u8| {
        let mut log = log();
        log[at] = byte;
        replay().follow(&log, &mut Taken::default()).expect_err("it does not fit")
    };
    assert!(damaged(MARK_BYTES, 2).contains("2 where the outcome of site 2 must be"));
    let word = log().len() - 4;
    assert!(damaged(word, 3).contains("site 3 where 4 must be"));
}
