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
/// How far places lie from each other in both programs.
const APART: u64 = 0x500;
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
        assert!(steps.conditional_events().eq(steps.all.iter().copied()), "there are no others");
        self.events.extend_from_slice(steps.all);
    }
}

fn replay() -> Replay {
    use SiteKind::{Conditional, SystemCall};
    replay_of(&CODE, &[(0, SystemCall), (4, Conditional), (9, Conditional), (11, SystemCall)], &[])
}

/// Of code with these sites, numbered from 1, and where indirect branches lead to.
fn replay_of(code: &[u8], sites: &[(u64, SiteKind)], points: &[u64]) -> Replay {
    let place = |kind: SiteKind, site: usize, offset: u64| PairedPlace {
        kind,
        site: site as u32,
        plain: START + offset,
        logging: START + offset + APART,
    };
    let sites = sites.iter().enumerate().map(|(at, (offset, kind))| place(*kind, at + 1, *offset));
    let points = points.iter().map(|offset| place(SiteKind::Point, 0, *offset));
    let table = PairedTable { places: sites.chain(points).collect(), anchor: 0 };
    Replay::of_code(vec![CodePiece { start: START, bytes: code.to_vec() }], &table, 0)
}

/// The record of an indirect branch or a return to there.
fn went(site: u32, offset: u64) -> Vec<u8> {
    let mut record = (START + offset + APART).to_le_bytes().to_vec();
    record.extend(outcomes::word(site, outcome::WENT).to_le_bytes());
    record
}

