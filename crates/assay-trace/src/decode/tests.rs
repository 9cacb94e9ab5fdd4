//! Streams made by hand, decoded.

use super::code::BlockEnding;
use super::{SeenBlocks, ThreadStream};
use crate::{BranchForm, ClassCounts, Observer, TraceMark};
use assay_pure::predict::Steps;
use assay_pure::trace::channel::{BlockRecord, ESCAPE, StreamEvent};
use assay_pure::trace::classify::InstructionSet;
use assay_pure::trace::{Branch, BranchSite};
use std::sync::atomic::AtomicU32;

#[derive(Default)]
struct Collected {
    branches: Vec<Branch>,
    marks: Vec<(usize, TraceMark)>,
}

impl Observer for Collected {
    fn branches(&mut self, sites: &[BranchSite], branches: &[Branch]) {
        assert!(branches.iter().all(|branch| (branch.site as usize) < sites.len()));
        self.branches.extend_from_slice(branches);
    }

    fn mark(&mut self, mark: TraceMark) {
        self.marks.push((self.branches.len(), mark));
    }
}

/// Events as they were handed on, with their sites.
#[derive(Default)]
struct Events {
    branches: Vec<Branch>,
    conditionals: Vec<Branch>,
    marks: Vec<(usize, TraceMark)>,
}

impl Observer for Events {
    fn branches(&mut self, _: &[BranchSite], _: &[Branch]) {
        panic!("events were wanted");
    }

    fn steps(&mut self, steps: Steps<'_>) {
        let mut targets = steps.targets.iter();
        let of = |event: &u32| (&steps.sites[(event >> 1) as usize], event & 1 != 0);
        for (site, taken) in steps.all.iter().map(of) {
            let indirect = site.class().is_indirect();
            let target = if indirect { *targets.next().expect("one each") } else { site.target };
            self.branches.push(site.again(target, taken, 0));
        }
        assert_eq!(targets.next(), None);
        self.conditionals
            .extend(steps.conditionals.iter().map(of).map(|(site, taken)| site.again(site.target, taken, 0)));
    }

    fn mark(&mut self, mark: TraceMark) {
        self.marks.push((self.branches.len(), mark));
    }
}

/// A block of `nops` instructions of one byte and a last one.
fn block(code: &mut SeenBlocks, pc: u64, nops: usize, last: &[u8]) {
    let mut tail = [0; 15];
    tail[..last.len()].copy_from_slice(last);
    let mut lengths = vec![1; nops];
    lengths.push(last.len() as u8);
    let record = BlockRecord {
        pc,
        last: pc + nops as u64,
        bytes: (nops + last.len()) as u32,
        instructions: nops as u32 + 1,
        tail,
        tail_length: last.len() as u8,
        lengths: 0,
    };
    code.add(record, &lengths);
}

const NOP: &[u8] = &[0x90];
const RETURN: &[u8] = &[0xc3];
const SYSTEM_CALL: &[u8] = &[0x0f, 0x05];
const REP_MOVSB: &[u8] = &[0xf3, 0xa4];
/// Back by 4 bytes, itself included.
const JNZ_BACK_4: &[u8] = &[0x75, 0xfc];
const JMP_RAX: &[u8] = &[0xff, 0xe0];

fn code() -> SeenBlocks {
    SeenBlocks::new(InstructionSet::X86_64)
}

fn decode(code: &SeenBlocks, words: &[u32]) -> (ThreadStream, Collected) {
    let mut stream = ThreadStream::new(Some(BranchForm::Branches));
    let mut seen = Collected::default();
    let words: Vec<AtomicU32> = words.iter().copied().map(AtomicU32::new).collect();
    assert_eq!(stream.decode(code, &words, &mut seen), words.len());
    stream.hand_on(code, &mut seen);
    assert_events_say_the_same(code, &words, &stream, &seen);
    (stream, seen)
}

/// Decoded to events instead, to all of them or to those of conditional branches, the stream is the same.
fn assert_events_say_the_same(
    code: &SeenBlocks,
    words: &[AtomicU32],
    expected: &ThreadStream,
    seen: &Collected,
) {
    let alike: Vec<Branch> = seen.branches.iter().map(|b| b.again(b.target, b.taken(), 0)).collect();
    let conditional: Vec<Branch> = alike.iter().filter(|b| b.class().is_conditional()).copied().collect();
    for all in [true, false] {
        let mut stream = ThreadStream::new(Some(BranchForm::Steps { all }));
        let mut events = Events::default();
        assert_eq!(stream.decode(code, words, &mut events), words.len());
        stream.hand_on(code, &mut events);
        if all {
            assert_eq!((&events.branches, &events.marks), (&alike, &seen.marks));
        }
        assert_eq!(events.conditionals, conditional);
        assert_eq!(stream.executed(), expected.executed());
        assert_eq!(stream.totals(code), expected.totals(code));
        assert_eq!(stream.pending(), expected.pending());
    }
}

fn counts(stream: &ThreadStream, code: &SeenBlocks) -> ClassCounts {
    stream.totals(code).counts(true)
}

fn shape(branches: &[Branch]) -> Vec<(u64, u64, bool, u32)> {
    branches.iter().map(|b| (b.pc, b.target, b.taken(), b.instructions())).collect()
}

#[test]
fn a_conditional_branch_is_taken_when_its_target_follows() {
    let mut code = code();
    block(&mut code, 0x100, 2, JNZ_BACK_4); // 0: 0x100-0x103, to 0x100
    block(&mut code, 0x104, 1, RETURN); // 1
    let (stream, seen) = decode(&code, &[0, 0, 0, 1, 0]);
    let expected =
        [(0x102, 0x100, true, 3), (0x102, 0x100, true, 3), (0x102, 0x100, false, 3), (0x105, 0x100, true, 2)];
    assert_eq!(shape(&seen.branches), expected);
    let counts = counts(&stream, &code);
    assert_eq!((counts.instructions, counts.conditional, counts.taken, counts.returns), (14, 4, Some(2), 1));
    assert_eq!(stream.executed(), [4, 1]);
    assert_eq!(stream.pending(), Some(0));
}

#[test]
fn instructions_of_blocks_without_a_branch_are_counted_to_the_next_one() {
    let mut code = code();
    block(&mut code, 0x100, 4, NOP); // 0: falls to 0x105
    block(&mut code, 0x105, 1, SYSTEM_CALL); // 1: falls to 0x108
    block(&mut code, 0x108, 0, RETURN); // 2
    let (stream, seen) = decode(&code, &[0, 1, 2, 0]);
    assert_eq!(shape(&seen.branches), [(0x108, 0x100, true, 5 + 2 + 1)]);
    assert_eq!(counts(&stream, &code).system_calls, 1);
}

#[test]
fn a_signal_hides_the_outcome_until_it_returns() {
    let mut code = code();
    block(&mut code, 0x100, 2, JNZ_BACK_4); // 0
    block(&mut code, 0x104, 0, RETURN); // 1
    block(&mut code, 0x900, 3, RETURN); // 2: the handler
    block(&mut code, 0x950, 1, SYSTEM_CALL); // 3: sigreturn
    let words = [0, 2, 3, ESCAPE, 3, 0, 2, 3, ESCAPE, 3, 1];
    let (stream, seen) = decode(&code, &words);
    let expected =
        [(0x903, 0x950, true, 4), (0x102, 0x100, true, 3), (0x903, 0x950, true, 4), (0x102, 0x100, false, 3)];
    assert_eq!(shape(&seen.branches), expected);
    assert_eq!(counts(&stream, &code).taken, Some(1));
}

#[test]
fn blocks_that_signals_interrupted_count_before_they_are_taken_up_again_and_if_they_never_are() {
    let mut code = code();
    block(&mut code, 0x100, 2, JNZ_BACK_4); // 0
    block(&mut code, 0x900, 3, NOP); // 1: a handler that is interrupted by itself
    code.add_handlers(&[0x900]);
    let words: Vec<u32> = std::iter::once(0).chain([1; 100]).collect();
    let (stream, seen) = decode(&code, &words);
    assert!(seen.branches.is_empty());
    assert_eq!(stream.executed(), [1, 100]);
    assert_eq!(counts(&stream, &code).instructions, 3 + 100 * 4);
}