/// The record of a branch that names itself.
fn named(site: u32, outcome: u8) -> Vec<u8> {
    let mut record = vec![outcome];
    record.extend(outcomes::word(site, outcome::NAMED).to_le_bytes());
    record
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

/// A loop that calls one of four functions in each turn.
const CALLS: [u8; 38] = [
    0x0f, 0x05, // syscall: a region begins
    0x85, 0xc0, // 2: test %eax, %eax
    0x74, 0x03, // je 9
    0xff, 0xc0, 0x90, // inc %eax; nop
    0xff, 0xd2, // 9: call *%rdx
    0x75, 0xf5, // 11: jne 2
    0x0f, 0x05, // syscall: it ends
    0x85, 0xc9, // 15: test %ecx, %ecx
    0x74, 0x02, // je 21
    0xff, 0xc1, // inc %ecx
    0xc3, // 21: ret
    0x90, // 22: nop
    0xc3, // ret
    0xe8, 0xf2, 0xff, 0xff, 0xff, // 24: call 15
    0xc3, // 29: ret
    0xe8, 0x01, 0x00, 0x00, 0x00, // 30: call 36
    0xc3, // 35: ret
    0x90, // 36: nop
    0xc3, // ret
];
fn replay_of_calls() -> Replay {
    use SiteKind::{Conditional, Indirect, Named, Quiet, Return, SystemCall};
    let sites = [
        (0, SystemCall),
        (4, Conditional),
        (9, Indirect),
        (11, Named),
        (13, SystemCall),
        (17, Conditional),
        (21, Return),
        (23, Quiet),
        (29, Quiet),
        (35, Quiet),
        (37, Return),
    ];
    replay_of(&CALLS, &sites, &[11, 15, 22, 24, 29, 30, 35])
}

/// Records of so many turns: short periods, which come again, and some that do not.
fn records_of_calls(turns: u32) -> Vec<Vec<u8>> {
    records_of(turns, |turn| (turn * turn / 7, turn * turn / 50 + turn % 2, turn % 3 == 0))
}

/// Records of so many turns: the outcome of the first branch, the function that is called, and the outcome in it.
fn records_of(turns: u32, of: impl Fn(u32) -> (u32, u32, bool)) -> Vec<Vec<u8>> {
    let mut records = vec![mark(1, 0, 1)];
    for turn in 0..turns {
        let (mixed, called, inner) = of(turn);
        let called = [15, 22, 24, 30][called as usize % 4];
        records.push(vec![(mixed & 1) as u8]);
        records.push(went(3, called));
        if matches!(called, 15 | 24) {
            records.push(vec![u8::from(inner)]);
        }
        match called {
            15 => records.push(went(7, 11)),
            24 => records.push(went(7, 29)),
            30 => records.push(went(11, 35)),
            _ => {}
        }
        records.push(named(4, u8::from(turn == turns - 1)));
    }
    let length = records.iter().map(Vec::len).sum();
    records.push(mark(2, length, 5));
    records
}

/// What is seen in one form.
#[derive(Clone, Default, PartialEq, Debug)]
struct Form {
    branches: Vec<Branch>,
    conditionals: Vec<u32>,
    /// Events, runs, and whatever says that they are repeated.
    elements: usize,
    all: Vec<u32>,
    targets: Vec<u64>,
}

impl Observer for (BranchForm, Form) {
    fn wanted(&self) -> BranchForm {
        self.0
    }

    fn branches(&mut self, _: &[BranchSite], branches: &[Branch]) {
        self.1.branches.extend_from_slice(branches);
    }

    fn steps(&mut self, steps: Steps<'_>) {
        self.1.conditionals.extend(steps.conditional_events());
        self.1.elements += steps.conditionals.len();
        self.1.all.extend_from_slice(steps.all);
        self.1.targets.extend_from_slice(steps.targets);
    }
}

/// What is seen of such records in pieces of so many, and what is counted.
fn followed(records: &[Vec<u8>], form: BranchForm, piece: usize) -> (Form, ClassCounts, usize) {
    let (mut replay, mut seen) = (replay_of_calls(), (form, Form::default()));
    replay.walk.batch = Batch::counting();
    for piece in records.chunks(piece) {
        assert_eq!(replay.follow(&piece.concat(), &mut seen), Ok(()));
    }
    let elements = seen.1.elements;
    (Form { elements: 0, ..seen.1 }, replay.walk.counts(), elements)
}

const FORMS: [BranchForm; 3] =
    [BranchForm::Branches, BranchForm::Steps { all: false }, BranchForm::Steps { all: true }];

#[test]
fn calls_and_returns_that_come_again_are_those_that_are_followed_one_by_one() {
    let records = records_of_calls(400);
    for form in FORMS {
        let one_by_one = followed(&records, form, 1);
        let outcomes = records.iter().filter(|record| matches!(record.len(), 1 | NAMED_BYTES)).count();
        let counts = &one_by_one.1;
        assert_eq!((counts.indirect_calls, counts.conditional), (400, outcomes as u64));
        for piece in [3, 50, 1000, records.len()] {
            let (seen, counts, _) = followed(&records, form, piece);
            assert_eq!((seen, counts), (one_by_one.0.clone(), one_by_one.1), "{form:?} in pieces of {piece}");
        }
    }
}

#[test]
fn loops_that_repeat_themselves_are_those_that_are_followed_one_by_one_in_fewer_words() {
    // Periods of 1, 2 and 12 turns, each for some hundred turns, with a turn now and then that is another.
    let turn = |turn: u32| match (turn / 700, turn % 233) {
        (_, 232) => (turn / 233, turn / 233, true),
        (0, _) => (0, 2, false),
        (1, _) => (1, 1, false),
        (2, _) => (turn, turn % 2, turn.is_multiple_of(2)),
        (3, _) => (0, 3, true),
        (_, _) => (turn / 2, turn, turn.is_multiple_of(3)),
    };
    let records = records_of(3500, turn);
    for form in FORMS {
        let (one_by_one, counts_one_by_one, many) = followed(&records, form, 1);
        for piece in [500, 3001, records.len()] {
            let (seen, counts, elements) = followed(&records, form, piece);
            assert_eq!((&seen, counts), (&one_by_one, counts_one_by_one), "{form:?} in pieces of {piece}");
            if form == (BranchForm::Steps { all: false }) {
                assert!(2 * elements < many, "{elements} words, {many} one by one, in pieces of {piece}");
            }
        }
    }
}

#[test]
fn a_recursion_of_any_depth_is_left_without_a_record() {
    const DEPTH: usize = 20_000;
    const RECURSION: [u8; 19] = [
        0x0f, 0x05, // syscall: a region begins
        0xe8, 0x02, 0x00, 0x00, 0x00, // 2: call 9
        0x0f, 0x05, // syscall: it ends
        0x85, 0xc9, // 9: test %ecx, %ecx
        0x74, 0x05, // je 18
        0xe8, 0xf7, 0xff, 0xff, 0xff, // 13: call 9
        0xc3, // 18: ret
    ];
    use SiteKind::{Conditional, Quiet, SystemCall};
    let sites = [(0, SystemCall), (7, SystemCall), (11, Conditional), (18, Quiet)];
    let mut log = mark(1, 0, 1);
    log.extend([outcome::NOT_TAKEN as u8; DEPTH]);
    log.push(outcome::TAKEN as u8);
    log.extend(mark(2, log.len(), 2));
    for piece in [MARK_BYTES + 1, log.len()] {
        let mut replay = replay_of(&RECURSION, &sites, &[]);
        replay.walk.batch = Batch::counting();
        let (first, rest) = log.split_at(piece);
        assert_eq!(replay.follow(first, &mut Taken::default()), Ok(()));
        assert_eq!(replay.follow(rest, &mut Taken::default()), Ok(()));
        let counts = replay.walk.counts();
        assert_eq!((counts.calls, counts.returns), (DEPTH as u64 + 1, DEPTH as u64 + 1));
    }
}

#[test]
fn once_a_return_has_led_elsewhere_none_without_a_record_is_followed_however_the_log_is_cut() {
    let again = || named(4, 0);
    // The first function returns into itself, and then to the loop.
    let mut records =
        vec![mark(1, 0, 1), vec![0], went(3, 15), vec![0], went(7, 15), vec![0], went(7, 11), again()];
    for _ in 0..8 {
        records.extend([vec![0], went(3, 22), again()]);
    }
    for piece in [1, records.len()] {
        let (mut replay, mut seen) = (replay_of_calls(), (BranchForm::Branches, Form::default()));
        let mut followed = records.chunks(piece).map(|piece| replay.follow(&piece.concat(), &mut seen));
        let failed = followed.find_map(Result::err).expect("who called is not known");
        assert!(failed.contains("at 0x1017 a function returns that was not called"), "{failed}");
    }
}

#[test]
fn a_record_that_is_lost_or_comes_twice_among_those_that_come_again_is_noticed() {
    let records = records_of_calls(40);
    // Without the last one the log is cut, no more.
    for at in 0..records.len() - 1 {
        let (mut less, mut more) = (records.clone(), records.clone());
        less.remove(at);
        more.insert(at, records[at].clone());
        for damaged in [less, more] {
            let mut seen = (BranchForm::Branches, Form::default());
            assert!(replay_of_calls().follow(&damaged.concat(), &mut seen).is_err(), "record {at}");
        }
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