#[test]
fn an_indirect_branch_does_not_lead_to_a_known_handler() {
    let mut code = code();
    block(&mut code, 0x100, 0, JMP_RAX); // 0
    block(&mut code, 0x200, 0, RETURN); // 1
    block(&mut code, 0x900, 0, RETURN); // 2: the handler
    block(&mut code, 0x950, 1, SYSTEM_CALL); // 3: sigreturn
    code.add_handlers(&[0x900]);
    let (_, seen) = decode(&code, &[0, 2, 3, ESCAPE, 3, 1, 0]);
    let expected = [(0x900, 0x950, true, 1), (0x100, 0x200, true, 1), (0x200, 0x100, true, 1)];
    assert_eq!(shape(&seen.branches), expected);
    // Two signals at once: the second handler returns into the first.
    let (_, seen) = decode(&code, &[0, 2, 3, ESCAPE, 3, 2, 3, ESCAPE, 3, 1]);
    let expected = [(0x900, 0x950, true, 1), (0x900, 0x950, true, 1), (0x100, 0x200, true, 1)];
    assert_eq!(shape(&seen.branches), expected);
}

#[test]
fn a_block_that_is_taken_up_in_its_midst_was_cut_there() {
    let mut code = code();
    block(&mut code, 0x100, 4, JNZ_BACK_4); // 0: five instructions, target 0x102
    block(&mut code, 0x103, 1, JNZ_BACK_4); // 1: its last two, from a fault on
    block(&mut code, 0x900, 0, RETURN); // 2: the handler
    block(&mut code, 0x950, 0, SYSTEM_CALL); // 3
    block(&mut code, 0x106, 0, RETURN); // 4
    let (stream, seen) = decode(&code, &[0, 2, 3, ESCAPE, 3, 1, 4]);
    assert_eq!(shape(&seen.branches), [(0x900, 0x950, true, 1), (0x104, 0x102, false, 5)]);
    let counts = counts(&stream, &code);
    // 3 of the first block, 1 and 1 of the handler, 2, 1.
    assert_eq!((counts.instructions, counts.conditional), (8, 1));
}

#[test]
fn an_instruction_executed_singly_cuts_the_block_that_it_is_from() {
    let mut code = code();
    block(&mut code, 0x100, 2, JNZ_BACK_4); // 0: a loop to its own beginning
    block(&mut code, 0x100, 0, NOP); // 1: its first instruction alone
    block(&mut code, 0x101, 1, JNZ_BACK_4); // 2: the rest
    block(&mut code, 0x104, 0, RETURN); // 3
    let (stream, seen) = decode(&code, &[0, 1, 2, 3]);
    assert_eq!(shape(&seen.branches), [(0x102, 0x100, false, 3)]);
    assert_eq!(counts(&stream, &code).instructions, 4);
}

#[test]
fn a_repeated_string_instruction_is_counted_once_however_it_goes_on() {
    let mut code = code();
    block(&mut code, 0x100, 3, REP_MOVSB); // 0: ends with the instruction at 0x103
    block(&mut code, 0x103, 0, REP_MOVSB); // 1: the instruction alone
    block(&mut code, 0x105, 1, JNZ_BACK_4); // 2: to 0x104, nowhere
    block(&mut code, 0x108, 0, RETURN); // 3
    let (stream, seen) = decode(&code, &[0, 1, 1, 1, 2, 3]);
    assert_eq!(shape(&seen.branches), [(0x106, 0x104, false, 4 + 2)]);
    assert_eq!(counts(&stream, &code).instructions, 4 + 2 + 1);
    assert_eq!(stream.executed(), [1, 0, 1, 1]);
    // However many of its repetitions were said.
    let (once, _) = decode(&code, &[0, 1, 2, 3]);
    assert_eq!((once.totals(&code), once.executed()), (stream.totals(&code), stream.executed()));
    // Entered directly, twice, with something between.
    let (stream, _) = decode(&code, &[3, 1, 1, 1, 2, 3, 1, 1]);
    assert_eq!(counts(&stream, &code).instructions, 1 + 1 + 2 + 1 + 1);
    assert_eq!(stream.totals(&code).endings[BlockEnding::Repeat as usize], 2);
}

#[test]
fn a_call_of_the_system_that_is_restarted_is_executed_again() {
    let mut code = code();
    block(&mut code, 0x100, 1, SYSTEM_CALL); // 0: 0x101
    block(&mut code, 0x101, 0, SYSTEM_CALL); // 1
    block(&mut code, 0x103, 0, RETURN); // 2
    let (stream, seen) = decode(&code, &[0, 1, 2, 0]);
    assert_eq!(shape(&seen.branches), [(0x103, 0x100, true, 4)]);
    assert_eq!(counts(&stream, &code).system_calls, 3);
}

#[test]
fn marks_come_between_the_branches_that_they_were_said_between() {
    let mut code = code();
    block(&mut code, 0x100, 2, JNZ_BACK_4); // 0
    block(&mut code, 0x104, 0, SYSTEM_CALL); // 1
    block(&mut code, 0x106, 0, RETURN); // 2
    let begins = StreamEvent::RegionBegins { variant: 7, input: 8, pass: 9 };
    let (event, count) = begins.to_words();
    let mut words = vec![0, 1, ESCAPE];
    words.extend_from_slice(&event[..count]);
    words.extend([2, 0, 0, 1, ESCAPE, 2]);
    let (mut stream, seen) = decode(&code, &words);
    let expected =
        [(1, TraceMark::RegionBegins { variant: 7, input: 8, pass: 9 }), (4, TraceMark::RegionEnds)];
    assert_eq!(seen.marks, expected);
    let marks = stream.take_marks();
    let between = marks[1].1.since(&marks[0].1).counts(true);
    assert_eq!((between.instructions, between.conditional, between.system_calls), (1 + 3 + 3 + 1, 2, 1));
}

#[test]
fn a_block_that_is_not_known_stops_the_decoder_and_nonsense_is_counted() {
    let mut code = code();
    block(&mut code, 0x100, 0, RETURN);
    let mut stream = ThreadStream::new(Some(BranchForm::Branches));
    let words: Vec<AtomicU32> = [0, 0, 5, 0].map(AtomicU32::new).into();
    assert_eq!(stream.decode(&code, &words, &mut ()), 2);
    assert_eq!(stream.decode(&code, &words[2..], &mut ()), 0);
    stream.skip();
    assert_eq!(stream.decode(&code, &words[3..], &mut ()), 1);
    let event: Vec<AtomicU32> = [ESCAPE, 99, 0].map(AtomicU32::new).into();
    assert_eq!(stream.decode(&code, &event, &mut ()), 3);
    assert_eq!(stream.damaged, 2);
    assert_eq!(stream.executed(), [4]);
}

#[test]
fn long_streams_are_handed_on_in_order_and_whole() {
    let mut code = code();
    block(&mut code, 0x100, 2, JNZ_BACK_4); // 0
    block(&mut code, 0x104, 0, JMP_RAX); // 1
    let words: Vec<u32> = (0..100_000).map(|at| u32::from(at % 5 == 4)).collect();
    let (stream, seen) = decode(&code, &words);
    assert_eq!(seen.branches.len(), 99_999);
    let not_taken = seen.branches.iter().filter(|branch| !branch.taken()).count();
    assert_eq!((not_taken, counts(&stream, &code).conditional), (20_000, 80_000));
    assert_eq!(stream.executed(), [80_000, 20_000]);
}

#[test]
fn counts_alone_are_not_handed_on() {
    let mut code = code();
    block(&mut code, 0x100, 0, RETURN);
    let mut stream = ThreadStream::new(None);
    let mut seen = Collected::default();
    let words: Vec<AtomicU32> = [0, 0, 0, ESCAPE, 2].map(AtomicU32::new).into();
    stream.decode(&code, &words, &mut seen);
    stream.hand_on(&code, &mut seen);
    assert!(seen.branches.is_empty() && seen.marks.is_empty());
    assert_eq!(stream.take_marks().len(), 1);
    assert_eq!(counts(&stream, &code).returns, 3);
}
